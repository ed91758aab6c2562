/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "emu.h"
#include "inject.h"
#include "removal.h"
#include "event.h"
#include "uapi.h"

#define PAGE 4096u

const struct emu_method_table *const emu_tables[] = {
	&emu_device_table, &emu_pd_table, &emu_mr_table, &emu_dm_table, &emu_uar_table,
	&emu_cq_table, &emu_wq_table, &emu_qp_table, &emu_flow_table, &emu_devx_table,
	&emu_event_table, &emu_umem_table, &emu_matcher_table, &emu_qp_state_table,
};
const unsigned int emu_n_tables = EMU_COUNT(emu_tables);

static int
copy_user(struct iovec local, struct iovec remote, bool in)
{
	ssize_t n;

	if (local.iov_len == 0)
		return 0;
	n = in ? process_vm_readv(getpid(), &local, 1, &remote, 1, 0) :
	    process_vm_writev(getpid(), &local, 1, &remote, 1, 0);
	if (n < 0 && errno != EFAULT) { /* forbidden by a sandbox: trust the pointer */
		memcpy(in ? local.iov_base : remote.iov_base,
		       in ? remote.iov_base : local.iov_base, local.iov_len);
		return 0;
	}
	return n == (ssize_t)local.iov_len ? 0 : -EFAULT;
}

int
emu_copy_from_user(void *dst, uint64_t src, size_t len)
{
	return copy_user((struct iovec){ dst, len }, (struct iovec){ (void *)(uintptr_t)src, len },
			 true);
}

int
emu_copy_to_user(uint64_t dst, const void *src, size_t len)
{
	return copy_user((struct iovec){ (void *)(uintptr_t)src, len },
			 (struct iovec){ (void *)(uintptr_t)dst, len }, false);
}

static bool
is_inline(const struct ib_uverbs_attr *attr)
{
	return attr->len <= sizeof(attr->data);
}

/* Copy from an input attribute, starting at an offset. */
static int
read_attr(const struct ib_uverbs_attr *attr, size_t off, void *dst, size_t len)
{
	if (!is_inline(attr))
		return emu_copy_from_user(dst, attr->data + off, len);
	memcpy(dst, (const uint8_t *)&attr->data + off, len);
	return 0;
}

static int
trailing_is_zero(const struct ib_uverbs_attr *attr, size_t from)
{
	uint8_t byte;

	for (size_t i = from; i < attr->len; i++) {
		if (read_attr(attr, i, &byte, 1) != 0)
			return -EFAULT;
		if (byte != 0)
			return -EOPNOTSUPP;
	}
	return 0;
}

/* uverbs_process_attr(), PTR_IN and PTR_OUT */
static int
check_data(const struct emu_attr_spec *spec, const struct ib_uverbs_attr *attr)
{
	int err;

	if (spec->kind == EMU_ATTR_IN && spec->zero_trailing && attr->len > spec->max) {
		err = trailing_is_zero(attr, spec->max);
		if (err != 0)
			return err;
	}
	if (attr->len < spec->min || (!spec->zero_trailing && attr->len > spec->max))
		return -EINVAL;
	return attr->attr_data.reserved != 0 ? -EINVAL : 0;
}

/* lookup_get_idr_uobject() in core/rdma_core.c */
static int
find_handle(struct emu_call *call, const struct emu_attr_spec *spec, int64_t handle,
	    struct emu_obj **obj)
{
	int err;

	if (handle < 0)
		return -EINVAL;
	*obj = emu_obj_find(call->file, handle, spec->type, &err);
	return err;
}

/* lookup_get_fd_uobject() in core/rdma_core.c */
static int
find_fd(struct emu_call *call, const struct emu_attr_spec *spec, int64_t fd,
	struct emu_obj **obj)
{
	struct emu_channel *channel;

	if (fd != (int)fd)
		return -EINVAL;
	channel = emu_channel_of_fd(call->file, fd, spec->type);
	if (channel == NULL)
		return -EBADF;
	*obj = &channel->obj;
	return 0;
}

