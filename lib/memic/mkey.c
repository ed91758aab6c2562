/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <linux/kcmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "destroy.h"
#include "prm.h"
#include "private.h"

#define KSM_LOG_BYTES 12
#define KSM_BYTES (1U << KSM_LOG_BYTES)

static const char * const mode_names[MEMIC_MKEY_MODES] = {
	[MEMIC_MKEY_KLM] = "klm",
	[MEMIC_MKEY_KSM] = "ksm",
	[MEMIC_MKEY_DIRECT] = "direct",
};

static bool
mode_valid(enum memic_mkey_mode mode)
{
	return (unsigned int)mode < MEMIC_MKEY_MODES;
}

const char *
memic_mkey_mode_name(enum memic_mkey_mode mode)
{
	return mode_valid(mode) ? mode_names[mode] : "unknown";
}

/*
 * Whether two command fds are duplicates of one open file. The kernel looks handles up
 * per open file: a PD of another one would meet no allocation, or somebody else's.
 */
static bool
same_kernel_context(int a, int b)
{
	struct stat sa, sb;
	pid_t pid = getpid();
	long rc = syscall(SYS_kcmp, pid, pid, KCMP_FILE, a, b);

	if (rc >= 0)
		return rc == 0;
	/* kcmp(2) is left out of some kernels and refused in some containers */
	return fstat(a, &sa) == 0 && fstat(b, &sb) == 0 && sa.st_rdev == sb.st_rdev;
}

static int
check_pd(const struct memic_dm *dm, const struct ibv_pd *pd)
{
	const struct memic_device *dev = dm->dev;
	const char *name = ibv_get_device_name(pd->context->device);

	if (strcmp(name, dev->caps.name) != 0)
		return memic_fail(EXDEV, "key over memory of %s: EXDEV: the protection domain is "
				  "on %s; memory of one device is out of the other's reach",
				  dev->caps.name, name);
	if (!same_kernel_context(pd->context->cmd_fd, dev->ctx->cmd_fd))
		return memic_fail(EXDEV, "key over memory of %s: EXDEV: the protection domain "
				  "belongs to another open of the device; allocate on a device "
				  "from memic_device_adopt() of the domain's own context", name);
	return 0;
}

/* What the layout of indirect keys asks of the address and the length of the memory. */
static int
check_indirect(const struct memic_dm *dm, enum memic_mkey_mode mode)
{
	const char *name = dm->dev->caps.name;
	unsigned int unit = mode == MEMIC_MKEY_KSM ? KSM_BYTES : MEMIC_UNIT;
	unsigned int off = (uintptr_t)dm->addr % unit;

	if (dm->lost != 0)
		return memic_fail(EINVAL, "%s key on %s: EINVAL: addresses of the memory are "
				  "offsets since its mapping was moved: use a direct key",
				  mode_names[mode], name);
	if (!dm->dev->caps.devx)
		return memic_fail(EOPNOTSUPP, "%s key on %s: EOPNOTSUPP: the context takes no DevX "
				  "commands: it must be opened with DevX, by a process with "
				  "CAP_NET_RAW, on firmware with UCTX_EN; or use a direct key",
				  mode_names[mode], name);
	if (off != 0)
		return memic_fail(EINVAL, "%s key on %s: EINVAL: the memory starts %u bytes into a "
				  "%u byte unit, and an entry cannot cross one: %s",
				  mode_names[mode], name, off, unit, mode == MEMIC_MKEY_KSM ?
				  "use a klm key, or allocate with an alignment of 4 KiB" :
				  "use a direct key");
	if (dm->size % MEMIC_UNIT != 0)
		return memic_fail(EINVAL, "%s key on %s: EINVAL: the length %zu is no multiple of "
				  "%u: allocate one that is, or use a direct key",
				  mode_names[mode], name, dm->size, MEMIC_UNIT);
	return 0;
}

static struct ibv_mr *
try_register(const struct memic_dm *dm, struct ibv_pd *pd, unsigned int optional)
{
	errno = 0;
	return ibv_reg_dm_mr(pd, dm->ibdm, 0, dm->size, IBV_ACCESS_ZERO_BASED |
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
			     IBV_ACCESS_REMOTE_WRITE | optional);
}

static int
register_mr(struct memic_mkey *key, struct ibv_pd *pd)
{
	const struct memic_dm *dm = key->dm;
	const struct memic_caps *caps = &dm->dev->caps;
	int err;

	errno = 0;
	if (caps->relaxed_ordering_write || caps->relaxed_ordering_read)
		key->mr = try_register(dm, pd, IBV_ACCESS_RELAXED_ORDERING);
	/* kernels whose MLX5_IB_DM_MEMIC_ALLOWED_ACCESS lacks the bit say EINVAL */
	if (key->mr == NULL && (errno == 0 || errno == EINVAL || errno == EOPNOTSUPP))
		key->mr = try_register(dm, pd, 0);
	if (key->mr != NULL)
		return 0;
	err = memic_null_errno();
	return memic_fail(err, "ibv_reg_dm_mr of %zu bytes on %s: %s: %s", dm->size, caps->name,
			  memic_errno_name(err), err == ENOMEM ?
			  "no memory key is left on the device; end who holds many" : err == EIO ?
			  "the device was removed or is in an error state; see dmesg" :
			  "kernel or firmware refused; see dmesg for the reason");
}

