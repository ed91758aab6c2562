/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probe.h"

/* Memory regions over device memory, and what the kernel says when order is not kept. */

#define NEEDED_ACCESS (IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE | \
		       IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)

struct stage {
	struct probe *p;
	struct ibv_pd *pd;
	struct memic_dm *dm;
};

/* The errno of a registration; a region that came out is given back. */
static int
try_mr(const struct stage *s, uint64_t off, size_t len, unsigned int access)
{
	struct ibv_mr *mr;

	errno = 0;
	mr = ibv_reg_dm_mr(s->pd, s->dm->ibdm, off, len, access);
	if (mr == NULL)
		return memic_null_errno();
	return probe_destroy(s->p, "a memory region", ibv_dereg_mr, mr);
}

static const char *
said(int err)
{
	return err == 0 ? "no error" : memic_errno_name(err);
}

static void
tell_access(const struct stage *s)
{
	static const char question[] = "can it be registered for queues to read and write";
	int plain = try_mr(s, 0, s->dm->size, NEEDED_ACCESS);
	int relaxed = try_mr(s, 0, s->dm->size, NEEDED_ACCESS | IBV_ACCESS_RELAXED_ORDERING);
	int atomic = try_mr(s, 0, s->dm->size, NEEDED_ACCESS | IBV_ACCESS_REMOTE_ATOMIC);
	int based = try_mr(s, 0, s->dm->size, NEEDED_ACCESS & ~IBV_ACCESS_ZERO_BASED);

	probe_tell(s->p, "mr", question, true, plain == 0 ? MEMIC_YES : MEMIC_NO,
		   "zero-based, local and remote access: %s; with remote atomics: %s", said(plain),
		   said(atomic));
	probe_tell(s->p, "mr-relaxed-ordering", "may regions over it ask for relaxed ordering",
		   false, relaxed == 0 ? MEMIC_YES : MEMIC_NO, "%s%s", said(relaxed),
		   relaxed == 0 ? "" : "; the driver goes without");
	probe_tell(s->p, "mr-zero-based", "are regions over it refused that are not zero-based",
		   false, based == EINVAL ? MEMIC_YES : MEMIC_NO, "%s", said(based));
}

static void
tell_range(const struct stage *s)
{
	static const char question[] = "are parts of it registered, and what is outside not";
	size_t size = s->dm->size;
	int part = try_mr(s, size - MEMIC_UNIT, MEMIC_UNIT, NEEDED_ACCESS);
	int odd = try_mr(s, 0, size - 1, NEEDED_ACCESS);
	int past = try_mr(s, 0, size + MEMIC_UNIT, NEEDED_ACCESS);
	int behind = try_mr(s, size, MEMIC_UNIT, NEEDED_ACCESS);

	probe_tell(s->p, "mr-range", question, false,
		   part == 0 && past != 0 && behind != 0 ? MEMIC_YES : MEMIC_NO,
		   "the last 64 bytes: %s; a length that is no multiple of 64: %s; past the end: "
		   "%s; behind it: %s", said(part), said(odd), said(past), said(behind));
}

static void
tell_busy(struct stage *s)
{
	static const char question[] = "is what is in use refused to be freed";
	struct ibv_mr *mr;
	int free_dm, pd;

	errno = 0;
	mr = ibv_reg_dm_mr(s->pd, s->dm->ibdm, 0, s->dm->size, NEEDED_ACCESS);
	if (mr == NULL) {
		probe_tell(s->p, "busy", question, true, MEMIC_UNKNOWN, "ibv_reg_dm_mr: %s",
			   memic_errno_name(memic_null_errno()));
		return;
	}
	free_dm = memic_verbs_errno(ibv_free_dm(s->dm->ibdm));
	/* a PD that goes would take the MR's handle with it, so only after the first */
	pd = free_dm == EBUSY ? memic_verbs_errno(ibv_dealloc_pd(s->pd)) : EBUSY;
	probe_tell(s->p, "busy", question, true,
		   free_dm == EBUSY && pd == EBUSY ? MEMIC_YES : MEMIC_NO,
		   "memory under a region: %s; a protection domain with a region: %s",
		   said(free_dm), free_dm == EBUSY ? said(pd) : "not tried");
	probe_destroy(s->p, "a memory region", ibv_dereg_mr, mr);
	/* what went against all expectation must not be freed again */
	if (free_dm == 0) {
		atomic_fetch_sub(&s->p->dev->dms, 1);
		free(s->dm);
		s->dm = NULL;
	}
	if (pd == 0)
		s->pd = NULL;
}

