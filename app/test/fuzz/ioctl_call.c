/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "ioctl.h"

/*
 * A call out of bytes. The method comes from the card's own tables and so do its
 * attributes; for each a byte says how it is given, and zero is the way that passes the
 * codec. So most calls get far, and every one of the codec's refusals is one byte away.
 */
#define MORE_ATTRS 3            /* beyond those of the method */
#define MAX_ATTRS (EMU_MAX_ATTRS + MORE_ATTRS)

struct call {
	struct process *process;
	struct fuzz_in *in;
	const struct emu_method *method;
	struct ib_uverbs_ioctl_hdr *hdr;
	unsigned int n;
};

/* Input data of len bytes, where the codec looks for it. */
static void
put_data(struct call *c, struct ib_uverbs_attr *attr, size_t len)
{
	uint8_t *at;

	if (len > IOCTL_DATA_MAX)
		len = IOCTL_DATA_MAX;
	attr->len = (uint16_t)len;
	if (len <= sizeof(attr->data)) {
		fuzz_bytes(c->in, &attr->data, len);
		return;
	}
	at = arena_take(len);
	fuzz_bytes(c->in, at, len);
	attr->data = (uintptr_t)at;
}

static void
put_room(struct ib_uverbs_attr *attr, size_t len)
{
	if (len > IOCTL_DATA_MAX)
		len = IOCTL_DATA_MAX;
	attr->len = (uint16_t)len;
	attr->data = (uintptr_t)arena_take(len);
}

static size_t
fitting(struct call *c, const struct emu_attr_spec *spec)
{
	return spec->min == spec->max ? spec->min : (size_t)spec->min + fuzz_u8(c->in);
}

static void
put_fitting(struct call *c, const struct emu_attr_spec *spec, struct ib_uverbs_attr *attr)
{
	unsigned int n;

	switch (spec->kind) {
	case EMU_ATTR_IN:
		if (c->method->object == UVERBS_OBJECT_DEVICE &&
		    c->method->method == UVERBS_METHOD_INVOKE_WRITE &&
		    spec->id == UVERBS_ATTR_WRITE_CMD) {
			attr->len = 8;
			attr->data = ioctl_write(fuzz_u8(c->in));
			return;
		}
		put_data(c, attr, fitting(c, spec));
		return;
	case EMU_ATTR_OUT:
		put_room(attr, fitting(c, spec));
		return;
	case EMU_ATTR_OBJ:
		attr->data = spec->access == EMU_OBJ_NEW ? 0 : fuzz_u8(c->in);
		return;
	case EMU_ATTR_FD:
		if (spec->access != EMU_OBJ_NEW)
			attr->data_s64 = c->process->fds[fuzz_u8(c->in) % IOCTL_FDS];
		return;
	case EMU_ATTR_OBJS:
		n = fuzz_u8(c->in) % 8;
		put_data(c, attr, n * sizeof(uint32_t));
		return;
	default:
		n = fuzz_u8(c->in);
		attr->attr_data.enum_data.elem_id = (uint8_t)n;
		put_data(c, attr, n < spec->max ? spec->sizes[n] : n);
	}
}

static struct ib_uverbs_attr *
next_attr(struct call *c, uint16_t id)
{
	struct ib_uverbs_attr *attr = &c->hdr->attrs[c->n++];

	memset(attr, 0, sizeof(*attr));
	attr->attr_id = id;
	attr->flags = UVERBS_ATTR_F_MANDATORY;
	return attr;
}

static void
put_raw(struct call *c, uint16_t id)
{
	struct ib_uverbs_attr *attr = next_attr(c, id);

	attr->len = fuzz_u16(c->in);
	attr->flags = fuzz_u16(c->in);
	attr->attr_data.reserved = fuzz_u16(c->in);
	attr->data = fuzz_u64(c->in);
}

