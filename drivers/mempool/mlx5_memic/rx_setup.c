/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "rx_setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#include "siblings.h"

/* The lists are the caller's, who may want to use them again. */
static int
copy_lists(struct mpm_rx_setup *s)
{
	const struct rte_eth_rxconf *conf = s->conf;

	if (conf->rx_nseg == 0 && conf->rx_nmempool == 0)
		return 0;
	s->segs = calloc(conf->rx_nseg + 1u, sizeof(*s->segs));
	s->mps = calloc(conf->rx_nmempool + 1u, sizeof(*s->mps));
	if (s->segs == NULL || s->mps == NULL)
		return -ENOMEM;
	if (conf->rx_nseg != 0)
		memcpy(s->segs, conf->rx_seg, conf->rx_nseg * sizeof(*s->segs));
	if (conf->rx_nmempool != 0)
		memcpy(s->mps, conf->rx_mempools, conf->rx_nmempool * sizeof(*s->mps));
	s->own = *conf;
	s->own.rx_seg = s->segs;
	s->own.rx_mempools = s->mps;
	s->conf = &s->own;
	return 0;
}

int
mpm_rx_setup_begin(uint16_t port, struct mpm_rx_setup *s)
{
	unsigned int i;
	int ret;

	ret = mpm_sibling_pick(port, &s->mp);
	if (ret == 0 && s->conf != NULL)
		ret = copy_lists(s);
	for (i = 0; i < s->own.rx_nseg && ret == 0; i++)
		ret = mpm_sibling_pick(port, &s->segs[i].split.mp);
	for (i = 0; i < s->own.rx_nmempool && ret == 0; i++)
		ret = mpm_sibling_pick(port, &s->mps[i]);
	return ret;
}

void
mpm_rx_setup_end(struct mpm_rx_setup *s)
{
	free(s->segs);
	free(s->mps);
}