void
probe_objects(struct probe *p)
{
	struct stage s = { .p = p };

	s.pd = ibv_alloc_pd(p->dev->ctx);
	if (s.pd == NULL ||
	    memic_dm_alloc(p->dev, MEMIC_DM_MEMIC, p->largest < 4096 ? p->largest : 4096, 0,
			   &s.dm) != 0) {
		probe_tell(p, "mr", "can it be registered for queues to read and write", true,
			   MEMIC_NO, "%s", s.pd == NULL ? "ibv_alloc_pd failed" :
			   memic_last_error());
		goto err_dealloc_pd;
	}
	tell_access(&s);
	tell_range(&s);
	tell_busy(&s);
	probe_destroy(p, "device memory", memic_dm_free, s.dm);
err_dealloc_pd:
	if (s.pd != NULL)
		probe_destroy(p, "a protection domain", ibv_dealloc_pd, s.pd);
}

/* ---- the mapping at another address ---- */

/* As memic_dm_map_identity() does it, but to addresses of the kernel's choice. */
static bool
move_and_read(struct memic_dm *dm, size_t page, const char **why)
{
	uint8_t *from = (uint8_t *)dm->addr + page, *to;
	uint8_t wrote[64], read[64];

	memset(wrote, 0xa5, sizeof(wrote));
	memic_copy_to(from, wrote, sizeof(wrote));
	to = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (to == MAP_FAILED) {
		*why = "no addresses left";
		return false;
	}
	if (mremap(from, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED) {
		*why = memic_errno_name(errno);
		munmap(to, page);
		return false;
	}
	memic_copy_from(read, to, sizeof(read));
	/* libmlx5 unmaps what is at home: move it back */
	if (mremap(to, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, from) == MAP_FAILED) {
		*why = "it went, but did not come back";
		return false;
	}
	*why = "a page of it was moved and showed the same bytes";
	if (memcmp(wrote, read, sizeof(read)) != 0) {
		*why = "other bytes show after the move";
		return false;
	}
	return true;
}

void
probe_identity(struct probe *p)
{
	static const char question[] = "can the mapping be moved, as mkey=direct needs it";
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct memic_dm *dm;
	const char *why;

	if (p->largest < 2 * page) {
		probe_tell(p, "identity", question, false, MEMIC_NO, "%zu bytes are less than two "
			   "pages, and the first one is lost", p->largest);
		return;
	}
	if (memic_dm_alloc_most(p->dev, 2 * page, 2 * page, &dm) != 0) {
		probe_tell(p, "identity", question, false, MEMIC_UNKNOWN, "%s",
			   memic_last_error());
		return;
	}
	if ((uintptr_t)dm->addr % page != 0)
		probe_tell(p, "identity", question, false, MEMIC_NO,
			   "the memory starts inside its page, so addresses cannot be offsets");
	else if (!move_and_read(dm, page, &why))
		probe_tell(p, "identity", question, false, MEMIC_NO, "%s", why);
	else if (memic_dm_identity_room(dm, page) != 0)
		probe_tell(p, "identity", question, false, MEMIC_NO, "%s, but: %s", why,
			   memic_last_error());
	else
		probe_tell(p, "identity", question, false, MEMIC_YES, "%s", why);
	probe_destroy(p, "device memory", memic_dm_free, dm);
}
