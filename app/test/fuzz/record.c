/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * Where the seeds of the target that makes ioctls come from: linked into a test of the
 * ABI, writes what each of its cases does as an input of the target, into the folder
 * $MEMIC_RECORD. So inputs start where calls succeed, with objects on objects.
 */

#include "../mlx5emu/abi.h"
#include "fuzz.h"
#include "ioctl.h"

#define RECORD_MAX 16384        /* as run.py has it */
#define RECORD_MIN(a, b) ((a) < (b) ? (a) : (b))

static struct {
	const struct abi *abi;
	struct emu_file *files[IOCTL_FILES];
	int fds[IOCTL_FDS];
	unsigned int n_fds;
	bool failed;            /* the case does what no input can say, or too much */
	uint8_t bytes[RECORD_MAX];
	size_t n;
} tape;

static void
put(const void *bytes, size_t n)
{
	if (n > sizeof(tape.bytes) - tape.n) {
		tape.failed = true;
		return;
	}
	memcpy(tape.bytes + tape.n, bytes, n);
	tape.n += n;
}

static void
put_u8(uint8_t v)
{
	put(&v, 1);
}

static void
put_u16(uint16_t v)
{
	put(&v, sizeof(v));
}

static uint8_t
slot_of(const struct emu_file *file)
{
	for (uint8_t i = 0; i < IOCTL_FILES; i++)
		if (tape.files[i] == file)
			return i;
	tape.failed = true;
	return 0;
}

/* ---- data ---- */

static uint64_t
place(uint64_t addr)
{
	uint64_t mem = (uintptr_t)tape.abi->mem;

	return addr - mem < ABI_MEM ? ARENA_AT + (addr - mem) % ARENA_USER : addr;
}

/* Numbers that are addresses of the test's memory, of the host's or the card's order. */
static void
move_addresses(uint8_t *data, size_t len)
{
	for (size_t i = 0; i + 8 <= len; i += 4) {
		uint64_t v, le, be;

		memcpy(&v, data + i, 8);
		le = place(v);
		be = htobe64(place(be64toh(v)));
		memcpy(data + i, le != v ? &le : &be, 8);
	}
}

static void
put_data(const struct ib_uverbs_attr *attr, size_t len)
{
	uint8_t data[IOCTL_DATA_MAX] = { 0 };
	uint64_t from = attr->len <= sizeof(attr->data) ? (uintptr_t)&attr->data : attr->data;

	len = RECORD_MIN(len, sizeof(data));
	if (emu_copy_from_user(data, from, RECORD_MIN(attr->len, len)) != 0)
		tape.failed = true;
	move_addresses(data, len);
	put(data, len);
}

static uint8_t
fd_index(int64_t fd)
{
	for (uint8_t i = 0; i < tape.n_fds; i++)
		if (tape.fds[i] == fd)
			return i;
	return IOCTL_FDS - 1;
}

static void
put_fitting(const struct emu_attr_spec *spec, const struct ib_uverbs_attr *attr)
{
	unsigned int which = attr->attr_data.enum_data.elem_id;

	switch (spec->kind) {
	case EMU_ATTR_IN:
		put_data(attr, attr->len);
		break;
	case EMU_ATTR_OBJ:
		if (spec->access != EMU_OBJ_NEW)
			put_u8((uint8_t)attr->data);
		break;
	case EMU_ATTR_FD:
		if (spec->access != EMU_OBJ_NEW)
			put_u8(fd_index(attr->data_s64));
		break;
	case EMU_ATTR_OBJS:
		put_u8((uint8_t)(attr->len / sizeof(uint32_t) % 8));
		put_data(attr, attr->len / sizeof(uint32_t) % 8 * sizeof(uint32_t));
		break;
	case EMU_ATTR_ENUM:
		put_u8((uint8_t)which);
		put_data(attr, which < spec->max ? spec->sizes[which] : which);
		break;
	default:
		break;
	}
}

static void
put_attr(const struct emu_method *method, const struct emu_attr_spec *spec,
	 const struct ib_uverbs_attr *attr)
{
	bool data = spec->kind == EMU_ATTR_IN || spec->kind == EMU_ATTR_OUT;

	if (attr == NULL) {
		put_u8(IOCTL_ABSENT);
	} else if (method->object == UVERBS_OBJECT_DEVICE &&
		   method->method == UVERBS_METHOD_INVOKE_WRITE &&
		   spec->id == UVERBS_ATTR_WRITE_CMD) {
		put_u8(IOCTL_FITS);
		put_u8(ioctl_write_byte(attr->data));
	} else if (data && (spec->min != spec->max || attr->len != spec->min)) {
		put_u8(IOCTL_LENGTH);
		put_u16(attr->len);
		put_fitting(spec, attr);
	} else {
		put_u8(IOCTL_FITS);
		put_fitting(spec, attr);
	}
}

static const struct ib_uverbs_attr *
find(const struct ib_uverbs_ioctl_hdr *hdr, uint16_t id)
{
	for (unsigned int i = 0; i < hdr->num_attrs; i++)
		if (hdr->attrs[i].attr_id == id)
			return &hdr->attrs[i];
	return NULL;
}

/* ---- calls ---- */