/* uverbs_process_attr(), IDR and FD */
static int
check_obj(struct emu_call *call, const struct emu_attr_spec *spec,
	  const struct ib_uverbs_attr *attr, struct emu_obj **obj)
{
	if (attr->attr_data.reserved != 0 || attr->len != 0)
		return -EINVAL;
	if (spec->access == EMU_OBJ_NEW) /* rdma_alloc_begin_uobject() wants the context */
		return call->file->has_context ? 0 : -EINVAL;
	if (spec->kind == EMU_ATTR_FD)
		return find_fd(call, spec, attr->data_s64, obj);
	return find_handle(call, spec, attr->data_s64, obj);
}

/* uverbs_process_idrs_array(); the first of the objects is kept */
static int
check_objs(struct emu_call *call, const struct emu_attr_spec *spec,
	   const struct ib_uverbs_attr *attr, struct emu_obj **first)
{
	uint32_t n = attr->len / sizeof(uint32_t), handle;
	struct emu_obj *obj;
	int err;

	if (attr->attr_data.reserved != 0 || attr->len % sizeof(uint32_t) != 0)
		return -EINVAL;
	if (n < spec->min || n > spec->max)
		return -EINVAL;
	for (uint32_t i = 0; i < n; i++) {
		if (read_attr(attr, i * sizeof(handle), &handle, sizeof(handle)) != 0)
			return -EFAULT;
		err = find_handle(call, spec, handle, &obj);
		if (err != 0)
			return err;
		if (i == 0)
			*first = obj;
	}
	return 0;
}

/* uverbs_process_attr(), ENUM_IN */
static int
check_enum(const struct emu_attr_spec *spec, const struct ib_uverbs_attr *attr)
{
	unsigned int kind = attr->attr_data.enum_data.elem_id;

	if (kind >= spec->max)
		return -EOPNOTSUPP;
	if (attr->attr_data.enum_data.reserved != 0)
		return -EINVAL;
	return attr->len != spec->sizes[kind] ? -EINVAL : 0;
}

/* uverbs_set_attr() */
static int
set_attr(struct emu_call *call, struct ib_uverbs_attr *attr)
{
	const struct emu_attr_spec *spec;
	unsigned int i;

	for (i = 0; i < call->method->n; i++)
		if (call->method->specs[i].id == attr->attr_id)
			break;
	if (i == call->method->n) {
		emu_trace("  attribute 0x%x is unknown", attr->attr_id);
		return attr->flags & UVERBS_ATTR_F_MANDATORY ? -EPROTONOSUPPORT : 0;
	}
	if (call->attrs[i] != NULL)
		return -EINVAL; /* twice */
	call->attrs[i] = attr;
	spec = &call->method->specs[i];
	switch (spec->kind) {
	case EMU_ATTR_OBJ:
	case EMU_ATTR_FD:
		return check_obj(call, spec, attr, &call->objs[i]);
	case EMU_ATTR_OBJS:
		return check_objs(call, spec, attr, &call->objs[i]);
	case EMU_ATTR_ENUM:
		return check_enum(spec, attr);
	default:
		return check_data(spec, attr);
	}
}

static const struct emu_method *
find_method(uint16_t object, uint16_t method)
{
	for (unsigned int t = 0; t < emu_n_tables; t++)
		for (unsigned int i = 0; i < emu_tables[t]->n_methods; i++)
			if (emu_tables[t]->methods[i].object == object &&
			    emu_tables[t]->methods[i].method == method)
				return &emu_tables[t]->methods[i];
	return NULL;
}

/* A DESTROY attribute's object goes before the method runs, as in ib_uverbs_run_method(). */
static int
destroy_named(struct emu_call *call)
{
	int err;

	for (unsigned int i = 0; i < call->method->n; i++) {
		if (call->method->specs[i].access != EMU_OBJ_DESTROY || call->objs[i] == NULL)
			continue;
		err = emu_obj_destroy(call->objs[i], false);
		if (err != 0)
			return err;
		call->objs[i] = NULL;
	}
	return 0;
}

