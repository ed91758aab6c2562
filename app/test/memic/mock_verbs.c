/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memic.h"
#include "mock_verbs.h"

struct mock_dm {
	struct ibv_dm dm;
	uint8_t *map;
	size_t mapped, length;
	struct mock_dm *next;
};

struct mock mock;

static struct ibv_device devices[2];
static struct mock_dm *leftovers;
static int obj_marker;

static void
note(const char *call)
{
	size_t used = strlen(mock.calls);

	snprintf(mock.calls + used, sizeof(mock.calls) - used, "%s%s", used ? " " : "", call);
}

/* Set errno as a failing call would; false when there is nothing to fail. */
static bool
fails(int err)
{
	if (err == 0)
		return false;
	errno = err > 0 ? err : 0;
	return true;
}

static int
fits_all(size_t length, unsigned int log_align)
{
	(void)log_align;
	return length <= mock.max_dm ? 0 : ENOMEM;
}

void
mock_reset(void)
{
	memset(&mock, 0, sizeof(mock));
	mock.max_dm = 131072;
	mock.log_max_align = 6;
	mock.devx = true;
	mock.relaxed_ordering = true;
	mock.sw_owner_v2 = true;
	mock.fits = fits_all;
	snprintf(devices[0].name, sizeof(devices[0].name), MOCK_NAME);
	snprintf(devices[1].name, sizeof(devices[1].name), "mlx5_1");
	/* any directory whose link "device" leads somewhere; its last part is the address */
	snprintf(devices[0].ibdev_path, sizeof(devices[0].ibdev_path), "/nonexistent");
	snprintf(devices[1].ibdev_path, sizeof(devices[1].ibdev_path), "/nonexistent");
}

void
mock_release_leftovers(void)
{
	struct mock_dm *dm;

	while ((dm = leftovers) != NULL) {
		leftovers = dm->next;
		free(dm);
	}
}

void
assert_says(const char *text)
{
	if (strstr(memic_last_error(), text) == NULL)
		fail_msg("\"%s\" lacks \"%s\"", memic_last_error(), text);
}

unsigned int
mock_count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int count = 0;

	assert_non_null(dir);
	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count;
}

static int
query_device_ex(struct ibv_context *ctx, const struct ibv_query_device_ex_input *input,
		struct ibv_device_attr_ex *attr, size_t size)
{
	(void)ctx;
	(void)input;
	(void)size;
	if (mock.query_errno != 0)
		return mock.query_errno;
	attr->max_dm_size = mock.max_dm;
	snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver), "22.35.1012");
	return 0;
}

static struct ibv_mr *
reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, size_t length,
	  unsigned int access)
{
	struct ibv_mr *mr;

	note("reg");
	mock.last_access[1] = mock.last_access[0];
	mock.last_access[0] = access;
	assert_int_equal(offset, 0);
	assert_true(length <= ((struct mock_dm *)dm)->length);
	if (fails(mock.reg_errno))
		return NULL;
	if ((access & IBV_ACCESS_RELAXED_ORDERING) && !mock.mr_takes_relaxed) {
		errno = EINVAL;
		return NULL;
	}
	if (!(access & IBV_ACCESS_ZERO_BASED)) {
		errno = EINVAL;
		return NULL;
	}
	mr = calloc(1, sizeof(*mr));
	assert_non_null(mr);
	mr->pd = pd;
	mr->length = length;
	mr->lkey = 0x1234;
	mock.live_mrs++;
	return mr;
}

static int
free_dm(struct ibv_dm *ibdm)
{
	struct mock_dm *dm = (struct mock_dm *)ibdm;

	note("free_dm");
	if (mock.free_errno != 0) {
		/* like libmlx5, which keeps mapping and structure when the kernel fails */
		if (mock.free_errno == EIO) {
			mock.live_dms--;
			dm->next = leftovers;
			leftovers = dm;
		}
		return mock.free_errno;
	}
	if (dm->map != NULL)
		assert_int_equal(munmap(dm->map, dm->mapped), 0);
	free(dm);
	mock.live_dms--;
	return 0;
}