int __real_emu_uapi_ioctl(struct emu_file *file, struct ib_uverbs_ioctl_hdr *hdr);
int __wrap_emu_uapi_ioctl(struct emu_file *file, struct ib_uverbs_ioctl_hdr *hdr);
struct emu_file *__real_emu_file_new(struct emu_dev *dev, dev_t st_dev, ino_t st_ino);
struct emu_file *__wrap_emu_file_new(struct emu_dev *dev, dev_t st_dev, ino_t st_ino);
void *__real_emu_vma_map(struct emu_file *file, void *addr, size_t len, int prot, int flags,
			 off_t offset);
void *__wrap_emu_vma_map(struct emu_file *file, void *addr, size_t len, int prot, int flags,
			 off_t offset);
int __real_abi_setup(void **state);
int __wrap_abi_setup(void **state);
int __real_abi_teardown(void **state);
int __wrap_abi_teardown(void **state);

static void
record(const struct emu_file *file, const struct ib_uverbs_ioctl_hdr *hdr)
{
	uint8_t object = ioctl_method_byte(hdr->object_id);
	uint8_t number = ioctl_method_byte(hdr->method_id);
	const struct emu_method *method = ioctl_method(object, number);

	if (method->object != hdr->object_id || method->method != hdr->method_id)
		return;
	put_u8(IOCTL_CALL);
	put_u8(slot_of(file));
	put_u8(object);
	put_u8(number);
	for (unsigned int i = 0; i < method->n; i++)
		put_attr(method, &method->specs[i], find(hdr, method->specs[i].id));
	put_u8(0); /* nothing odd about the header */
}

/* As take_fds() of ioctl_call.c. */
static void
remember_fds(const struct ib_uverbs_ioctl_hdr *hdr)
{
	const struct emu_method *method = ioctl_method(ioctl_method_byte(hdr->object_id),
						       ioctl_method_byte(hdr->method_id));

	for (unsigned int i = 0; i < method->n && tape.n_fds < IOCTL_FDS; i++)
		if (method->specs[i].kind == EMU_ATTR_FD &&
		    method->specs[i].access == EMU_OBJ_NEW)
			tape.fds[tape.n_fds++] =
				(int)find(hdr, method->specs[i].id)->data_s64;
}

/* What the tests of the codec do to headers is an input's own to try. */
static bool
is_whole(const struct ib_uverbs_ioctl_hdr *hdr)
{
	struct abi_call c;
	size_t len;

	if (emu_copy_from_user(&c.hdr, (uintptr_t)hdr, sizeof(c.hdr)) != 0)
		return false;
	len = sizeof(c.hdr) + c.hdr.num_attrs * sizeof(c.hdr.attrs[0]);
	return c.hdr.num_attrs <= ABI_ATTRS && c.hdr.length == len &&
	       emu_copy_from_user(&c.hdr, (uintptr_t)hdr, len) == 0;
}

int
__wrap_emu_uapi_ioctl(struct emu_file *file, struct ib_uverbs_ioctl_hdr *hdr)
{
	bool known = tape.abi != NULL && is_whole(hdr);
	int err;

	if (known)
		record(file, hdr);
	err = __real_emu_uapi_ioctl(file, hdr);
	if (known && err == 0)
		remember_fds(hdr);
	return err;
}

struct emu_file *
__wrap_emu_file_new(struct emu_dev *dev, dev_t st_dev, ino_t st_ino)
{
	struct emu_file *file = __real_emu_file_new(dev, st_dev, st_ino);

	for (uint8_t i = 0; tape.abi != NULL && i < IOCTL_FILES; i++) {
		if (tape.files[i] != NULL)
			continue;
		tape.files[i] = file;
		put_u8(IOCTL_OPEN);
		put_u8((uint8_t)(i | dev->index << 4));
		break;
	}
	return file;
}

void *
__wrap_emu_vma_map(struct emu_file *file, void *addr, size_t len, int prot, int flags,
		   off_t offset)
{
	uint32_t page = (uint32_t)(offset / 4096);

	if (tape.abi != NULL && len > 0) {
		put_u8(IOCTL_MAP);
		put_u8(slot_of(file));
		put_u8((uint8_t)((len - 1) / 4096));
		put(&page, sizeof(page));
	}
	return __real_emu_vma_map(file, addr, len, prot, flags, offset);
}

/* ---- cases ---- */

int
__wrap_abi_setup(void **state)
{
	int ret = __real_abi_setup(state);

	memset(&tape, 0, sizeof(tape));
	tape.abi = *state;
	/* open and with a context when an input begins */
	tape.files[0] = tape.abi->file;
	put_u8(0); /* no fault */
	return ret;
}

static void
save(const char *folder)
{
	static unsigned int number;
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s-%u", folder, program_invocation_short_name, number++);
	file = fopen(path, "we");
	fuzz_expect(file != NULL && fwrite(tape.bytes, 1, tape.n, file) == tape.n &&
		    fclose(file) == 0, "cannot write '%s': %s", path, strerror(errno));
}

int
__wrap_abi_teardown(void **state)
{
	const char *folder = getenv("MEMIC_RECORD");

	tape.abi = NULL;
	if (folder != NULL && !tape.failed)
		save(folder);
	return __real_abi_teardown(state);
}
