/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <unistd.h>

#include "abi.h"

/*
 * Every method, every attribute of it, every way to spoil it. What the answer must be
 * follows from uverbs_process_attr(), uverbs_set_attr() and ib_uverbs_run_method() in
 * the kernel's core/uverbs_ioctl.c and the attribute's declaration.
 */

static unsigned int failures, runs;

struct spoil {
	const char *name;
	/* Spoil attribute i; what the answer must be, or SKIP. */
	int (*apply)(struct abi *abi, struct abi_call *c, unsigned int i);
};
#define SKIP 1

static unsigned int
count(struct emu_file *file)
{
	struct emu_obj *obj;
	unsigned int n = 0;

	TAILQ_FOREACH(obj, &file->objects, next)
		n++;
	return n;
}

static bool
makes(const struct abi_call *c, enum abi_kind kind)
{
	for (unsigned int i = 0; i < c->hdr.num_attrs; i++)
		if (c->kinds[i].kind == kind)
			return true;
	return false;
}

static void
check(bool ok, const struct abi_good *good, const char *spoil, unsigned int id, int got, int want)
{
	runs++;
	if (ok)
		return;
	failures++;
	print_error("%s: %s, attribute 0x%x: got %s, want %s\n", good->name, spoil, id,
		    strerrorname_np(-got), strerrorname_np(-want));
}

/* Objects after a call, given how many there were and how the call ended. */
static unsigned int
expected_count(const struct abi_call *c, unsigned int before, int err)
{
	/* a DESTROY method's object goes before its outputs are written */
	if (makes(c, ABI_DESTROY))
		return err == 0 || err == -EFAULT ? before - 1 : before;
	return err == 0 ? before + makes(c, ABI_NEW) + makes(c, ABI_NEW_FD) : before;
}

static void
try_spoil(struct abi *abi, const struct abi_good *good, const struct spoil *spoil, unsigned int i)
{
	struct emu_file *file = abi_open(&abi->devs[0], true);
	unsigned int before;
	uint16_t id;
	struct abi_call c;
	int want, got;

	abi->used = 0;
	good->make(abi, file, &c);
	before = count(file);
	id = c.hdr.attrs[i].attr_id;
	want = spoil->apply(abi, &c, i);
	if (want != SKIP) {
		got = abi_run(&c, file);
		check(got == want, good, spoil->name, id, got, want);
		if (count(file) != expected_count(&c, before, got)) {
			failures++;
			print_error("%s: %s, attribute 0x%x: %u objects became %u\n", good->name,
				    spoil->name, id, before, count(file));
		}
		if (makes(&c, ABI_NEW_FD) && got == 0)
			close((int)c.hdr.attrs[0].data);
	}
	abi_close(file);
}

/* ---- ways to spoil ---- */

static int
nothing(struct abi *abi, struct abi_call *c, unsigned int i)
{
	(void)abi;
	(void)c;
	return i == 0 ? 0 : SKIP;
}

static void
drop(struct abi_call *c, unsigned int i)
{
	c->hdr.num_attrs--;
	c->hdr.length -= sizeof(c->hdr.attrs[0]);
	memmove(&c->hdr.attrs[i], &c->hdr.attrs[i + 1],
		(c->hdr.num_attrs - i) * sizeof(c->hdr.attrs[0]));
	memmove(&c->kinds[i], &c->kinds[i + 1], (c->hdr.num_attrs - i) * sizeof(c->kinds[0]));
}

static int
missing(struct abi *abi, struct abi_call *c, unsigned int i)
{
	struct abi_attr kind = c->kinds[i];

	(void)abi;
	drop(c, i);
	if (kind.flags & ABI_NEEDED)
		return -ENOENT;
	if (kind.flags & ABI_NO_SPACE)
		return -ENOSPC;
	return kind.flags & ABI_OPT ? 0 : -EINVAL;
}

static int
twice(struct abi *abi, struct abi_call *c, unsigned int i)
{
	(void)abi;
	c->hdr.attrs[c->hdr.num_attrs] = c->hdr.attrs[i];
	c->hdr.num_attrs++;
	c->hdr.length += sizeof(c->hdr.attrs[0]);
	return -EINVAL;
}

static bool
is_data(const struct abi_call *c, unsigned int i)
{
	return c->kinds[i].kind == ABI_IN || c->kinds[i].kind == ABI_OUT;
}

static int
shorter(struct abi *abi, struct abi_call *c, unsigned int i)
{
	(void)abi;
	if (!is_data(c, i) || c->hdr.attrs[i].len == 0)
		return SKIP;
	/* 8 bytes or fewer are in the attribute itself, more behind a pointer */
	if (c->kinds[i].kind == ABI_IN && c->hdr.attrs[i].len == 9)
		return SKIP;
	c->hdr.attrs[i].len--;
	return c->kinds[i].flags & ABI_SHORTER ? 0 : -EINVAL;
}

