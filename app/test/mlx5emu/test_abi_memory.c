/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "abi.h"
#include "pin.h"

/*
 * Memory runs out where a new object gets its handle: the call fails, and of what it did to
 * the card nothing is left. Linked with --wrap=reallocarray.
 */

static bool fail;

void *__real_reallocarray(void *ptr, size_t n, size_t size);
void *__wrap_reallocarray(void *ptr, size_t n, size_t size);

void *
__wrap_reallocarray(void *ptr, size_t n, size_t size)
{
	return fail ? NULL : __real_reallocarray(ptr, n, size);
}

/* Take all handles there is room for. */
static void
fill_table(struct emu_file *file)
{
	fail = true;
	while (abi_write(file, &(struct abi_write){ .cmd = IB_USER_VERBS_CMD_ALLOC_PD,
			.in = &(struct ib_uverbs_alloc_pd){ 0 },
			.in_len = sizeof(struct ib_uverbs_alloc_pd),
			.out = &(struct ib_uverbs_alloc_pd_resp){ 0 },
			.out_len = sizeof(struct ib_uverbs_alloc_pd_resp) }) == 0)
		;
}

struct card_state {
	uint64_t cqs, sqs, rqs, flows, mkeys, memic, pinned; /* no padding: see memcmp() */
};

static struct card_state
look(const struct emu_dev *dev)
{
	struct card_state s = { .memic = dev->memic.bytes_used, .pinned = emu_pin_pages() };
	const struct emu_cq *cq;
	const struct emu_sq *sq;
	const struct emu_rq *rq;
	const struct emu_flow *flow;

	LIST_FOREACH(cq, &dev->cqs, next)
		s.cqs++;
	LIST_FOREACH(sq, &dev->sqs, next)
		s.sqs++;
	LIST_FOREACH(rq, &dev->rqs, next)
		s.rqs++;
	TAILQ_FOREACH(flow, &dev->flows, next)
		s.flows++;
	for (uint32_t i = 0; i < dev->mkey_slots; i++)
		s.mkeys += dev->mkeys[i] != NULL;
	return s;
}

/* Each good call of a table, on a file whose handles are all given. */
static void
without_handle(struct abi *abi, const struct abi_good *calls, unsigned int n)
{
	struct card_state before, after;
	struct emu_file *file;
	struct abi_call c;
	bool makes;
	int err;

	for (unsigned int i = 0; i < n; i++) {
		file = abi_open(&abi->devs[0], true);
		abi->used = 0;
		calls[i].make(abi, file, &c);
		makes = false;
		for (unsigned int k = 0; k < ABI_ATTRS; k++)
			makes |= k < c.hdr.num_attrs && c.kinds[k].kind == ABI_NEW;
		fill_table(file);
		before = look(&abi->devs[0]);
		err = makes ? abi_run(&c, file) : -ENOMEM;
		after = look(&abi->devs[0]);
		fail = false;
		if (err != -ENOMEM)
			fail_msg("%s: %d, not ENOMEM", calls[i].name, err);
		if (memcmp(&before, &after, sizeof(before)) != 0)
			fail_msg("%s: something is left on the card", calls[i].name);
		abi_close(file);
	}
}

static void
verbs(void **state)
{
	without_handle(*state, abi_verbs_calls, abi_n_verbs_calls);
}

static void
devx(void **state)
{
	without_handle(*state, abi_devx_calls, abi_n_devx_calls);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(verbs, abi_setup, abi_teardown),
		cmocka_unit_test_setup_teardown(devx, abi_setup, abi_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