static void
fill_context(uint32_t *in, const struct memic_mkey *key, uint32_t pdn, unsigned int octwords)
{
	static atomic_uint variant;
	const struct memic_dm *dm = key->dm;
	bool ksm = key->mode == MEMIC_MKEY_KSM;

	prm_set(in, PRM_MKC_AT, PRM_MKC_LR, 1);
	prm_set(in, PRM_MKC_AT, PRM_MKC_LW, 1);
	prm_set(in, PRM_MKC_AT, PRM_MKC_RR, 1);
	prm_set(in, PRM_MKC_AT, PRM_MKC_RW, 1);
	prm_set(in, PRM_MKC_AT, PRM_MKC_ACCESS_MODE,
		ksm ? PRM_ACCESS_MODE_KSM : PRM_ACCESS_MODE_KLM);
	prm_set(in, PRM_MKC_AT, PRM_MKC_LOG_PAGE_SIZE, ksm ? KSM_LOG_BYTES : 0);
	prm_set(in, PRM_MKC_AT, PRM_MKC_QPN, PRM_MKC_ANY_QPN);
	/* a variant that moves on lets hardware tell a new key from a stale one */
	prm_set(in, PRM_MKC_AT, PRM_MKC_KEY_VARIANT, atomic_fetch_add(&variant, 1));
	prm_set(in, PRM_MKC_AT, PRM_MKC_PD, pdn);
	prm_set(in, PRM_MKC_AT, PRM_MKC_START_ADDR, key->base);
	prm_set(in, PRM_MKC_AT, PRM_MKC_LEN, dm->size);
	prm_set(in, PRM_MKC_AT, PRM_MKC_OCTWORDS, octwords);
	/* Coming firmware rejects keys without ordering attributes: DPDK's commit
	 * 5003eaab7e sets them where these capabilities are there, and so is done here.
	 */
	prm_set(in, PRM_MKC_AT, PRM_MKC_RELAXED_ORDERING_WRITE,
		dm->dev->caps.relaxed_ordering_write);
	prm_set(in, PRM_MKC_AT, PRM_MKC_RELAXED_ORDERING_READ,
		dm->dev->caps.relaxed_ordering_read);
	if (dm->dev->order_read_after_write)
		prm_set(in, PRM_MKC_AT, PRM_MKC_ORDER_READ_AFTER_WRITE,
			PRM_RAW_ORDERING_RELAXED);
}

/*
 * Build CREATE_MKEY: entries of @p step bytes from offset 0 of the zero-based MR. The
 * last one may be shorter, the length in the key's context bounds it.
 */
static uint32_t *
build_command(const struct memic_mkey *key, uint32_t pdn, size_t *bytes)
{
	size_t step = key->mode == MEMIC_MKEY_KSM ? KSM_BYTES : key->dm->size, left, i;
	size_t entries = (key->dm->size + step - 1) / step;
	size_t octwords = memic_align_up(entries, PRM_MKEY_ENTRY_MULTIPLE);
	unsigned int at = PRM_MKEY_IN_BYTES * 8;
	uint32_t *in;

	*bytes = PRM_MKEY_IN_BYTES + octwords * PRM_MKEY_ENTRY_BYTES;
	in = calloc(1, *bytes);
	if (in == NULL)
		return NULL;
	prm_set(in, 0, PRM_IN_OPCODE, PRM_OP_CREATE_MKEY);
	prm_set(in, 0, PRM_MKEY_IN_OCTWORDS, octwords);
	fill_context(in, key, pdn, (unsigned int)octwords);
	for (i = 0; i < entries; i++, at += PRM_MKEY_ENTRY_BYTES * 8) {
		left = key->dm->size - i * step;
		prm_set(in, at, PRM_KLM_BYTE_COUNT, left < step ? left : step);
		prm_set(in, at, PRM_KLM_MKEY, key->mr->lkey);
		prm_set(in, at, PRM_KLM_ADDRESS, i * step);
	}
	return in;
}

static int
fail_create(const struct memic_mkey *key, int err, const uint32_t *out)
{
	const struct memic_caps *caps = &key->dm->dev->caps;
	unsigned int status = (unsigned int)prm_get(out, 0, PRM_OUT_STATUS);

	if (status == 0)
		return memic_fail(err, "CREATE_MKEY (%s, %zu bytes) on %s: %s: %s",
				  mode_names[key->mode], key->dm->size, caps->name,
				  memic_errno_name(err), err == EIO ?
				  "the device was removed or is in an error state; see dmesg" :
				  "the kernel refused the DevX command; see dmesg for the reason");
	return memic_fail(EREMOTEIO, "CREATE_MKEY (%s, %zu bytes) on %s: EREMOTEIO: firmware %s "
			  "refused with status 0x%x, syndrome 0x%x: try another way (klm, ksm, "
			  "direct) or newer firmware", mode_names[key->mode], key->dm->size,
			  caps->name, caps->fw_ver, status,
			  (unsigned int)prm_get(out, 0, PRM_OUT_SYNDROME));
}

