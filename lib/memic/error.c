/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"

static _Thread_local char sentence[768] = "no call has failed in this thread";

#ifndef MEMIC_HAVE_STRERRORNAME
/* C libraries before glibc 2.32: the errnos that verbs calls are known to give. */
static const char *
strerrorname_np(int err)
{
#define NAME(e) { e, #e }
	static const struct {
		int err;
		const char *name;
	} names[] = {
		NAME(EPERM), NAME(ENOENT), NAME(EINTR), NAME(EIO), NAME(ENXIO), NAME(EBADF),
		NAME(EAGAIN), NAME(ENOMEM), NAME(EACCES), NAME(EFAULT), NAME(EBUSY),
		NAME(EEXIST), NAME(EXDEV), NAME(ENODEV), NAME(EINVAL), NAME(ENFILE),
		NAME(EMFILE), NAME(ENOTTY), NAME(ENOSPC), NAME(ERANGE), NAME(ENOSYS),
		NAME(EPROTO), NAME(EOVERFLOW), NAME(EOPNOTSUPP), NAME(EPROTONOSUPPORT),
		NAME(ETIMEDOUT), NAME(EREMOTEIO), NAME(ECANCELED),
	};
#undef NAME
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].err == err)
			return names[i].name;
	return NULL;
}
#endif

const char *
memic_last_error(void)
{
	return sentence;
}

const char *
memic_errno_name(int err)
{
	unsigned int positive = err < 0 ? 0U - (unsigned int)err : (unsigned int)err;
	const char *name;

	/* glibc names 0 "0", which in a log looks like a number that went missing */
	if (positive == 0 || positive > INT32_MAX)
		return "E?";
	name = strerrorname_np((int)positive);
	return name != NULL ? name : "E?";
}

int
memic_fail(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	return err < 0 ? err : -err;
}

int
memic_null_errno(void)
{
	/* mlx5dv_alloc_dm() has been seen to fail without setting it */
	return errno != 0 ? errno : EIO;
}

int
memic_verbs_errno(int rc)
{
	if (rc == -1)
		return memic_null_errno();
	return abs(rc);
}
