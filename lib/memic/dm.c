/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compat.h"
#include "destroy.h"
#include "private.h"

static const struct {
	const char *name;
	enum mlx5dv_alloc_dm_type dv;
	const char *not_packets; /* why packets cannot live there; NULL: they can */
} types[MEMIC_DM_TYPES] = {
	[MEMIC_DM_MEMIC] = { "MEMIC", MLX5DV_DM_TYPE_MEMIC, NULL },
	[MEMIC_DM_STEERING_SW_ICM] = {
		"STEERING_SW_ICM", MLX5DV_DM_TYPE_STEERING_SW_ICM,
		"STEERING_SW_ICM holds packet steering tables and rules, which the steering "
		"pipeline walks; no CPU mapping exists and queues cannot address it" },
	[MEMIC_DM_HEADER_MODIFY_SW_ICM] = {
		"HEADER_MODIFY_SW_ICM", MLX5DV_DM_TYPE_HEADER_MODIFY_SW_ICM,
		"HEADER_MODIFY_SW_ICM holds lists of header modification actions for steering "
		"rules; no CPU mapping exists and queues cannot address it" },
	[MEMIC_DM_HEADER_MODIFY_PATTERN_SW_ICM] = {
		"HEADER_MODIFY_PATTERN_SW_ICM", MLX5DV_DM_TYPE_HEADER_MODIFY_PATTERN_SW_ICM,
		"HEADER_MODIFY_PATTERN_SW_ICM holds templates of header modification actions; "
		"no CPU mapping exists and queues cannot address it" },
	[MEMIC_DM_ENCAP_SW_ICM] = {
		"ENCAP_SW_ICM", MEMIC_DV_DM_TYPE_ENCAP,
		"ENCAP_SW_ICM holds headers that steering rules put before packets, not "
		"packets; no CPU mapping exists and queues cannot address it" },
};

static bool
type_valid(enum memic_dm_type type)
{
	return (unsigned int)type < MEMIC_DM_TYPES;
}

const char *
memic_dm_type_name(enum memic_dm_type type)
{
	return type_valid(type) ? types[type].name : "unknown";
}

bool
memic_dm_type_is_packet_memory(enum memic_dm_type type, const char **why)
{
	const char *reason = type_valid(type) ? types[type].not_packets :
			     "there is no such type of device memory";

	if (reason == NULL)
		return true;
	if (why != NULL)
		*why = reason;
	return false;
}

static size_t
page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Bytes that libmlx5 mapped: whole pages, counted from the length alone. */
static size_t
mapped_bytes(const struct memic_dm *dm)
{
	return memic_align_up(dm->size, page_size());
}

/*
 * Learn where libmlx5 mapped the allocation. It starts inside its first page where the
 * kernel gave a start offset, and libmlx5 sizes the mapping without that offset: refuse
 * an allocation whose tail would lie in the page behind the mapping.
 */
static int
dm_map(struct memic_dm *dm)
{
	struct mlx5dv_dm view = { 0 };
	struct mlx5dv_obj obj = { .dm = { .in = dm->ibdm, .out = &view } };
	size_t start;
	int err;

	err = memic_verbs_errno(mlx5dv_init_obj(&obj, MLX5DV_OBJ_DM));
	if (err != 0)
		return err;
	if (view.buf == NULL)
		return EIO;
	dm->addr = view.buf;
	dm->view = view.buf;
	start = (uintptr_t)view.buf & (page_size() - 1);
	return start + dm->size <= mapped_bytes(dm) ? 0 : EFAULT;
}

/*
 * Allocate without a word about failure, as the caller may have another size to try: 0 or an
 * errno.
 */
static int
dm_try(struct memic_device *dev, enum memic_dm_type type, size_t length, unsigned int log_align,
       struct memic_dm **out)
{
	struct mlx5dv_alloc_dm_attr dv_attr = { .type = types[type].dv };
	struct ibv_alloc_dm_attr attr = { .length = length, .log_align_req = log_align };
	struct memic_dm *dm;
	int err;

	dm = calloc(1, sizeof(*dm));
	if (dm == NULL)
		return ENOMEM;
	/* The kernel rounds up as well, but bounds memory regions by what was asked for,
	 * and some firmware refuses regions that are no multiple of the unit.
	 */
	if (type == MEMIC_DM_MEMIC && length <= dev->caps.max_dm_size &&
	    memic_align_up(length, MEMIC_UNIT) <= dev->caps.max_dm_size)
		attr.length = memic_align_up(length, MEMIC_UNIT);
	dm->dev = dev;
	dm->type = type;
	dm->length = length;
	dm->size = attr.length;

	errno = 0;
	dm->ibdm = mlx5dv_alloc_dm(dev->ctx, &attr, &dv_attr);
	if (dm->ibdm == NULL) {
		err = memic_null_errno();
		goto err_free_state;
	}
	if (type == MEMIC_DM_MEMIC) {
		err = dm_map(dm);
		if (err != 0)
			goto err_free_dm;
	}
	atomic_fetch_add(&dev->dms, 1);
	*out = dm;
	return 0;

err_free_dm:
	memic_destroy(ibv_free_dm, dm->ibdm);
err_free_state:
	free(dm);
	return err;
}

