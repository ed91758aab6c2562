/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "rx_check.h"

#include <errno.h>
#include <string.h>

#include <rte_mempool.h>

#include "control.h"
#include "devices.h"
#include "log.h"
#include "own.h"
#include "pool.h"
#include "reach.h"
#include "region.h"
#include "rxq.h"

static int
refuse(const struct mpm_port *view, uint16_t port, uint16_t queue, const struct mpm_pool *p)
{
	const struct mpm_nic *nic = mpm_own(p)->region->nic;

	if (view->nic != NULL && strcmp(view->nic->name, nic->name) == 0)
		MPM_LOG(ERR, "port %u (%s) not started (EXDEV): Rx queue %u has pool %s in device "
			"memory of %s from before it was closed and opened again: free the pool "
			"and create it again", port, view->device, queue, p->mp->name, nic->name);
	else if (view->nic != NULL)
		MPM_LOG(ERR, "port %u (%s) not started (EXDEV): Rx queue %u has pool %s in device "
			"memory of %s (%s), out of reach of %s. Give each device's ports a pool of "
			"their own, as with a rule dev=%s,pools=NAME, or set siblings=1 in the "
			"rule of the pool", port, view->device, queue, p->mp->name, nic->name,
			nic->address, view->nic->name, view->device);
	else
		MPM_LOG(ERR, "port %u (%s, driver %s) not started (EXDEV): Rx queue %u has pool %s "
			"in device memory of %s (%s), which the driver is not known to reach. Give "
			"the port another pool, as with a rule pools=NAME for those of %s only",
			port, view->device, view->info.driver_name, queue, p->mp->name, nic->name,
			nic->address, nic->name);
	return -EXDEV;
}

static int
check_pool(const struct mpm_port *view, uint16_t port, uint16_t queue,
	   const struct rte_mempool *mp)
{
	/* a pool may be gone, and its queue waits to be set up again */
	const struct mpm_pool *p = mpm_pool_known(mp);

	if (p == NULL || mpm_own(p)->region == NULL || p->slots == 0 ||
	    mpm_own(p)->region->nic == view->nic ||
	    view->reach != MPM_REACH_NOT)
		return 0;
	return refuse(view, port, queue, p);
}

static int
check_queue(const struct mpm_port *view, uint16_t port, uint16_t queue)
{
	struct mpm_rxq rxq;
	unsigned int i;
	int ret = 0;

	if (mpm_rxq_get(port, queue, &rxq) != 0)
		return 0;
	for (i = 0; i < rxq.segs && ret == 0; i++)
		ret = check_pool(view, port, queue, rxq.mp[i]);
	return ret;
}

int
mpm_rx_check(uint16_t port)
{
	struct mpm_port view;
	uint16_t queue;
	int ret = 0;

	mpm_control_lock();
	if (mpm_port_look(port, &view) == 0)
		for (queue = 0; queue < view.info.nb_rx_queues && ret == 0; queue++)
			ret = check_queue(&view, port, queue);
	mpm_control_unlock();
	return ret;
}
