/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MEMIC_DESTROY_H
#define MEMIC_DESTROY_H

#include <errno.h>

#include "private.h"

/* How often what is refused to be destroyed is tried: nobody comes back to it later. */
#define MEMIC_DESTROY_TRIES 3

/*
 * Destroy an object by a call that returns an errno of either sign. 0 if the object is
 * gone, also if it went with its device (EIO); else the errno of the last try.
 */
#define memic_destroy(call, obj) ({ \
	__typeof__(obj) obj_ = (obj); \
	int tries_ = MEMIC_DESTROY_TRIES, err_; \
	\
	do \
		err_ = memic_verbs_errno(call(obj_)); \
	while (err_ != 0 && err_ != EIO && --tries_ > 0); \
	err_ == EIO ? 0 : err_; \
})

#endif /* MEMIC_DESTROY_H */
