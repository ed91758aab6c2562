/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "private.h"

/* Make a device of a context of ours; closes the context when that fails. */
static int
device_create(struct ibv_context *ctx, struct memic_device **out)
{
	struct memic_device *dev = calloc(1, sizeof(*dev));
	int rc;

	if (dev == NULL) {
		rc = memic_fail(ENOMEM, "no host memory for the state of device %s: ENOMEM",
				ibv_get_device_name(ctx->device));
		goto err_close_context;
	}
	dev->ctx = ctx;
	rc = memic_caps_query(dev);
	if (rc != 0)
		goto err_free_device;
	*out = dev;
	return 0;

err_free_device:
	free(dev);
err_close_context:
	ibv_close_device(ctx);
	return rc;
}

/*
 * ibv_import_device() closes the fd that it was given on some of its ways to fail and
 * leaves it open on others, so look before closing.
 */
static void
close_if_open(int fd, int twin)
{
	struct stat a, b;

	if (fstat(fd, &a) == 0 && fstat(twin, &b) == 0 && a.st_rdev == b.st_rdev &&
	    a.st_ino == b.st_ino && a.st_dev == b.st_dev)
		close(fd);
}

int
memic_device_adopt(struct ibv_context *ctx, struct memic_device **dev)
{
	const char *name;
	struct ibv_context *own;
	int fd, err;

	if (ctx == NULL || dev == NULL)
		return memic_fail(EINVAL, "memic_device_adopt: NULL argument: EINVAL");
	name = ibv_get_device_name(ctx->device);
	if (!mlx5dv_is_supported(ctx->device))
		return memic_fail(EOPNOTSUPP, "cannot adopt %s: EOPNOTSUPP: not an mlx5 device; "
				  "on-chip memory needs a ConnectX", name);
	fd = fcntl(ctx->cmd_fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0) {
		err = errno;
		return memic_fail(err, "dup of the command fd of %s: %s: raise the limit of open "
				  "files (ulimit -n)", name, memic_errno_name(err));
	}
	errno = 0;
	own = ibv_import_device(fd);
	if (own == NULL) {
		err = memic_null_errno();
		close_if_open(fd, ctx->cmd_fd);
		return memic_fail(err, "ibv_import_device on %s: %s: the kernel must know "
				  "UVERBS_METHOD_QUERY_CONTEXT, the device must still be there, "
				  "and descriptors must be left to look for it (ulimit -n)",
				  name, memic_errno_name(err));
	}
	return device_create(own, dev);
}

static bool
device_matches(struct ibv_device *ibdev, const char *name)
{
	char address[64];

	if (strcmp(ibv_get_device_name(ibdev), name) == 0)
		return true;
	memic_bus_address(ibdev, address, sizeof(address));
	return address[0] != '\0' && strcmp(address, name) == 0;
}

static int
fail_no_such_device(const char *name, struct ibv_device **list, int count)
{
	char names[256] = "none";
	size_t used = 0;
	int i, n;

	for (i = 0; i < count && used < sizeof(names); i++) {
		n = snprintf(names + used, sizeof(names) - used, "%s%s", i > 0 ? ", " : "",
			     ibv_get_device_name(list[i]));
		used += (size_t)n;
	}
	return memic_fail(ENODEV, "no RDMA device %s: ENODEV: there are: %s%s", name, names,
			  count > 0 ? "" : " (is mlx5_ib loaded, is the device in this "
			  "network namespace?)");
}

/* DevX first, as KLM and SW_ICM need it; a context without still has MEMIC. */
static struct ibv_context *
open_context(struct ibv_device *ibdev)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct ibv_context *ctx;

	ctx = mlx5dv_open_device(ibdev, &attr);
	if (ctx == NULL) {
		attr.flags = 0;
		errno = 0;
		ctx = mlx5dv_open_device(ibdev, &attr);
	}
	return ctx;
}

static int
open_one(struct ibv_device *ibdev, struct memic_device **dev)
{
	const char *name = ibv_get_device_name(ibdev);
	struct ibv_context *ctx;
	int err;

	if (!mlx5dv_is_supported(ibdev))
		return memic_fail(EOPNOTSUPP, "cannot open %s: EOPNOTSUPP: not an mlx5 device; "
				  "on-chip memory needs a ConnectX", name);
	ctx = open_context(ibdev);
	if (ctx != NULL)
		return device_create(ctx, dev);
	err = memic_null_errno();
	return memic_fail(err, "mlx5dv_open_device on %s: %s: %s", name, memic_errno_name(err),
			  err == EACCES || err == EPERM ?
			  "give this user read and write access to /dev/infiniband/uverbs*" :
			  err == ENOENT ?
			  "/dev/infiniband/uverbs* is missing: load ib_uverbs, or pass the node "
			  "into the container" : "see dmesg for the reason");
}

int
memic_device_open(const char *name, struct memic_device **dev)
{
	struct ibv_device **list;
	int count = 0, rc, i;

	if (name == NULL || dev == NULL)
		return memic_fail(EINVAL, "memic_device_open: NULL argument: EINVAL");
	errno = 0;
	list = ibv_get_device_list(&count);
	if (list == NULL) {
		rc = memic_null_errno();
		return memic_fail(rc, "ibv_get_device_list, looking for %s: %s: load ib_uverbs and "
				  "mlx5_ib", name, memic_errno_name(rc));
	}
	for (i = 0; i < count && !device_matches(list[i], name); i++)
		;
	if (i < count)
		rc = open_one(list[i], dev);
	else
		rc = fail_no_such_device(name, list, count);
	ibv_free_device_list(list);
	return rc;
}

int
memic_device_close(struct memic_device *dev)
{
	unsigned int dms;
	int err;

	if (dev == NULL)
		return 0;
	dms = atomic_load(&dev->dms);
	if (dms != 0)
		return memic_fail(EBUSY, "close of %s: EBUSY: %u allocation(s) live; "
				  "memic_dm_free() them first", dev->caps.name, dms);
	err = memic_verbs_errno(ibv_close_device(dev->ctx));
	if (err != 0 && err != EIO)
		memic_fail(err, "ibv_close_device on %s: %s: the context is given up all the same",
			   dev->caps.name, memic_errno_name(err));
	free(dev);
	return err != EIO ? -err : 0;
}

struct ibv_context *
memic_device_context(const struct memic_device *dev)
{
	return dev->ctx;
}

const struct memic_caps *
memic_device_caps(const struct memic_device *dev)
{
	return &dev->caps;
}
