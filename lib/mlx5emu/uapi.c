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
#include "uapi.h"

static const struct emu_method_table *const tables[] = {
	&emu_device_table, &emu_pd_table, &emu_mr_table, &emu_dm_table, &emu_uar_table,
	&emu_cq_table, &emu_wq_table, &emu_qp_table, &emu_flow_table, &emu_devx_table,
	&emu_event_table,
};

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

/* uverbs_process_attr(), IDR and FD */
static int
check_obj(struct emu_call *call, const struct emu_attr_spec *spec,
	  const struct ib_uverbs_attr *attr, struct emu_obj **obj)
{
	int err = 0;

	if (attr->attr_data.reserved != 0 || attr->len != 0)
		return -EINVAL;
	if (spec->access == EMU_OBJ_NEW || spec->kind == EMU_ATTR_FD)
		return 0;
	*obj = emu_obj_find(call->file, attr->data, spec->type, &err);
	return err;
}

static int
check_objs(const struct emu_attr_spec *spec, const struct ib_uverbs_attr *attr)
{
	if (attr->attr_data.reserved != 0 || attr->len % sizeof(uint32_t) != 0)
		return -EINVAL;
	return attr->len / sizeof(uint32_t) > spec->max ? -EINVAL : 0;
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
		return check_objs(spec, attr);
	case EMU_ATTR_ENUM:
		if (attr->attr_data.enum_data.reserved != 0 || attr->len > spec->max)
			return -EINVAL;
		return 0;
	default:
		return check_data(spec, attr);
	}
}

static const struct emu_method *
find_method(uint16_t object, uint16_t method)
{
	for (unsigned int t = 0; t < EMU_COUNT(tables); t++)
		for (unsigned int i = 0; i < tables[t]->n_methods; i++)
			if (tables[t]->methods[i].object == object &&
			    tables[t]->methods[i].method == method)
				return &tables[t]->methods[i];
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
run_method(struct emu_call *call, struct ib_uverbs_ioctl_hdr *hdr)
{
	int err;

	for (unsigned int i = 0; i < hdr->num_attrs; i++) {
		err = set_attr(call, &hdr->attrs[i]);
		if (err != 0)
			return err;
	}
	for (unsigned int i = 0; i < call->method->n; i++)
		if (!call->method->specs[i].optional && call->attrs[i] == NULL)
			return -EINVAL;
	if (!call->method->no_context && !call->file->has_context)
		return -EINVAL; /* ib_uverbs_get_ucontext_file() */
	err = destroy_named(call);
	if (err != 0 || call->method->run == NULL)
		return err;
	return call->method->run(call);
}

int
emu_uapi_ioctl(struct emu_file *file, struct ib_uverbs_ioctl_hdr *hdr)
{
	struct emu_call call = { .file = file, .dev = file->dev };
	int err;

	/* ib_uverbs_ioctl() and ib_uverbs_cmd_verbs() */
	if (hdr->length != sizeof(*hdr) + hdr->num_attrs * sizeof(hdr->attrs[0]))
		return -EINVAL;
	if (hdr->reserved1 != 0 || hdr->reserved2 != 0)
		return -EPROTONOSUPPORT;
	call.method = find_method(hdr->object_id, hdr->method_id);
	if (call.method == NULL) {
		emu_trace("%s: object 0x%x method 0x%x is unknown", file->dev->name,
			  hdr->object_id, hdr->method_id);
		return -EPROTONOSUPPORT;
	}
	if (call.method->driver && hdr->driver_id != RDMA_DRIVER_MLX5)
		return -EINVAL;
	emu_trace("%s: %s", file->dev->name, call.method->name);
	err = run_method(&call, hdr);
	if (err != 0)
		emu_trace("%s: %s -> %s", file->dev->name, call.method->name, strerrorname_np(-err));
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
emu_in_fd(const struct emu_call *call, uint16_t id)
{
	const struct ib_uverbs_attr *attr = attr_of(call, id, NULL);

	return attr == NULL ? -1 : (int)attr->data_s64;
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

	if (err != 0)
		emu_obj_discard(obj);
	else
		attr->data = obj->handle;
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

int
emu_in_objs(const struct emu_call *call, uint16_t id, uint16_t type, struct emu_obj **objs,
	    unsigned int max)
{
	const struct ib_uverbs_attr *attr = attr_of(call, id, NULL);
	unsigned int n = attr == NULL ? 0 : attr->len / sizeof(uint32_t);
	uint32_t handle;
	int err;

	if (n > max)
		return -EINVAL;
	for (unsigned int i = 0; i < n; i++) {
		if (read_attr(attr, i * sizeof(handle), &handle, sizeof(handle)) != 0)
			return -EFAULT;
		objs[i] = emu_obj_find(call->file, handle, type, &err);
		if (objs[i] == NULL)
			return err;
	}
	return n;
}

/* ---- write commands ---- */

const struct emu_write *
emu_write_find(uint32_t cmd)
{
	for (unsigned int t = 0; t < EMU_COUNT(tables); t++)
		for (unsigned int i = 0; i < tables[t]->n_writes; i++)
			if (tables[t]->writes[i].cmd == cmd)
				return &tables[t]->writes[i];
	return NULL;
}
