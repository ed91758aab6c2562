/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <unistd.h>

#include "victim.h"

#define NAME3(prefix, what) prefix ## what
#define NAME2(prefix, what) NAME3(prefix, what)
#define NAME(what) NAME2(VICTIM, what)

extern pid_t (*const NAME(_table)[])(void);
pid_t (*const NAME(_table)[])(void) = { getppid };

pid_t
NAME(_call)(void)
{
	return getppid();
}

pid_t
NAME(_data)(void)
{
	/* read at run time, whatever the compiler knows of the table */
	return (*(pid_t (*const volatile *)(void))&NAME(_table)[0])();
}

pid_t
NAME(_uid)(void)
{
	return (pid_t)getuid();
}