/* Give an allocation back; EIO means that device and memory are gone already. */
static int
dm_release(struct memic_dm *dm)
{
	int err = memic_verbs_errno(ibv_free_dm(dm->ibdm));

	if (err != 0 && err != EIO)
		return err;
	/* libmlx5 unmaps only after a free that the kernel confirmed */
	if (err == EIO && dm->view != NULL)
		munmap((void *)((uintptr_t)dm->view & ~(uintptr_t)(page_size() - 1)),
		       mapped_bytes(dm));
	if (dm->map != NULL)
		munmap(dm->map, mapped_bytes(dm));
	if (dm->lost != 0)
		munmap(dm->addr, mapped_bytes(dm) - dm->lost);
	atomic_fetch_sub(&dm->dev->dms, 1);
	free(dm);
	return 0;
}

static const char no_memic[] =
	"the device has no MEMIC (max_dm_size 0), as many VFs and firmware set with "
	"MEMIC_SIZE_LIMIT=0: use the PF, or raise MEMIC_SIZE_LIMIT with mlxconfig and reset "
	"the device";

static const char *
explain_einval(const struct memic_caps *caps, enum memic_dm_type type, size_t length,
	       unsigned int log_align)
{
	if (length == 0)
		return "the length is 0; ask for 1 byte at least";
	if (type != MEMIC_DM_MEMIC)
		return "SW_ICM comes in blocks of a power of two: ask for one that is not larger "
		       "than the device's area for this type";
	if (caps->max_dm_size == 0)
		return no_memic;
	if (length > caps->max_dm_size)
		return "that is more than max_dm_size: ask for less, or for what there is with "
		       "memic_dm_alloc_most()";
	if (log_align > caps->log_max_align)
		return "the device cannot align so far: ask for an alignment within log_max_align, "
		       "or for 0 and align inside the allocation";
	return "kernel or firmware refused the arguments; see dmesg for firmware's syndrome";
}

static const char *
explain_unsupported(const struct memic_caps *caps, enum memic_dm_type type)
{
	if (type == MEMIC_DM_MEMIC && caps->max_dm_size == 0)
		return no_memic;
	if (type == MEMIC_DM_MEMIC)
		return "kernel or firmware do not offer MEMIC on this device: update mlx5_core and "
		       "firmware, or use the PF";
	if (type == MEMIC_DM_ENCAP_SW_ICM)
		return "ENCAP_SW_ICM needs rdma-core 50, a kernel that knows the type (6.8) and "
		       "firmware with software-owned steering (sw_owner_v2)";
	return "the device's steering is not software-owned (sw_owner, sw_owner_v2), or rdma-core "
	       "or the kernel is older than the type: update them and firmware";
}

static const char *
explain(const struct memic_caps *caps, enum memic_dm_type type, size_t length,
	unsigned int log_align, int err)
{
	switch (err) {
	case EINVAL:
		return explain_einval(caps, type, length, log_align);
	case EOPNOTSUPP:
		return explain_unsupported(caps, type);
	case ENOMEM:
		return "no free piece of that size is left; max_dm_size is a capability, and other "
		       "processes and firmware hold part of it: ask for less, or end who holds it";
	case EPERM:
		return "SW_ICM needs CAP_SYS_RAWIO and CAP_NET_RAW: run as root, or give the "
		       "program both with setcap cap_sys_rawio,cap_net_raw+ep";
	case EFAULT:
		return "the memory starts inside its page and its end is not mapped: ask for an "
		       "alignment of a page";
	case EREMOTEIO:
		return "firmware refused; see dmesg for status and syndrome, and try a smaller "
		       "size or newer firmware";
	case EIO:
		return "the device was removed or is in an error state; see dmesg";
	default:
		return "see dmesg for the reason";
	}
}

static int
fail_alloc(const struct memic_device *dev, enum memic_dm_type type, size_t length,
	   unsigned int log_align, int err)
{
	const struct memic_caps *caps = &dev->caps;

	return memic_fail(err, "mlx5dv_alloc_dm of %zu bytes of %s, aligned to 2^%u, on %s (%s, "
			  "max_dm_size %llu, log_max_align %u): %s: %s", length, types[type].name,
			  log_align, caps->name, caps->address,
			  (unsigned long long)caps->max_dm_size, caps->log_max_align,
			  memic_errno_name(err), explain(caps, type, length, log_align, err));
}

int
memic_dm_alloc(struct memic_device *dev, enum memic_dm_type type, size_t length,
	       unsigned int log_align, struct memic_dm **dm)
{
	int err;

	if (dev == NULL || dm == NULL)
		return memic_fail(EINVAL, "memic_dm_alloc: NULL argument: EINVAL");
	if (!type_valid(type))
		return memic_fail(EOPNOTSUPP, "memic_dm_alloc on %s: EOPNOTSUPP: there is no type "
				  "%u of device memory", dev->caps.name, (unsigned int)type);
	err = dm_try(dev, type, length, log_align, dm);
	return err == 0 ? 0 : fail_alloc(dev, type, length, log_align, err);
}

