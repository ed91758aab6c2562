/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_string_fns.h>

#include <memic.h>

#include "devices.h"
#include "log.h"
#include "mr_hook.h"
#include "region.h"
#include "way.h"

/* All ports of a device share its keys, and each device has a first one. */
#define PORT 1

static enum memic_mkey_mode
mode_of(enum mpm_mkey mkey)
{
	return mkey == MPM_MKEY_KSM ? MEMIC_MKEY_KSM :
	       mkey == MPM_MKEY_DIRECT ? MEMIC_MKEY_DIRECT : MEMIC_MKEY_KLM;
}

size_t
mpm_way_lost(enum mpm_mkey mkey)
{
	return mkey == MPM_MKEY_DIRECT ? (size_t)sysconf(_SC_PAGESIZE) : 0;
}

size_t
mpm_way_lost_of(const struct mpm_region *r)
{
	return mpm_way_lost(r->mode == MEMIC_MKEY_DIRECT ? MPM_MKEY_DIRECT : MPM_MKEY_AUTO);
}

/* Whether the mapping is where addresses are offsets. */
static bool
is_identity(const struct mpm_region *r)
{
	return (uintptr_t)memic_dm_addr(r->dm) == mpm_way_lost(MPM_MKEY_DIRECT);
}

/* What may be otherwise in a moment; the rest says what the card or kernel can do. */
static bool
transient(int ret)
{
	switch (-ret) {
	case EAGAIN:
	case EBUSY:
	case EINTR:
	case ENOMEM:
	case ENOSPC:
	case ETIMEDOUT:
		return true;
	default:
		return false;
	}
}

/* Whether frames pass through keys of a kind; asked of the device once. */
static enum memic_answer
answer_of(struct mpm_region *r, enum memic_mkey_mode mode, char *why, size_t why_len)
{
	struct mpm_nic_way *way = &r->nic->ways[mode];
	struct memic_check check;
	int ret;

	if (!way->known) {
		ret = memic_probe_mkey(r->dm, mode, PORT, false, &check);
		if (transient(ret)) {
			MPM_LOG(INFO, "%s: trying once more for a %s key: %s", r->nic->name,
				memic_mkey_mode_name(mode), memic_last_error());
			ret = memic_probe_mkey(r->dm, mode, PORT, false, &check);
		}
		if (ret != 0) {
			snprintf(why, why_len, "%s", memic_last_error());
			return MEMIC_UNKNOWN;
		}
		way->answer = check.answer;
		way->known = true;
		strlcpy(way->reason, check.reason, sizeof(way->reason));
		MPM_LOG(INFO, "%s (%s): %s %s key over its device memory: %s", r->nic->name,
			r->nic->address, check.answer == MEMIC_YES ? "frames pass through a" :
			check.answer == MEMIC_NO ? "no" : "perhaps a",
			memic_mkey_mode_name(mode), check.reason);
	}
	snprintf(why, why_len, "%s", way->reason);
	return way->answer;
}

static int
make(struct mpm_region *r, enum memic_mkey_mode kind, char *why, size_t why_len)
{
	struct ibv_pd *pd = LIST_FIRST(&r->nic->pds)->pd;
	const char *mode = memic_mkey_mode_name(kind);
	int ret;

	r->mode = kind;
	ret = mpm_keys_make(r, pd);
	if (transient(ret)) {
		MPM_LOG(INFO, "%s: trying once more for a %s key: %s", r->nic->name, mode,
			memic_last_error());
		ret = mpm_keys_make(r, pd);
	}
	if (ret == 0)
		r->settled = true;
	else
		snprintf(why, why_len, "no %s key over its device memory: %s", mode,
			 memic_last_error());
	return ret;
}

/* mkey=auto goes on with another mode; one that would have worked is worth a warning. */
static void
tell_next_mode(const struct mpm_region *r, int ret, enum memic_mkey_mode next, const char *why)
{
	const char *mode = memic_mkey_mode_name(r->mode);

	if (ret == -EREMOTEIO || ret == -EOPNOTSUPP || ret == -EINVAL)
		MPM_LOG(NOTICE, "%s takes no %s keys, trying %s: %s", r->nic->name, mode,
			memic_mkey_mode_name(next), why);
	else
		MPM_LOG(WARNING, "%s: %s. That does not say that %s keys are refused here: trying "
			"%s now; to have %s, free the pools and create them again with mkey=%s "
			"once the cause is gone", r->nic->name, why, mode,
			memic_mkey_mode_name(next), mode, mode);
}

