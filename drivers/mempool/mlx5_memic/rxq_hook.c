/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include <rte_common.h>
#include <rte_ethdev.h>

#include "control.h"
#include "hooks.h"
#include "log.h"
#include "rx_setup.h"
#include "rxq.h"

/** A queue as it was set up. */
struct note {
	unsigned int n;
	struct rte_mempool *mp[];
};

static struct note *notes[RTE_MAX_ETHPORTS][RTE_MAX_QUEUES_PER_PORT];
static unsigned int queues[RTE_MAX_ETHPORTS]; /* one more than the last with a note */

static void
drop(uint16_t port, uint16_t queue)
{
	free(notes[port][queue]);
	notes[port][queue] = NULL;
}

/* ethdev takes a pool for all segments, or segments with a pool each. */
static void
take_down(uint16_t port, uint16_t queue, const struct rte_eth_rxconf *conf,
	  struct rte_mempool *mp)
{
	unsigned int n = mp != NULL ? 1 : conf == NULL ? 0 : conf->rx_nseg;
	struct note *note;
	unsigned int i;

	n = RTE_MIN(n, MPM_RXQ_SEGS);
	note = calloc(1, sizeof(*note) + n * sizeof(note->mp[0]));
	if (note == NULL) {
		MPM_LOG(WARNING, "no memory to note the pools of port %u, Rx queue %u (ENOMEM): "
			"part of its frames may be in host memory", port, queue);
		return;
	}
	note->n = n;
	for (i = 0; i < n; i++)
		note->mp[i] = mp != NULL ? mp : conf->rx_seg[i].split.mp;
	notes[port][queue] = note;
	queues[port] = RTE_MAX(queues[port], queue + 1u);
}

int
mpm_hook_rx_queue_setup(uint16_t port, uint16_t queue, uint16_t descs, unsigned int socket,
			const struct rte_eth_rxconf *conf, struct rte_mempool *mp)
{
	struct mpm_rx_setup s = { .mp = mp, .conf = conf };
	int ret;

	ret = mpm_rx_setup_begin(port, &s);
	if (ret == 0)
		ret = rte_eth_rx_queue_setup(port, queue, descs, socket, s.conf, s.mp);
	if (ret == 0) {
		mpm_control_lock();
		drop(port, queue);
		take_down(port, queue, s.conf, s.mp);
		mpm_control_unlock();
	}
	mpm_rx_setup_end(&s);
	return ret;
}

int
mpm_rxq_get(uint16_t port, uint16_t queue, struct mpm_rxq *rxq)
{
	const struct note *note = notes[port][queue];
	struct rte_eth_rxq_info info;
	unsigned int i;

	/* those that do not answer are made of software, and keep no buffers */
	if (rte_eth_rx_queue_info_get(port, queue, &info) != 0)
		info = (struct rte_eth_rxq_info){ 0 };
	rxq->descs = info.nb_desc;
	rxq->segs = note == NULL ? 1 : note->n;
	rxq->mp[0] = info.mp;
	for (i = 0; note != NULL && i < note->n; i++)
		rxq->mp[i] = note->mp[i];
	return rxq->segs == 0 || rxq->mp[0] == NULL ? -EINVAL : 0;
}

void
mpm_rxq_count(const struct mpm_rxq *rxq, const struct rte_mempool *mp, struct mpm_rx_descs *descs)
{
	unsigned int own = 0;
	unsigned int i;

	for (i = 0; i < rxq->segs; i++)
		own += rxq->mp[i] == mp;
	if (own == 0)
		return;
	descs->own += (rxq->descs * own + rxq->segs - 1) / rxq->segs;
	descs->all += rxq->descs;
}

unsigned int
mpm_rxq_of_tx(const struct mpm_rx_descs *descs, unsigned int txd)
{
	return descs->all == 0 ? 0 : ((uint64_t)txd * descs->own + descs->all - 1) / descs->all;
}

/* Whether any segment has the pool. */
static bool
has_pool(const struct note *note, const struct rte_mempool *mp)
{
	unsigned int i;

	for (i = 0; note != NULL && i < note->n; i++)
		if (note->mp[i] == mp)
			return true;
	return false;
}

void
mpm_rxq_forget(const struct rte_mempool *mp)
{
	unsigned int port, queue;

	for (port = 0; port < RTE_DIM(queues); port++)
		for (queue = 0; queue < queues[port]; queue++)
			if (has_pool(notes[port][queue], mp))
				drop(port, queue);
}