static int
run_method(struct emu_call *call, struct ib_uverbs_attr *attrs, unsigned int n)
{
	int err = emu_inject_ioctl(call->dev, call->method->name, true);

	if (err == 0 && emu_removal_refuses(call->file, call->method))
		err = -EIO;
	if (err != 0)
		return err;
	for (unsigned int i = 0; i < n; i++) {
		err = set_attr(call, &attrs[i]);
		if (err != 0)
			return err;
	}
	for (unsigned int i = 0; i < call->method->n; i++)
		if (!call->method->specs[i].optional && call->attrs[i] == NULL)
			return -EINVAL;
	if (!call->method->no_context && !call->file->has_context)
		return -EINVAL; /* ib_uverbs_get_ucontext_file() */
	err = destroy_named(call);
	if (err == 0 && call->method->run != NULL)
		err = call->method->run(call);
	return err;
}

/*
 * The kernel marks a method's UHW_OUT as written whenever the method succeeds, since
 * drivers do not say: the end of ib_uverbs_run_method().
 */
static void
mark_uhw_out(const struct emu_call *call)
{
	for (unsigned int i = 0; i < call->method->n; i++)
		if (call->method->specs[i].id == UVERBS_ATTR_UHW_OUT && call->attrs[i] != NULL)
			call->attrs[i]->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
}

/* On a copy of the attributes, as the kernel does: another thread may change the user's. */
static int
serve(struct emu_call *call, struct ib_uverbs_attr *attrs, unsigned int n, uint64_t user)
{
	int err;

	/* put_user() of handles and flags would find out only after the object was made */
	if (emu_copy_to_user(user, attrs, n * sizeof(*attrs)) != 0)
		return -EFAULT;
	err = run_method(call, attrs, n);
	if (err != 0)
		return err;
	mark_uhw_out(call);
	return emu_copy_to_user(user, attrs, n * sizeof(*attrs));
}

/* ib_uverbs_ioctl() and ib_uverbs_cmd_verbs() */
int
emu_uapi_ioctl(struct emu_file *file, struct ib_uverbs_ioctl_hdr *user)
{
	struct emu_call call = { .file = file, .dev = file->dev };
	struct ib_uverbs_attr attrs[PAGE / sizeof(struct ib_uverbs_attr)];
	uint64_t attrs_at = (uintptr_t)user + sizeof(struct ib_uverbs_ioctl_hdr);
	struct ib_uverbs_ioctl_hdr hdr;
	int err;

	if (emu_copy_from_user(&hdr, (uintptr_t)user, sizeof(hdr)) != 0)
		return -EFAULT;
	if (hdr.length > PAGE || hdr.length != sizeof(hdr) + hdr.num_attrs * sizeof(attrs[0]))
		return -EINVAL;
	if (hdr.reserved1 != 0 || hdr.reserved2 != 0)
		return -EPROTONOSUPPORT;
	if (hdr.driver_id != RDMA_DRIVER_MLX5)
		return -EINVAL;
	call.method = find_method(hdr.object_id, hdr.method_id);
	if (call.method == NULL) {
		emu_trace("%s: object 0x%x method 0x%x is unknown", file->dev->name,
			  hdr.object_id, hdr.method_id);
		return -EPROTONOSUPPORT;
	}
	if (emu_copy_from_user(attrs, attrs_at, hdr.num_attrs * sizeof(attrs[0])) != 0)
		return -EFAULT;
	emu_trace("%s: %s", file->dev->name, call.method->name);
	err = serve(&call, attrs, hdr.num_attrs, attrs_at);
	if (err != 0)
		emu_trace("%s: %s -> %s", file->dev->name, call.method->name,
			  strerrorname_np(-err));
	return err;
}

/* ---- for methods ---- */

static struct ib_uverbs_attr *
attr_of(const struct emu_call *call, uint16_t id, unsigned int *place)
{
	for (unsigned int i = 0; i < call->method->n; i++) {
		if (call->method->specs[i].id != id)
			continue;
		if (place != NULL)
			*place = i;
		return call->attrs[i];
	}
	return NULL;
}

bool
emu_has(const struct emu_call *call, uint16_t id)
{
	return attr_of(call, id, NULL) != NULL;
}