static void
put_attr(struct call *c, const struct emu_attr_spec *spec)
{
	switch (fuzz_u8(c->in) & IOCTL_MASK) {
	case IOCTL_ABSENT:
		break;
	case IOCTL_RAW:
		put_raw(c, spec->id);
		break;
	case IOCTL_LENGTH:
		if (spec->kind == EMU_ATTR_OUT)
			put_room(next_attr(c, spec->id), fuzz_u16(c->in));
		else
			put_data(c, next_attr(c, spec->id), fuzz_u16(c->in));
		break;
	case IOCTL_NOWHERE: {
		struct ib_uverbs_attr *attr = next_attr(c, spec->id);

		attr->len = (uint16_t)(fuzz_u16(c->in) % IOCTL_DATA_MAX);
		attr->data = ARENA_AT - 8;
		break;
	}
	default:
		put_fitting(c, spec, next_attr(c, spec->id));
	}
}

static void
put_header(struct call *c)
{
	unsigned int odd = fuzz_u8(c->in);

	for (unsigned int i = 0; i < odd % (MORE_ATTRS + 1); i++)
		put_raw(c, fuzz_u16(c->in));
	c->hdr->object_id = c->method->object;
	c->hdr->method_id = c->method->method;
	c->hdr->driver_id = RDMA_DRIVER_MLX5;
	c->hdr->num_attrs = (uint16_t)c->n;
	c->hdr->length = (uint16_t)(sizeof(*c->hdr) + c->n * sizeof(c->hdr->attrs[0]));
	if (odd & 0x80) { /* rarely: nothing gets past the checks of the header then */
		c->hdr->length = fuzz_u16(c->in);
		c->hdr->num_attrs = fuzz_u16(c->in);
		c->hdr->reserved1 = fuzz_u8(c->in);
		c->hdr->driver_id = fuzz_u8(c->in);
	}
}

static const struct ib_uverbs_attr *
find_attr(const struct call *c, uint16_t id)
{
	for (unsigned int i = 0; i < c->n; i++)
		if (c->hdr->attrs[i].attr_id == id)
			return &c->hdr->attrs[i];
	return NULL;
}

static void
remember_fd(struct process *process, int fd)
{
	unsigned int i;

	for (i = 0; i < IOCTL_FDS - 1; i++)
		if (process->fds[i] < 0)
			break;
	process_close_fd(process, i);
	process->fds[i] = fd;
}

/* Descriptors that the call made are the program's to close. */
static void
take_fds(const struct call *c)
{
	const struct ib_uverbs_attr *cmd = find_attr(c, UVERBS_ATTR_WRITE_CMD);
	const struct emu_attr_spec *spec = c->method->specs;

	for (; spec < c->method->specs + c->method->n; spec++)
		if (spec->kind == EMU_ATTR_FD && spec->access == EMU_OBJ_NEW)
			remember_fd(c->process, (int)find_attr(c, spec->id)->data_s64);
	if (c->method->object == UVERBS_OBJECT_DEVICE &&
	    c->method->method == UVERBS_METHOD_INVOKE_WRITE &&
	    cmd->data == IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL)
		remember_fd(c->process, *(int *)(uintptr_t)
			    find_attr(c, UVERBS_ATTR_CORE_OUT)->data);
}

void
ioctl_call(struct process *process, struct emu_file *file, struct fuzz_in *in)
{
	struct call c = { .process = process, .in = in };
	uint8_t object = fuzz_u8(in);

	arena_call_begin();
	c.method = ioctl_method(object, fuzz_u8(in));
	c.hdr = (void *)arena_take(sizeof(*c.hdr) + MAX_ATTRS * sizeof(c.hdr->attrs[0]));
	memset(c.hdr, 0, sizeof(*c.hdr));
	for (unsigned int i = 0; i < c.method->n; i++)
		put_attr(&c, &c.method->specs[i]);
	put_header(&c);
	if (emu_uapi_ioctl(file, c.hdr) == 0)
		take_fds(&c);
}
