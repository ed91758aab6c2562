/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "private.h"

/*
 * The mapping of an allocation at the addresses that are offsets into it. libmlx5 knows
 * only where it mapped the memory, and unmaps that at the end (mlx5_free_dm() in its
 * verbs.c): what stands there then must be ours, so a placeholder stays behind.
 */

#define RESERVE (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

/* What lies in a range of addresses, for people. */
static void
tell_collision(uintptr_t lo, uintptr_t hi, char *text, size_t size)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512], path[256];
	uint64_t start, end;

	snprintf(text, size, "something is mapped there");
	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
		path[0] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %255s", &start, &end,
			   path) < 2 || end <= lo || start >= hi)
			continue;
		snprintf(text, size, "0x%" PRIx64 " to 0x%" PRIx64 " is taken by %s", start, end,
			 strstr(path, "uverbs") != NULL ? "device memory of another allocation" :
			 path[0] != '\0' ? path : "anonymous memory");
		break;
	}
	if (maps != NULL)
		fclose(maps);
}

/* Reserve addresses without pushing out what is there. */
static int
reserve(const struct memic_dm *dm, uintptr_t where, size_t len)
{
	const char *name = dm->dev->caps.name;
	char text[400];
	void *p;
	int err;

	p = mmap((void *)where, len, PROT_NONE, RESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (p == (void *)where)
		return 0;
	err = p == MAP_FAILED ? errno : EEXIST;
	/* kernels before 4.17 take the flag for a hint */
	if (p != MAP_FAILED)
		munmap(p, len);
	if (err == EEXIST) {
		tell_collision(where, where + len, text, sizeof(text));
		return memic_fail(err, "identity mapping of %zu bytes of %s at 0x%zx: EEXIST: one "
				  "device of a process can be there, and %s: use other keys, or a "
				  "position independent program", dm->size, name, (size_t)where,
				  text);
	}
	return memic_fail(err, "identity mapping of %zu bytes of %s at 0x%zx: %s%s", dm->size, name,
			  (size_t)where, memic_errno_name(err), err == EPERM || err == EACCES ?
			  ": addresses below vm.mmap_min_addr need CAP_SYS_RAWIO: run as root, or "
			  "lower it with sysctl vm.mmap_min_addr=4096" : "");
}

int
memic_dm_identity_room(const struct memic_dm *dm, size_t len)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int rc = reserve(dm, page, len);

	if (rc == 0)
		munmap((void *)page, len);
	return rc;
}

static int
check_identity(const struct memic_dm *dm, size_t page)
{
	const char *name = dm->dev->caps.name;
	size_t start = (uintptr_t)dm->addr & (page - 1);

	if (dm->type != MEMIC_DM_MEMIC)
		return memic_fail(EOPNOTSUPP, "identity mapping on %s: EOPNOTSUPP: %s memory has "
				  "no mapping", name, memic_dm_type_name(dm->type));
	if (atomic_load(&dm->keys) != 0)
		return memic_fail(EBUSY, "identity mapping on %s: EBUSY: %u key(s) over the memory "
				  "live, whose addresses would not be right any more", name,
				  atomic_load(&dm->keys));
	if (start != 0)
		return memic_fail(EINVAL, "identity mapping on %s: EINVAL: the memory starts %zu "
				  "bytes into its page: allocate with an alignment of a page, or "
				  "use klm keys", name, start);
	if (dm->size <= page)
		return memic_fail(EINVAL, "identity mapping on %s: EINVAL: %zu bytes are one page, "
				  "and the first page is lost", name, dm->size);
	return 0;
}

int
memic_dm_map_identity(struct memic_dm *dm)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), len;
	uint8_t *from;
	int rc;

	if (dm == NULL)
		return memic_fail(EINVAL, "memic_dm_map_identity: NULL argument: EINVAL");
	if (dm->lost != 0)
		return 0;
	rc = check_identity(dm, page);
	if (rc != 0)
		return rc;
	len = memic_align_up(dm->size, page) - page;
	rc = reserve(dm, page, len);
	if (rc != 0)
		return rc;
	from = (uint8_t *)dm->addr + page;
	if (mremap(from, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)page) == MAP_FAILED) {
		rc = errno;
		munmap((void *)page, len);
		return memic_fail(rc, "identity mapping of %zu bytes of %s: mremap: %s: the kernel "
				  "does not let device memory be moved", dm->size,
				  dm->dev->caps.name, memic_errno_name(rc));
	}
	/* a thread may have been faster; libmlx5 would then unmap what is its */
	dm->kept = mmap(from, len, PROT_NONE, RESERVE | MAP_FIXED_NOREPLACE, -1, 0) != from;
	dm->lost = page;
	dm->addr = (void *)page;
	dm->length -= page;
	return 0;
}