size_t
emu_len(const struct emu_call *call, uint16_t id)
{
	const struct ib_uverbs_attr *attr = attr_of(call, id, NULL);

	return attr == NULL ? 0 : attr->len;
}

int
emu_in(const struct emu_call *call, uint16_t id, void *dst, size_t size)
{
	const struct ib_uverbs_attr *attr = attr_of(call, id, NULL);
	size_t len;

	memset(dst, 0, size);
	if (attr == NULL)
		return -ENOENT;
	len = attr->len < size ? attr->len : size;
	return read_attr(attr, 0, dst, len);
}

uint64_t
emu_in_u64(const struct emu_call *call, uint16_t id, uint64_t absent)
{
	uint64_t value = 0;

	return emu_in(call, id, &value, sizeof(value)) == 0 ? value : absent;
}

/* uverbs_get_flags64() */
int
emu_in_flags(const struct emu_call *call, uint16_t id, uint64_t allowed, uint64_t *flags)
{
	size_t len = emu_len(call, id);

	*flags = 0;
	if (!emu_has(call, id))
		return 0;
	if (len != 4 && len != 8)
		return -EINVAL;
	*flags = emu_in_u64(call, id, 0);
	return *flags & ~allowed ? -EINVAL : 0;
}

int
emu_in_rest_is_zero(const struct emu_call *call, uint16_t id, size_t size)
{
	const struct ib_uverbs_attr *attr = attr_of(call, id, NULL);

	return attr == NULL ? 0 : trailing_is_zero(attr, size);
}

unsigned int
emu_enum_id(const struct emu_call *call, uint16_t id)
{
	const struct ib_uverbs_attr *attr = attr_of(call, id, NULL);

	return attr == NULL ? 0 : attr->attr_data.enum_data.elem_id;
}

void *
emu_obj(const struct emu_call *call, uint16_t id)
{
	unsigned int place;

	return attr_of(call, id, &place) == NULL ? NULL : call->objs[place];
}

int
emu_out(const struct emu_call *call, uint16_t id, const void *src, size_t len)
{
	struct ib_uverbs_attr *attr = attr_of(call, id, NULL);
	uint8_t zero[256] = { 0 };
	size_t n, done;

	if (attr == NULL)
		return 0;
	done = attr->len < len ? attr->len : len;
	if (emu_copy_to_user(attr->data, src, done) != 0)
		return -EFAULT;
	for (; done < attr->len; done += n) {
		n = attr->len - done < sizeof(zero) ? attr->len - done : sizeof(zero);
		if (emu_copy_to_user(attr->data + done, zero, n) != 0)
			return -EFAULT;
	}
	attr->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
	return 0;
}

int
emu_out_obj(const struct emu_call *call, uint16_t id, struct emu_obj *obj)
{
	struct ib_uverbs_attr *attr = attr_of(call, id, NULL);
	int err = attr == NULL ? -EINVAL : emu_obj_commit(obj);

	if (err == 0) {
		attr->data = obj->handle;
		return 0;
	}
	if (obj->class->destroy != NULL)
		obj->class->destroy(obj, true);
	emu_obj_discard(obj);
	return err;
}

int
emu_out_handle(const struct emu_call *call, uint16_t id, const struct emu_obj *obj)
{
	attr_of(call, id, NULL)->data = obj->handle; /* mandatory: the codec saw it */
	return 0;
}

int
emu_out_fd(const struct emu_call *call, uint16_t id, int fd)
{
	struct ib_uverbs_attr *attr = attr_of(call, id, NULL);

	if (attr == NULL)
		return -EINVAL;
	attr->data_s64 = fd;
	return 0;
}

/* ---- write commands ---- */

const struct emu_write *
emu_write_find(uint32_t cmd)
{
	for (unsigned int t = 0; t < emu_n_tables; t++)
		for (unsigned int i = 0; i < emu_tables[t]->n_writes; i++)
			if (emu_tables[t]->writes[i].cmd == cmd)
				return &emu_tables[t]->writes[i];
	return NULL;
}
