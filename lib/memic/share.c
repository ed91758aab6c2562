/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "private.h"

/* glibc has it from 2.27 on. */
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* MLX5_IB_MMAP_DEVICE_MEM in the kernel's mlx5_ib.h and libmlx5's mlx5.h */
#define MMAP_DEVICE_MEM 8

/* A header, behind which the kernel reads attributes. */
union query {
	struct ib_uverbs_ioctl_hdr hdr;
	uint8_t room[sizeof(struct ib_uverbs_ioctl_hdr) + 4 * sizeof(struct ib_uverbs_attr)];
};

static void
add_attr(union query *q, uint16_t id, uint64_t data, uint16_t len)
{
	q->hdr.attrs[q->hdr.num_attrs++] = (struct ib_uverbs_attr){
		.attr_id = id,
		.len = len,
		.flags = UVERBS_ATTR_F_MANDATORY,
		.data = data,
	};
}

/*
 * Which page of the file the allocation is: libmlx5 learns it with the allocation and
 * tells nobody. MLX5_IB_METHOD_DM_QUERY is there from linux 5.13 on.
 */
static int
query_page(const struct memic_dm *dm, uint16_t *page)
{
	uint64_t start = 0, length = 0;
	union query q = { .hdr = {
		.length = sizeof(q),
		.object_id = UVERBS_OBJECT_DM,
		.method_id = MLX5_IB_METHOD_DM_QUERY,
		.driver_id = RDMA_DRIVER_MLX5,
	} };

	add_attr(&q, MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE, dm->ibdm->handle, 0);
	add_attr(&q, MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET, (uintptr_t)&start, sizeof(start));
	add_attr(&q, MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX, (uintptr_t)page, sizeof(*page));
	add_attr(&q, MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH, (uintptr_t)&length, sizeof(length));
	return ioctl(dm->dev->ctx->cmd_fd, RDMA_VERBS_IOCTL, &q) == 0 ? 0 : errno;
}

int
memic_dm_share(const struct memic_dm *dm, struct memic_dm_share *share)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	uint16_t page = 0;
	int err;

	if (dm == NULL || share == NULL)
		return memic_fail(EINVAL, "memic_dm_share: NULL argument: EINVAL");
	if (dm->type != MEMIC_DM_MEMIC)
		return memic_fail(EOPNOTSUPP, "memic_dm_share: EOPNOTSUPP: %s has no CPU mapping",
				  memic_dm_type_name(dm->type));
	/* the kernel maps an allocation whole or not at all (rdma_user_mmap_entry_get_pgoff()) */
	if (dm->lost != 0)
		return memic_fail(EOPNOTSUPP, "memic_dm_share on %s: EOPNOTSUPP: the memory is "
				  "where its offsets are, without its first page: use klm or ksm "
				  "keys",
				  dm->dev->caps.name);
	err = query_page(dm, &page);
	if (err != 0)
		return memic_fail(err, "MLX5_IB_METHOD_DM_QUERY of %zu bytes of MEMIC on %s: %s: "
				  "the kernel does not say where in the device's file the memory "
				  "is; it does from linux 5.13 on", dm->length, dm->dev->caps.name,
				  memic_errno_name(err));
	share->fd = dm->dev->ctx->cmd_fd;
	/* mlx5_vma_to_pgoff() in the kernel takes this apart */
	share->offset = (uint64_t)((page >> 8) << 16 | MMAP_DEVICE_MEM << 8 | (page & 0xff)) *
			page_size;
	share->start = (uintptr_t)dm->addr & (page_size - 1);
	share->bytes = memic_align_up(dm->size, page_size);
	return 0;
}

int
memic_map_share(const struct memic_dm_share *share, void *addr, void **map)
{
	int err;

	if (share == NULL || map == NULL)
		return memic_fail(EINVAL, "memic_map_share: NULL argument: EINVAL");
	*map = mmap(addr, share->bytes, PROT_READ | PROT_WRITE,
		    MAP_SHARED | (addr == NULL ? 0 : MAP_FIXED_NOREPLACE), share->fd,
		    (off_t)share->offset);
	err = *map == MAP_FAILED ? errno : 0;
	/* kernels before 4.17 take the flag for a hint */
	if (err == 0 && addr != NULL && *map != addr) {
		munmap(*map, share->bytes);
		err = EEXIST;
	}
	if (err == 0)
		return 0;
	*map = NULL;
	return memic_fail(err, "mmap of %zu bytes of MEMIC at %p: %s%s", share->bytes, addr,
			  memic_errno_name(err),
			  err == EEXIST ? ": something else is mapped there" : "");
}

int
memic_dm_map_at(struct memic_dm *dm, void *addr)
{
	struct memic_dm_share share;
	void *map;
	int ret;

	if (addr == NULL || ((uintptr_t)addr & ((size_t)sysconf(_SC_PAGESIZE) - 1)) != 0)
		return memic_fail(EINVAL, "memic_dm_map_at: EINVAL: %p is not the start of a page",
				  addr);
	ret = memic_dm_share(dm, &share);
	if (ret != 0)
		return ret;
	if (dm->map != NULL)
		return memic_fail(EBUSY, "memic_dm_map_at on %s: EBUSY: called before",
				  dm->dev->caps.name);
	if (atomic_load(&dm->keys) != 0)
		return memic_fail(EBUSY, "memic_dm_map_at on %s: EBUSY: keys know the memory by "
				  "its address; call it before they are made", dm->dev->caps.name);
	ret = memic_map_share(&share, addr, &map);
	if (ret != 0)
		return ret;
	dm->map = map;
	dm->addr = (uint8_t *)map + share.start;
	return 0;
}