static int
create_indirect(struct memic_mkey *key, struct ibv_pd *pd)
{
	uint32_t out[PRM_MKEY_OUT_BYTES / sizeof(uint32_t)] = { 0 };
	struct mlx5dv_pd view = { 0 };
	struct mlx5dv_obj obj = { .pd = { .in = pd, .out = &view } };
	const struct memic_dm *dm = key->dm;
	uint32_t *in;
	size_t bytes;
	int err;

	err = memic_verbs_errno(mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD));
	if (err != 0)
		return memic_fail(err, "mlx5dv_init_obj of a protection domain of %s: %s: is it an "
				  "mlx5 device's?", dm->dev->caps.name, memic_errno_name(err));
	key->base = (uintptr_t)dm->addr;
	in = build_command(key, view.pdn, &bytes);
	if (in == NULL)
		return memic_fail(ENOMEM, "no host memory for CREATE_MKEY on %s: ENOMEM",
				  dm->dev->caps.name);
	errno = 0;
	/* on our own context, so that the key can go after the PD's context was closed */
	key->obj = mlx5dv_devx_obj_create(dm->dev->ctx, in, bytes, out, sizeof(out));
	err = memic_null_errno();
	if (key->obj != NULL)
		key->lkey = (uint32_t)(prm_get(out, 0, PRM_MKEY_OUT_INDEX) << 8 |
				       prm_get(in, PRM_MKC_AT, PRM_MKC_KEY_VARIANT));
	free(in);
	return key->obj != NULL ? 0 : fail_create(key, err, out);
}

int
memic_mkey_create(struct memic_dm *dm, struct ibv_pd *pd, enum memic_mkey_mode mode,
		  struct memic_mkey **mkey)
{
	struct memic_mkey *key;
	const char *why;
	int rc;

	if (dm == NULL || pd == NULL || mkey == NULL || !mode_valid(mode))
		return memic_fail(EINVAL, "memic_mkey_create: %s: EINVAL", mode_valid(mode) ?
				  "NULL argument" : "no such mode");
	if (!memic_dm_type_is_packet_memory(dm->type, &why))
		return memic_fail(EOPNOTSUPP, "%s key on %s: EOPNOTSUPP: %s; allocate MEMIC",
				  mode_names[mode], dm->dev->caps.name, why);
	rc = check_pd(dm, pd);
	if (rc == 0 && mode != MEMIC_MKEY_DIRECT)
		rc = check_indirect(dm, mode);
	if (rc != 0)
		return rc;

	key = calloc(1, sizeof(*key));
	if (key == NULL)
		return memic_fail(ENOMEM, "no host memory for a key on %s: ENOMEM",
				  dm->dev->caps.name);
	key->dm = dm;
	key->mode = mode;
	rc = register_mr(key, pd);
	if (rc != 0)
		goto err_free_key;
	key->lkey = key->mr->lkey;
	if (mode != MEMIC_MKEY_DIRECT) {
		rc = create_indirect(key, pd);
		if (rc != 0)
			goto err_dereg_mr;
	}
	atomic_fetch_add(&dm->keys, 1);
	*mkey = key;
	return 0;

err_dereg_mr:
	memic_destroy(ibv_dereg_mr, key->mr);
err_free_key:
	free(key);
	return rc;
}

int
memic_mkey_destroy(struct memic_mkey *mkey)
{
	const char *name;
	int err;

	if (mkey == NULL)
		return 0;
	name = mkey->dm->dev->caps.name;
	if (mkey->obj != NULL) {
		err = memic_verbs_errno(mlx5dv_devx_obj_destroy(mkey->obj));
		if (err != 0 && err != EIO)
			return memic_fail(err, "destroy of %s key 0x%x on %s: %s: a queue may "
					  "still use it; stop that and call again",
					  mode_names[mkey->mode], mkey->lkey, name,
					  memic_errno_name(err));
		mkey->obj = NULL;
	}
	err = memic_verbs_errno(ibv_dereg_mr(mkey->mr));
	if (err != 0 && err != EIO)
		return memic_fail(err, "ibv_dereg_mr under %s key 0x%x on %s: %s: a queue or "
				  "another key may still use it; stop that and call again",
				  mode_names[mkey->mode], mkey->lkey, name, memic_errno_name(err));
	atomic_fetch_sub(&mkey->dm->keys, 1);
	free(mkey);
	return 0;
}

uint32_t
memic_mkey_lkey(const struct memic_mkey *mkey)
{
	return mkey->lkey;
}

enum memic_mkey_mode
memic_mkey_mode(const struct memic_mkey *mkey)
{
	return mkey->mode;
}

uint64_t
memic_mkey_base(const struct memic_mkey *mkey)
{
	return mkey->base;
}