/*
 * The first kind that frames pass through. Where it cannot be found out for one it cannot
 * for any: then the first kind that can be made and that has not failed.
 */
static int
settle_auto(struct mpm_region *r, char *why, size_t why_len)
{
	static const enum memic_mkey_mode modes[] = { MEMIC_MKEY_KLM, MEMIC_MKEY_KSM };
	char reason[sizeof(r->nic->ways[0].reason)];
	enum memic_answer answer;
	int ret = -EOPNOTSUPP;
	unsigned int i;

	for (i = 0; i < RTE_DIM(modes); i++) {
		answer = answer_of(r, modes[i], reason, sizeof(reason));
		r->mode = modes[i];
		ret = -EOPNOTSUPP;
		if (answer == MEMIC_NO)
			snprintf(why, why_len, "no %s key over its device memory: %s",
				 memic_mkey_mode_name(modes[i]), reason);
		else
			ret = make(r, modes[i], why, why_len);
		if (ret != 0 && i + 1 < RTE_DIM(modes))
			tell_next_mode(r, ret, modes[i + 1], why);
		if (ret == 0 && answer == MEMIC_UNKNOWN)
			MPM_LOG(WARNING, "%s (%s): takes %s keys, as they can be made, but whether "
				"frames pass through them could not be found out: %s", r->nic->name,
				r->nic->address, memic_mkey_mode_name(modes[i]), reason);
		if (ret == 0)
			break;
	}
	return ret;
}

/* Who names a kind gets it: a probe that errs must not stand in the way. */
static int
settle_named(struct mpm_region *r, enum mpm_mkey mkey, char *why, size_t why_len)
{
	enum memic_mkey_mode mode = mode_of(mkey);
	char reason[sizeof(r->nic->ways[0].reason)];
	int ret;

	/* where the mapping has moved that was asked before: mpm_way_prepare() */
	if (mkey != MPM_MKEY_DIRECT)
		answer_of(r, mode, reason, sizeof(reason));
	ret = make(r, mode, why, why_len);
	if (ret == 0 && r->nic->ways[mode].known && r->nic->ways[mode].answer == MEMIC_NO)
		MPM_LOG(ERR, "%s (%s): no frame will pass through %s keys, which mkey=%s asks for: "
			"%s; leave mkey= out", r->nic->name, r->nic->address,
			memic_mkey_mode_name(mode), mpm_mkey_name(mkey), r->nic->ways[mode].reason);
	return ret;
}

int
mpm_way_prepare(struct mpm_region *r, enum mpm_mkey mkey, char *why, size_t why_len)
{
	char reason[sizeof(r->nic->ways[0].reason)];
	int ret;

	if (mkey != MPM_MKEY_DIRECT)
		return 0;
	answer_of(r, MEMIC_MKEY_DIRECT, reason, sizeof(reason));
	ret = memic_dm_map_identity(r->dm);
	if (ret != 0) {
		snprintf(why, why_len, "%s", memic_last_error());
		return ret;
	}
	MPM_LOG(NOTICE, "%s (%s): its device memory is at the addresses %p to %p, where a pointer "
		"that is NULL plus something reaches it unnoticed", r->nic->name, r->nic->address,
		memic_dm_addr(r->dm),
		(void *)((uint8_t *)memic_dm_addr(r->dm) + memic_dm_length(r->dm)));
	return 0;
}

int
mpm_way_settle(struct mpm_region *r, enum mpm_mkey mkey, char *why, size_t why_len)
{
	if (r->settled)
		return make(r, r->mode, why, why_len);
	/* one that a failure left behind */
	if (is_identity(r) != (mkey == MPM_MKEY_DIRECT)) {
		snprintf(why, why_len, "device memory that a failed pool has left is not mapped as "
			 "mkey=%s needs it (EBUSY): create that pool first", mpm_mkey_name(mkey));
		return MPM_OTHER_MKEY;
	}
	return mkey == MPM_MKEY_AUTO ? settle_auto(r, why, why_len) :
	       settle_named(r, mkey, why, why_len);
}
