/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MEMPOOL_VICTIM_H
#define MEMPOOL_VICTIM_H

/** Objects whose calls test_plt_hook diverts: one bound at once, one bound lazily. */

#include <sys/types.h>

/** getppid() through the slot of a call. */
pid_t victim_now_call(void);
pid_t victim_lazy_call(void);
/** getppid() through an address in data. */
pid_t victim_now_data(void);
pid_t victim_lazy_data(void);
/** getuid(), which nothing else in the object calls. */
pid_t victim_now_uid(void);
pid_t victim_lazy_uid(void);

#endif /* MEMPOOL_VICTIM_H */
