/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <linux/capability.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "abi.h"

struct emu_dev *emu_devs;
unsigned int emu_dev_count;

static const struct emu_preset preset = { .name = "test", .device_id = 0x101d };

/* ---- the fixture ---- */

static void
make_dev(struct abi *abi, unsigned int i)
{
	struct emu_dev *dev = &abi->devs[i];

	emu_dev_init(dev, i, &abi->cfg);
	dev->preset = &preset;
	dev->next_num = 0x40;
	snprintf(dev->name, sizeof(dev->name), "mlx5_%u", i);
	assert_int_equal(emu_memic_init(&dev->memic, ABI_MEMIC), 0);
}

int
abi_setup_closed(void **state)
{
	struct abi *abi = calloc(1, sizeof(*abi));

	assert_non_null(abi);
	emu_config_init(&abi->cfg);
	abi->cfg.wire = EMU_WIRE_LOOP;
	make_dev(abi, 0);
	make_dev(abi, 1);
	emu_devs = abi->devs;
	emu_dev_count = 2;
	abi->mem = mmap(NULL, ABI_MEM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(abi->mem, MAP_FAILED);
	emu_objects_reclaimed = 0;
	*state = abi;
	return 0;
}

int
abi_setup(void **state)
{
	struct abi *abi;

	abi_setup_closed(state);
	abi = *state;
	abi->file = abi_open(&abi->devs[0], true);
	return 0;
}

static void
free_dev(struct emu_dev *dev)
{
	assert_true(LIST_EMPTY(&dev->cqs));
	assert_true(LIST_EMPTY(&dev->sqs));
	assert_true(LIST_EMPTY(&dev->rqs));
	assert_true(TAILQ_EMPTY(&dev->flows));
	assert_int_equal(dev->memic.bytes_used, 0);
	if (dev->wire != NULL)
		emu_wire_close(dev);
	munmap(dev->memic.va, (size_t)dev->memic.pages * 4096);
	close(dev->memic.fd);
	free(dev->memic.page_used);
	free(dev->mkeys);
}

int
abi_teardown(void **state)
{
	struct abi *abi = *state;

	emu_engine_stop();
	if (abi->file != NULL)
		abi_close(abi->file);
	assert_int_equal(emu_objects_alive(NULL), 0);
	free_dev(&abi->devs[0]);
	free_dev(&abi->devs[1]);
	munmap(abi->mem, ABI_MEM);
	free(abi);
	return 0;
}

struct emu_file *
abi_open_bare(struct emu_dev *dev)
{
	static ino_t inode = 1000; /* of no memfd: only the shim looks files up */
	struct emu_file *file;

	emu_lock();
	file = emu_file_new(dev, 0, inode++);
	emu_unlock();
	assert_non_null(file);
	return file;
}

struct emu_file *
abi_open(struct emu_dev *dev, bool devx)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req = {
		.total_num_bfregs = 16, .num_low_latency_bfregs = 4, .max_cqe_version = 1,
		.lib_caps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR,
		.flags = devx ? MLX5_IB_ALLOC_UCTX_DEVX : 0,
	};
	struct mlx5_ib_alloc_ucontext_resp resp;
	struct emu_file *file = abi_open_bare(dev);
	struct abi_call c;

	abi_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	abi_in(&c, UVERBS_ATTR_UHW_IN, &req, sizeof(req), 0);
	abi_out(&c, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp), 0);
	assert_int_equal(abi_run(&c, file), 0);
	return file;
}

void
abi_close(struct emu_file *file)
{
	emu_lock();
	file->fds_open = false;
	emu_file_put(file);
	emu_unlock();
}

void *
abi_mem(struct abi *abi, size_t len)
{
	uint8_t *p = abi->mem + abi->used;

	abi->used += (len + 63) / 64 * 64;
	assert_true(abi->used <= ABI_MEM);
	memset(p, 0, len);
	return p;
}

void *
abi_pages(struct abi *abi, size_t len)
{
	abi->used = (abi->used + 4095) / 4096 * 4096;
	return abi_mem(abi, len);
}

uint64_t
abi_hole(void)
{
	static void *hole;

	if (hole == NULL) /* reserved, so that nothing else comes there */
		hole = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(hole, MAP_FAILED);
	return (uintptr_t)hole;
}

/* qemu's emulation of a process has no process_vm_readv(2), by which the card copies. */
bool
abi_hole_is_noticed(void)
{
	uint8_t byte;
	struct iovec local = { &byte, 1 }, remote = { (void *)(uintptr_t)abi_hole(), 1 };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) < 0 && errno == EFAULT;
}

/* ---- calls ---- */

void
abi_begin(struct abi_call *c, uint16_t object, uint16_t method)
{
	memset(c, 0, sizeof(*c));
	c->hdr.object_id = object;
	c->hdr.method_id = method;
	c->hdr.driver_id = RDMA_DRIVER_MLX5;
	c->hdr.length = sizeof(c->hdr);
}

