/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <stddef.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_ether.h>

#include <memic.h>

#include "driver.h"
#include "frame.h"

#define FRAME_MAX 1500u
/** Local Experimental EtherType 1, IEEE Std 802. */
#define TYPE 0x88b5
#define MAGIC 0x4d454d494342454eull

/* Padded by hand, so that it has no holes and its words are aligned in the data room. */
struct frame {
	struct rte_ether_hdr eth;
	uint16_t pad;
	uint64_t magic;
	uint64_t tsc;
};

/* By stores and loads that device memory takes. */
static void
frame_write(struct rte_mbuf *m, size_t offset, const void *from, size_t len)
{
	void *to = rte_pktmbuf_mtod_offset(m, void *, offset);

	if (tpm_driver()->mbuf_on_device(m))
		memic_copy_to(to, from, len);
	else
		memcpy(to, from, len);
}

static void
frame_read(const struct rte_mbuf *m, void *to, size_t offset, size_t len)
{
	const void *from = rte_pktmbuf_mtod_offset(m, const void *, offset);

	if (tpm_driver()->mbuf_on_device(m))
		memic_copy_from(to, from, len);
	else
		memcpy(to, from, len);
}

struct rte_mbuf *
fwd_frame_make(struct rte_mempool *mp, uint16_t port)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(mp);
	struct frame f = { .eth.ether_type = rte_cpu_to_be_16(TYPE), .magic = MAGIC };
	uint8_t bytes[FRAME_MAX] = { 0 };
	unsigned int len;

	if (m == NULL)
		return NULL;
	len = RTE_MIN((unsigned int)rte_pktmbuf_tailroom(m), FRAME_MAX);
	if (len < sizeof(f) || rte_eth_macaddr_get(port, &f.eth.src_addr) != 0) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	f.eth.dst_addr = f.eth.src_addr;
	memcpy(bytes, &f, sizeof(f));
	frame_write(m, 0, bytes, len);
	m->data_len = len;
	m->pkt_len = len;
	return m;
}

void
fwd_frame_stamp(struct rte_mbuf *m)
{
	uint64_t now = rte_rdtsc_precise();

	frame_write(m, offsetof(struct frame, tsc), &now, sizeof(now));
}

bool
fwd_frame_time(const struct rte_mbuf *m, uint64_t *tsc)
{
	struct frame f;

	if (m->data_len < sizeof(f))
		return false;
	frame_read(m, &f, 0, sizeof(f));
	*tsc = f.tsc;
	return f.magic == MAGIC;
}
