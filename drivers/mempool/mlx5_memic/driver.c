/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_version.h>

#include "config.h"
#include "control.h"
#include "hooks.h"
#include "log.h"
#include "ops.h"
#include "pin.h"
#include "pool.h"
#include "process.h"
#include "region.h"
#include "telemetry.h"
#include "vdev.h"

int mpm_logtype;

static pthread_mutex_t control = PTHREAD_MUTEX_INITIALIZER;
static pid_t owner;

void
mpm_control_lock(void)
{
	pthread_mutex_lock(&control);
}

void
mpm_control_unlock(void)
{
	pthread_mutex_unlock(&control);
}

/*
 * The layouts in mempool and vdev structures that the driver was compiled with hold
 * for one release, and the loader's check of shared object versions lets two releases
 * of one ABI pass.
 */
static bool
release_matches(void)
{
	if (rte_version_year() == RTE_VER_YEAR && rte_version_month() == RTE_VER_MONTH)
		return true;
	MPM_LOG(ERR, "built for DPDK %d.%02d but loaded into DPDK %u.%02u: the driver stays off; "
		"build it against the DPDK that the application uses",
		RTE_VER_YEAR, RTE_VER_MONTH, rte_version_year(), rte_version_month());
	return false;
}

/*
 * For applications that never free their pools. Runs before any destructor of the
 * libraries underneath. EAL may have been cleaned up by now, so no call goes there. A
 * child of fork() must leave its parent's objects alone.
 */
static void
at_exit(void)
{
	if (getpid() != owner)
		return;
	/* exit() may have been called by a thread that holds the lock */
	if (pthread_mutex_trylock(&control) != 0)
		return;
	mpm_pool_exit();
	mpm_region_exit();
	pthread_mutex_unlock(&control);
}

RTE_INIT(mpm_driver_init)
{
	mpm_logtype = rte_log_register_type_and_pick_level("mempool.mlx5_memic", RTE_LOG_NOTICE);
	if (mpm_logtype < 0)
		mpm_logtype = RTE_LOGTYPE_EAL;
	if (!release_matches())
		return;
	owner = getpid();
	mpm_config_init();
	if (mpm_ops_register() != 0)
		return;
	mpm_pin_callbacks();
	mpm_vdev_init();
	mpm_process_init();
	mpm_telemetry_init();
	mpm_hooks_install();
	if (atexit(at_exit) != 0)
		MPM_LOG(WARNING, "atexit: no room for a handler; free all pools before exit");
}
