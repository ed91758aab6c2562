/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef TPM_COMPAT_H
#define TPM_COMPAT_H

/**
 * @file
 * All that depends on the DPDK release, in one place.
 */

#include <pthread.h>
#include <stdlib.h>

#include <rte_lcore.h>
#include <rte_version.h>

#if RTE_VERSION >= RTE_VERSION_NUM(23, 7, 0, 0)
#include <rte_thread.h>
#endif

/*
 * Ways in which testpmd makes command lines: from its terminal cmdline_stdin_new(), from
 * a file cmdline_file_new() in 22.11 and cmdline_new() in 24.11; 25.11 has all of them.
 */
#define TPM_PROMPT "testpmd> "
/** A flag that every testpmd has had. */
#define TPM_FLAG "total-num-mbufs"

#if RTE_VERSION >= RTE_VERSION_NUM(23, 7, 0, 0)
typedef rte_thread_t tpm_thread;
typedef uint32_t tpm_thread_ret;
#else
typedef pthread_t tpm_thread;
typedef void *tpm_thread_ret;
#endif

/** Start a thread on the CPUs that no lcore uses; 0 or a negative errno. */
static inline int
tpm_thread_start(tpm_thread *thread, const char *name, tpm_thread_ret (*fn)(void *arg))
{
#if RTE_VERSION >= RTE_VERSION_NUM(23, 7, 0, 0)
	return -abs(rte_thread_create_control(thread, name, fn, NULL));
#else
	return rte_ctrl_thread_create(thread, name, NULL, fn, NULL);
#endif
}

#endif /* TPM_COMPAT_H */