static struct ib_uverbs_attr *
add(struct abi_call *c, uint16_t id, enum abi_kind kind, unsigned int flags)
{
	unsigned int i = c->hdr.num_attrs++;

	assert_true(i < ABI_ATTRS);
	c->hdr.length += sizeof(c->hdr.attrs[0]);
	c->hdr.attrs[i].attr_id = id;
	c->hdr.attrs[i].flags = flags & ABI_OPT ? 0 : UVERBS_ATTR_F_MANDATORY;
	c->kinds[i] = (struct abi_attr){ kind, flags };
	return &c->hdr.attrs[i];
}

void
abi_in(struct abi_call *c, uint16_t id, const void *data, size_t len, unsigned int flags)
{
	struct ib_uverbs_attr *attr = add(c, id, ABI_IN, flags);

	attr->len = len;
	if (len <= sizeof(attr->data))
		memcpy(&attr->data, data, len);
	else
		attr->data = (uintptr_t)data;
}

void
abi_val(struct abi_call *c, uint16_t id, uint64_t value, size_t len, unsigned int flags)
{
	abi_in(c, id, &value, len, flags);
}

void
abi_out(struct abi_call *c, uint16_t id, void *data, size_t len, unsigned int flags)
{
	struct ib_uverbs_attr *attr = add(c, id, ABI_OUT, flags);

	attr->len = len;
	attr->data = (uintptr_t)data;
}

void
abi_obj(struct abi_call *c, enum abi_kind kind, uint16_t id, uint64_t handle, unsigned int flags)
{
	add(c, id, kind, flags)->data = handle;
}

void
abi_enum(struct abi_call *c, uint16_t id, uint8_t which, uint64_t value, size_t len)
{
	abi_val(c, id, value, len, 0);
	abi_attr(c, id)->attr_data.enum_data.elem_id = which;
}

int
abi_run(struct abi_call *c, struct emu_file *file)
{
	int err;

	emu_lock();
	err = emu_uapi_ioctl(file, &c->hdr);
	emu_unlock();
	return err;
}

struct ib_uverbs_attr *
abi_attr(struct abi_call *c, uint16_t id)
{
	for (unsigned int i = 0; i < c->hdr.num_attrs; i++)
		if (c->hdr.attrs[i].attr_id == id)
			return &c->hdr.attrs[i];
	fail_msg("no attribute 0x%x", id);
	return NULL;
}

uint64_t
abi_got(const struct abi_call *c, uint16_t id)
{
	return abi_attr((struct abi_call *)(uintptr_t)c, id)->data;
}

int
abi_destroy(struct emu_file *file, uint16_t object, uint16_t method, uint16_t id, uint64_t handle)
{
	struct abi_call c;

	abi_begin(&c, object, method);
	abi_obj(&c, ABI_DESTROY, id, handle, 0);
	return abi_run(&c, file);
}

static void
write_call(struct abi_call *c, const struct abi_write *w)
{
	abi_begin(c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	abi_val(c, UVERBS_ATTR_WRITE_CMD, w->cmd, 8, 0);
	if (w->in != NULL)
		abi_in(c, UVERBS_ATTR_CORE_IN, w->in, w->in_len, 0);
	if (w->out != NULL)
		abi_out(c, UVERBS_ATTR_CORE_OUT, w->out, w->out_len, 0);
	if (w->uhw_in != NULL)
		abi_in(c, UVERBS_ATTR_UHW_IN, w->uhw_in, w->uhw_in_len, 0);
	if (w->uhw_out != NULL)
		abi_out(c, UVERBS_ATTR_UHW_OUT, w->uhw_out, w->uhw_out_len, 0);
}

int
abi_write(struct emu_file *file, const struct abi_write *w)
{
	struct abi_call c;

	write_call(&c, w);
	return abi_run(&c, file);
}

/* ---- without a capability ---- */

struct caps_job {
	struct abi_call *c;
	struct emu_file *file;
	int cap, err;
};

static void
get_caps(struct __user_cap_header_struct *hdr, struct __user_cap_data_struct *data)
{
	*hdr = (struct __user_cap_header_struct){ .version = _LINUX_CAPABILITY_VERSION_3 };
	assert_int_equal(syscall(SYS_capget, hdr, data), 0);
}

bool
abi_can_lose(int cap)
{
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	struct __user_cap_header_struct hdr;

	get_caps(&hdr, data);
	return data[CAP_TO_INDEX(cap)].effective & CAP_TO_MASK(cap);
}

static void *
caps_thread(void *arg)
{
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	struct __user_cap_header_struct hdr;
	struct caps_job *job = arg;

	get_caps(&hdr, data);
	data[CAP_TO_INDEX(job->cap)].effective &= ~CAP_TO_MASK(job->cap);
	/* of this thread alone: the system call, not the library's */
	job->err = syscall(SYS_capset, &hdr, data) == 0 ? abi_run(job->c, job->file) : -errno;
	return NULL;
}

int
abi_run_without(struct abi_call *c, struct emu_file *file, int cap)
{
	struct caps_job job = { .c = c, .file = file, .cap = cap };
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, caps_thread, &job), 0);
	pthread_join(thread, NULL);
	return job.err;
}

int
abi_write_without(struct emu_file *file, const struct abi_write *w, int cap)
{
	struct abi_call c;

	write_call(&c, w);
	return abi_run_without(&c, file, cap);
}