static struct ibv_context *
context_create(struct ibv_device *device, int fd)
{
	struct verbs_context *vctx = calloc(1, sizeof(*vctx));

	assert_non_null(vctx);
	vctx->sz = sizeof(*vctx);
	vctx->query_device_ex = query_device_ex;
	vctx->reg_dm_mr = reg_dm_mr;
	vctx->free_dm = free_dm;
	vctx->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	vctx->context.device = device;
	vctx->context.cmd_fd = fd;
	mock.open_contexts++;
	return &vctx->context;
}

static int
open_node(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

struct ibv_context *
mock_user_context(bool other)
{
	return context_create(&devices[other], open_node());
}

struct ibv_pd *
mock_user_pd(struct ibv_context *ctx)
{
	static struct ibv_pd pd;

	pd.context = ctx;
	return &pd;
}

void
mock_user_close(struct ibv_context *ctx)
{
	__wrap_ibv_close_device(ctx);
}

struct ibv_device **
__wrap_ibv_get_device_list(int *num)
{
	static struct ibv_device *list[] = { &devices[0], &devices[1], NULL };

	if (fails(mock.list_errno))
		return NULL;
	*num = 2;
	return list;
}

void
__wrap_ibv_free_device_list(struct ibv_device **list)
{
	assert_non_null(list);
	note("free_list");
}

const char *
__wrap_ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

bool
__wrap_mlx5dv_is_supported(struct ibv_device *device)
{
	(void)device;
	return !mock.not_mlx5;
}

struct ibv_context *
__wrap_ibv_import_device(int fd)
{
	note("import");
	if (mock.import_errno == EIO) {
		/* the way to fail on which libmlx5 has closed the fd already, and another
		 * thread has got its number since
		 */
		close(fd);
		mock.reused_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
		assert_int_equal(mock.reused_fd, fd);
	}
	if (fails(mock.import_errno))
		return NULL;
	return context_create(&devices[0], fd);
}

struct ibv_context *
__wrap_mlx5dv_open_device(struct ibv_device *device, struct mlx5dv_context_attr *attr)
{
	bool devx = attr->flags & MLX5DV_CONTEXT_FLAGS_DEVX;

	note(devx ? "open+devx" : "open");
	if (fails(mock.open_errno))
		return NULL;
	if (devx && !mock.devx) {
		errno = EPERM;
		return NULL;
	}
	return context_create(device, open_node());
}

int
__wrap_ibv_close_device(struct ibv_context *ctx)
{
	note("close");
	close(ctx->cmd_fd);
	free((uint8_t *)ctx - offsetof(struct verbs_context, context));
	mock.open_contexts--;
	return 0;
}

struct ibv_dm *
__wrap_mlx5dv_alloc_dm(struct ibv_context *ctx, struct ibv_alloc_dm_attr *attr,
		       struct mlx5dv_alloc_dm_attr *dv_attr)
{
	struct mock_dm *dm;
	int err;

	mock.allocs++;
	mock.last_length = attr->length;
	mock.last_align = attr->log_align_req;
	assert_int_equal(attr->comp_mask, 0);
	assert_int_equal(dv_attr->comp_mask, 0);
	if (fails(mock.alloc_errno))
		return NULL;
	err = attr->log_align_req > mock.log_max_align + 6 ? EINVAL :
	      mock.fits(attr->length, attr->log_align_req);
	if (fails(err))
		return NULL;

	dm = calloc(1, sizeof(*dm));
	assert_non_null(dm);
	dm->dm.context = ctx;
	dm->length = attr->length;
	if (dv_attr->type == MLX5DV_DM_TYPE_MEMIC) {
		dm->mapped = (attr->length + MOCK_PAGE - 1) / MOCK_PAGE * MOCK_PAGE;
		dm->map = mmap(NULL, dm->mapped, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert_true(dm->map != MAP_FAILED);
	}
	mock.live_dms++;
	return &dm->dm;
}

int
__wrap_mlx5dv_init_obj(struct mlx5dv_obj *obj, uint64_t type)
{
	struct mock_dm *dm;

	if (mock.init_obj_errno != 0)
		return mock.init_obj_errno;
	if (type == MLX5DV_OBJ_PD) {
		obj->pd.out->pdn = 0x5a5a5a;
		return 0;
	}
	assert_int_equal(type, MLX5DV_OBJ_DM);
	dm = (struct mock_dm *)obj->dm.in;
	obj->dm.out->buf = dm->map + mock.start_offset;
	obj->dm.out->length = dm->length;
	return 0;
}

struct mlx5dv_devx_obj *
__wrap_mlx5dv_devx_obj_create(struct ibv_context *ctx, const void *in, size_t inlen, void *out,
			      size_t outlen)
{
	uint32_t *reply = out;

	(void)ctx;
	note("mkey_create");
	assert_true(inlen <= sizeof(mock.mkey_in));
	assert_true(outlen >= 16);
	memcpy(mock.mkey_in, in, inlen);
	mock.mkey_in_bytes = inlen;
	reply[0] = htobe32(mock.fw_status << 24);
	reply[1] = htobe32(mock.fw_syndrome);
	if (fails(mock.mkey_create_errno))
		return NULL;
	reply[2] = htobe32(0xabcdef);
	mock.live_mkeys++;
	return (struct mlx5dv_devx_obj *)&obj_marker;
}

int
__wrap_mlx5dv_devx_obj_destroy(struct mlx5dv_devx_obj *obj)
{
	note("mkey_destroy");
	assert_ptr_equal(obj, &obj_marker);
	if (mock.mkey_destroy_errno != 0)
		return mock.mkey_destroy_errno;
	mock.live_mkeys--;
	return 0;
}

int
__wrap_ibv_dereg_mr(struct ibv_mr *mr)
{
	note("dereg");
	if (mock.dereg_errno != 0)
		return mock.dereg_errno;
	free(mr);
	mock.live_mrs--;
	return 0;
}

/* Positions as hexadecimal dumps of QUERY_HCA_CAP show them, in dwords and bits. */
static void
fill_caps(unsigned int type, uint32_t *cap)
{
	switch (type) {
	case 0x0:
		if (mock.relaxed_ordering)
			cap[0x1c / 4] = htobe32(3u << 22);
		if (mock.order_read_after_write)
			cap[0x74 / 4] = htobe32(1u << 23);
		cap[0x84 / 4] = htobe32(1u << 8);
		break;
	case 0x7:
		if (mock.sw_owner_v2) {
			cap[0x40 / 4] = htobe32(1u << 1);
			cap[0x100 / 4] = htobe32(1u << 1);
		}
		break;
	case 0xf:
		cap[0x04 / 4] = htobe32(mock.log_max_align);
		cap[0x10 / 4] = htobe32(1u << 20);
		cap[0x1c / 4] = htobe32(0x1000);
		cap[0x2c / 4] = htobe32(0x2000);
		cap[0x3c / 4] = htobe32(0x3000);
		break;
	default:
		fail_msg("capability 0x%x was asked for", type);
	}
}

int
__wrap_mlx5dv_devx_general_cmd(struct ibv_context *ctx, const void *in, size_t inlen, void *out,
			       size_t outlen)
{
	uint32_t head[2];
	unsigned int opcode;

	(void)ctx;
	assert_true(inlen >= 16);
	memcpy(head, in, sizeof(head));
	opcode = be32toh(head[0]) >> 16;
	memset(out, 0, outlen);
	if (opcode == 0x100) {
		assert_true(outlen == 16 + 4096);
		fill_caps((be32toh(head[1]) & 0xffff) >> 1, (uint32_t *)out + 4);
		return 0;
	}
	if (mock.general_err != 0)
		return mock.general_err;
	/* as the kernel's devx_get_uid() */
	return mock.devx ? 0 : EINVAL;
}