/* Same data with room behind it. */
static uint8_t *
widen(struct abi *abi, struct abi_call *c, unsigned int i)
{
	struct ib_uverbs_attr *attr = &c->hdr.attrs[i];
	uint8_t *copy = abi_mem(abi, attr->len + 16u);

	if (c->kinds[i].kind == ABI_IN)
		memcpy(copy, attr->len <= 8 ? (void *)&attr->data :
		       (void *)(uintptr_t)attr->data, attr->len);
	attr->len += 9;
	attr->data = (uintptr_t)copy;
	return copy;
}

static int
longer(struct abi *abi, struct abi_call *c, unsigned int i)
{
	if (!is_data(c, i))
		return SKIP;
	widen(abi, c, i);
	return c->kinds[i].flags & (ABI_LONGER | ABI_ZERO_TAIL | ABI_EINVAL_TAIL) ? 0 : -EINVAL;
}

static int
dirty_tail(struct abi *abi, struct abi_call *c, unsigned int i)
{
	if (!(c->kinds[i].flags & (ABI_ZERO_TAIL | ABI_EINVAL_TAIL)))
		return SKIP;
	widen(abi, c, i)[c->hdr.attrs[i].len - 1u] = 1;
	return c->kinds[i].flags & ABI_ZERO_TAIL ? -EOPNOTSUPP : -EINVAL;
}

static int
reserved(struct abi *abi, struct abi_call *c, unsigned int i)
{
	(void)abi;
	/* an enumeration's head overlays it: its reserved byte is the second */
	c->hdr.attrs[i].attr_data.enum_data.reserved = 1;
	return -EINVAL;
}

static int
unknown_optional(struct abi *abi, struct abi_call *c, unsigned int i)
{
	(void)abi;
	if (i != 0)
		return SKIP;
	abi_val(c, 0xff0, 1, 4, ABI_OPT);
	return 0;
}

static int
unknown_mandatory(struct abi *abi, struct abi_call *c, unsigned int i)
{
	(void)abi;
	if (i != 0)
		return SKIP;
	abi_val(c, 0xff0, 1, 4, 0);
	return -EPROTONOSUPPORT;
}

static bool
is_handle(const struct abi_call *c, unsigned int i)
{
	return c->kinds[i].kind == ABI_OBJ || c->kinds[i].kind == ABI_DESTROY;
}

static int
no_such_handle(struct abi *abi, struct abi_call *c, unsigned int i)
{
	(void)abi;
	if (!is_handle(c, i))
		return SKIP;
	c->hdr.attrs[i].data = 0xfff0;
	return -ENOENT;
}

/* lookup_get_idr_uobject() */
static int
negative_handle(struct abi *abi, struct abi_call *c, unsigned int i)
{
	(void)abi;
	if (!is_handle(c, i))
		return SKIP;
	c->hdr.attrs[i].data = UINT64_MAX;
	return -EINVAL;
}

/* Handle 0 is a PD and handle 1 a DM in every file of the tables. */
static int
other_type(struct abi *abi, struct abi_call *c, unsigned int i)
{
	(void)abi;
	if (!is_handle(c, i) || (c->kinds[i].flags & ABI_ANY_TYPE))
		return SKIP;
	c->hdr.attrs[i].data = c->hdr.attrs[i].data == 0 ? 1 : 0;
	return -EINVAL;
}

static int
object_with_length(struct abi *abi, struct abi_call *c, unsigned int i)
{
	(void)abi;
	if (is_data(c, i))
		return SKIP;
	c->hdr.attrs[i].len = 4;
	return -EINVAL;
}

/* lookup_get_fd_uobject() */
static int
bad_fd(struct abi *abi, struct abi_call *c, unsigned int i)
{
	(void)abi;
	if (c->kinds[i].kind != ABI_FD)
		return SKIP;
	c->hdr.attrs[i].data_s64 = 0;
	return -EBADF;
}

static int
fault(struct abi *abi, struct abi_call *c, unsigned int i)
{
	(void)abi;
	if (!is_data(c, i) || (c->kinds[i].kind == ABI_IN && c->hdr.attrs[i].len <= 8) ||
	    !abi_hole_is_noticed())
		return SKIP;
	c->hdr.attrs[i].data = abi_hole();
	return -EFAULT;
}

static int
other_driver(struct abi *abi, struct abi_call *c, unsigned int i)
{
	(void)abi;
	c->hdr.driver_id = RDMA_DRIVER_MLX4;
	return i == 0 ? -EINVAL : SKIP;
}

static const struct spoil spoils[] = {
	{ "good", nothing },
	{ "missing", missing },
	{ "twice", twice },
	{ "shorter", shorter },
	{ "longer", longer },
	{ "longer, not zero", dirty_tail },
	{ "reserved set", reserved },
	{ "unknown optional", unknown_optional },
	{ "unknown mandatory", unknown_mandatory },
	{ "no such handle", no_such_handle },
	{ "negative handle", negative_handle },
	{ "another type", other_type },
	{ "object with length", object_with_length },
	{ "bad descriptor", bad_fd },
	{ "fault", fault },
	{ "another driver", other_driver },
};