/* Whether a smaller request might do better. */
static bool
is_shortage(int err)
{
	return err == ENOMEM || err == EAGAIN || err == EREMOTEIO;
}

/*
 * Find the largest size from least to top that the device gives, by halving the range
 * between a size that fits and one that does not, in whole pages as the kernel takes
 * whole pages of the BAR. Nobody can ask a device how much is free.
 */
static int
dm_search(struct memic_device *dev, size_t least, size_t top, unsigned int log_align,
	  struct memic_dm **out)
{
	size_t page = page_size(), fits = least, fails = top, mid;
	bool tried = false; /* whether fits has been seen to fit */
	struct memic_dm *dm;
	int err;

	err = dm_try(dev, MEMIC_DM_MEMIC, top, log_align, &dm);
	while (is_shortage(err) && fits < fails) {
		mid = (fits + (fails - fits) / 2) / page * page;
		if (mid <= fits)
			mid = (fits / page + 1) * page;
		if (mid >= fails) {
			err = dm_try(dev, MEMIC_DM_MEMIC, fits, log_align, &dm);
			if (!is_shortage(err) || !tried)
				break;
			/* somebody took it since: search again below */
			fails = fits;
			fits = least;
			tried = false;
			continue;
		}
		err = dm_try(dev, MEMIC_DM_MEMIC, mid, log_align, &dm);
		if (is_shortage(err)) {
			fails = mid;
		} else if (err == 0 && mid + page < fails && dm_release(dm) == 0) {
			fits = mid;
			tried = true;
			err = ENOMEM;
		}
	}
	if (err == 0)
		*out = dm;
	return err;
}

int
memic_dm_alloc_most(struct memic_device *dev, size_t want, size_t least,
		    struct memic_dm **dm)
{
	unsigned int log_page = (unsigned int)__builtin_ctzl(page_size());
	size_t top = want;
	int err = EINVAL;

	if (dev == NULL || dm == NULL)
		return memic_fail(EINVAL, "memic_dm_alloc_most: NULL argument: EINVAL");
	if (least == 0 || want < least)
		return memic_fail(EINVAL, "memic_dm_alloc_most on %s: EINVAL: %zu bytes wished "
				  "for, %zu at least: wish for as many as are needed, at least "
				  "for 1", dev->caps.name, want, least);
	if (dev->caps.max_dm_size == 0)
		return fail_alloc(dev, MEMIC_DM_MEMIC, want, 0, EOPNOTSUPP);
	if (least > dev->caps.max_dm_size)
		return fail_alloc(dev, MEMIC_DM_MEMIC, least, 0, ENOMEM);
	if (top > dev->caps.max_dm_size)
		top = dev->caps.max_dm_size;
	/* KSM keys and identity mappings need memory that starts on a page */
	if (dev->caps.log_max_align >= log_page)
		err = dm_search(dev, least, top, log_page, dm);
	if (is_shortage(err) || err == EINVAL)
		err = dm_search(dev, least, top, 0, dm);
	return err == 0 ? 0 : fail_alloc(dev, MEMIC_DM_MEMIC, least, 0, err);
}

int
memic_dm_free(struct memic_dm *dm)
{
	unsigned int keys;
	int err;

	if (dm == NULL)
		return 0;
	keys = atomic_load(&dm->keys);
	if (keys != 0)
		return memic_fail(EBUSY, "free of %zu bytes of %s on %s: EBUSY: %u key(s) over it "
				  "live; memic_mkey_destroy() them first", dm->length,
				  types[dm->type].name, dm->dev->caps.name, keys);
	if (dm->kept)
		return memic_fail(EBUSY, "free of %zu bytes of %s on %s: EBUSY: another thread has "
				  "the addresses that libmlx5 would unmap; the memory stays taken "
				  "until the process ends", dm->length, types[dm->type].name,
				  dm->dev->caps.name);
	err = dm_release(dm);
	if (err == 0)
		return 0;
	return memic_fail(err, "ibv_free_dm of %zu bytes of %s on %s: %s: %s", dm->length,
			  types[dm->type].name, dm->dev->caps.name, memic_errno_name(err),
			  err == EBUSY ? "a memory region or another object still uses it; release "
			  "that and call again" : "nothing was freed; see dmesg for the reason");
}

void *
memic_dm_addr(const struct memic_dm *dm)
{
	return dm->addr;
}

size_t
memic_dm_length(const struct memic_dm *dm)
{
	return dm->length;
}

enum memic_dm_type
memic_dm_type(const struct memic_dm *dm)
{
	return dm->type;
}

struct ibv_dm *
memic_dm_verbs(const struct memic_dm *dm)
{
	return dm->ibdm;
}