static void
spoil_all(struct abi *abi, const struct abi_good *good)
{
	struct abi_call c;
	unsigned int n;

	abi->used = 0;
	good->make(abi, abi->file, &c);
	n = c.hdr.num_attrs;
	abi_close(abi->file);
	abi->file = abi_open(&abi->devs[0], true);
	for (unsigned int s = 0; s < EMU_COUNT(spoils); s++)
		for (unsigned int i = 0; i < n; i++)
			try_spoil(abi, good, &spoils[s], i);
}

static void
spoil_table(struct abi *abi, const struct abi_good *calls, unsigned int n)
{
	failures = runs = 0;
	for (unsigned int i = 0; i < n; i++)
		spoil_all(abi, &calls[i]);
	print_message("%u methods, %u calls, %u wrong\n", n, runs, failures);
	assert_int_equal(failures, 0);
}

static void
verbs(void **state)
{
	spoil_table(*state, abi_verbs_calls, abi_n_verbs_calls);
}

static void
devx(void **state)
{
	spoil_table(*state, abi_devx_calls, abi_n_devx_calls);
}

/* ---- before GET_CONTEXT ---- */

/* Handles of a file without context: none; whatever needs the context says EINVAL. */
static int
bare_answer(const struct abi_call *c)
{
	for (unsigned int i = 0; i < c->hdr.num_attrs; i++) {
		if (c->kinds[i].kind == ABI_NEW || c->kinds[i].kind == ABI_NEW_FD)
			return -EINVAL;
		if (is_handle(c, i))
			return -ENOENT;
		if (c->kinds[i].kind == ABI_FD)
			return -EBADF;
	}
	return -EINVAL;
}

static void
without_context(struct abi *abi, const struct abi_good *calls, unsigned int n)
{
	struct emu_file *bare, *file;
	struct abi_call c;
	int got;

	failures = 0;
	for (unsigned int i = 0; i < n; i++) {
		bare = abi_open_bare(&abi->devs[0]);
		file = abi_open(&abi->devs[0], true);
		abi->used = 0;
		calls[i].make(abi, file, &c);
		got = abi_run(&c, bare);
		check(got == bare_answer(&c), &calls[i], "before GET_CONTEXT", 0, got,
		      bare_answer(&c));
		abi_close(file);
		abi_close(bare);
	}
	assert_int_equal(failures, 0);
}

static void
before_context(void **state)
{
	without_context(*state, abi_verbs_calls, abi_n_verbs_calls);
	without_context(*state, abi_devx_calls, abi_n_devx_calls);
}

/* ---- whether none was forgotten ---- */

static bool
is_called(struct abi *abi, const struct emu_method *m, const struct abi_good *calls, unsigned int n)
{
	struct emu_file *file = abi_open(&abi->devs[0], true);
	struct abi_call c = { 0 };
	bool found = false;

	for (unsigned int i = 0; i < n && !found; i++) {
		abi->used = 0;
		abi_close(file);
		file = abi_open(&abi->devs[0], true);
		calls[i].make(abi, file, &c);
		found = c.hdr.object_id == m->object && c.hdr.method_id == m->method;
	}
	abi_close(file);
	return found;
}

/* GET_CONTEXT wants a file of its own, and this card has no UARs to ask for. */
static bool
is_tested_elsewhere(const struct emu_method *m)
{
	return m->no_context || (m->object == MLX5_IB_OBJECT_DEVX &&
				 m->method == MLX5_IB_METHOD_DEVX_QUERY_UAR);
}

static void
every_method(void **state)
{
	unsigned int methods = 0;

	failures = 0;
	for (unsigned int t = 0; t < emu_n_tables; t++)
		for (unsigned int i = 0; i < emu_tables[t]->n_methods; i++) {
			const struct emu_method *m = &emu_tables[t]->methods[i];

			methods++;
			if (is_tested_elsewhere(m) ||
			    is_called(*state, m, abi_verbs_calls, abi_n_verbs_calls) ||
			    is_called(*state, m, abi_devx_calls, abi_n_devx_calls))
				continue;
			failures++;
			print_error("%s has no good call in abi_calls.c or abi_devx_calls.c\n",
				    m->name);
		}
	print_message("%u methods\n", methods);
	assert_true(methods > 0);
	assert_int_equal(failures, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(verbs, abi_setup, abi_teardown),
		cmocka_unit_test_setup_teardown(devx, abi_setup, abi_teardown),
		cmocka_unit_test_setup_teardown(before_context, abi_setup, abi_teardown),
		cmocka_unit_test_setup_teardown(every_method, abi_setup, abi_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
