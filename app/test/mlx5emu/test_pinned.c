/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * What the card has pinned stays the card's, whatever the process does to its addresses:
 * ib_umem_get() in the kernel's core/umem.c. Run as "mlx5emu -- test_pinned".
 */

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs_port.h"

#define PAGE 4096
/* Its frame lies across the border of two pages. */
#define ACROSS (PAGE - 500)
#define RX (PORT_MEM / 2)

static uint8_t *
anonymous(size_t len)
{
	uint8_t *va = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(va, MAP_FAILED);
	return va;
}

/* Two mappings of one file: what the card writes through one, the other shows. */
static uint8_t *
twice(uint8_t **other)
{
	int fd = memfd_create("test", 0);
	uint8_t *va;

	assert_int_equal(ftruncate(fd, PORT_MEM), 0);
	va = mmap(NULL, PORT_MEM, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	*other = mmap(NULL, PORT_MEM, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(va, MAP_FAILED);
	assert_ptr_not_equal(*other, MAP_FAILED);
	close(fd);
	return va;
}

/* Both completions of a frame that the port hears itself. */
static void
both(struct port *p)
{
	struct ibv_wc wc;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(port_completion(p, &wc), 1);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
	}
}

static void
is_frame(const uint8_t *at, uint64_t id)
{
	uint8_t want[PORT_FRAME];

	port_fill(want, id);
	assert_memory_equal(at, want, PORT_FRAME);
}

static bool
is_mapped(const void *addr)
{
	unsigned char there;

	return mincore((void *)(uintptr_t)addr, PAGE, &there) == 0;
}

/* A private buffer to receive into, when p->mem is on its way. */
static uint8_t *
inbox(struct port *p, struct ibv_mr **mr)
{
	uint8_t *va = anonymous(PAGE);

	*mr = ibv_reg_mr(p->pd, va, PAGE, IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(*mr);
	return va;
}

static void
unmapped(void **state)
{
	uint8_t *other, *mem = twice(&other);
	struct port p;

	(void)state;
	port_open(&p, mem);
	port_fill(mem, 1);
	assert_int_equal(munmap(mem, PORT_MEM), 0);
	assert_false(is_mapped(mem));
	port_receive(&p, 1, p.mr->lkey);
	port_send_at(&p, 1, mem, p.mr->lkey);
	both(&p);
	is_frame(other + RX, 1);
	port_close(&p);
	munmap(other, PORT_MEM);
}

/* A hole of one page of private memory, in the middle of a frame. */
static void
hole(void **state)
{
	uint8_t *mem = anonymous(PORT_MEM), *in;
	struct ibv_mr *mr;
	struct port p;

	(void)state;
	port_open(&p, mem);
	in = inbox(&p, &mr);
	for (unsigned int round = 0; round < 3; round++) {
		port_fill(mem + ACROSS, round);
		if (round == 1)
			assert_int_equal(munmap(mem + 2 * PAGE, PAGE), 0);
		if (round == 2)
			assert_int_equal(munmap(mem + PAGE, PAGE), 0);
		port_receive_at(&p, round, in, mr->lkey);
		port_send_at(&p, round, mem + ACROSS, p.mr->lkey);
		both(&p);
		is_frame(in, round);
	}
	assert_true(is_mapped(mem));
	assert_false(is_mapped(mem + PAGE));
	assert_true(is_mapped(mem + 3 * PAGE));
	/* and into the pieces */
	port_fill(in, 9);
	port_receive_at(&p, 9, mem + ACROSS, p.mr->lkey);
	port_send_at(&p, 9, in, mr->lkey);
	both(&p);
	port_receive_at(&p, 9, in, mr->lkey);
	port_send_at(&p, 9, mem + ACROSS, p.mr->lkey);
	both(&p);
	is_frame(in, 9);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	port_close(&p);
	munmap(in, PAGE);
	munmap(mem, PORT_MEM);
}

/* What is mapped over the pages is the process's alone; one that fails changes nothing. */
static void
replaced(void **state)
{
	uint8_t *mem = anonymous(PORT_MEM), *in;
	struct ibv_mr *mr;
	struct port p;

	(void)state;
	port_open(&p, mem);
	in = inbox(&p, &mr);
	port_fill(mem, 1);
	assert_ptr_equal(mmap(mem, PORT_MEM, PROT_READ, MAP_SHARED | MAP_FIXED, 9999, 0),
			 MAP_FAILED);
	assert_int_equal(errno, EBADF);
	is_frame(mem, 1);
	assert_int_equal(munmap(mem + 1, PAGE), -1);
	assert_int_equal(errno, EINVAL);
	assert_ptr_equal(mmap(mem, PORT_MEM, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), mem);
	memset(mem, 0xaa, PORT_MEM);
	port_receive_at(&p, 1, in, mr->lkey);
	port_send_at(&p, 1, mem, p.mr->lkey);
	both(&p);
	is_frame(in, 1);
	port_receive(&p, 2, p.mr->lkey);
	port_send_at(&p, 2, in, mr->lkey);
	both(&p);
	for (int i = 0; i < PORT_MEM; i++)
		assert_int_equal(mem[i], 0xaa);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	port_close(&p);
	munmap(in, PAGE);
	munmap(mem, PORT_MEM);
}

/* The pages move and the card with them; the end that is cut off stays the card's. */
static void
remapped(void **state)
{
	uint8_t *mem = anonymous(PORT_MEM), *in, *to = anonymous(2 * PORT_MEM);
	struct ibv_mr *mr;
	struct port p;

	(void)state;
	port_open(&p, mem);
	in = inbox(&p, &mr);
	port_fill(mem + RX, 3);
	assert_ptr_equal(mremap(mem, PORT_MEM, RX, MREMAP_MAYMOVE | MREMAP_FIXED, to), to);
	assert_false(is_mapped(mem));
	port_fill(to, 4);
	port_receive_at(&p, 4, in, mr->lkey);
	port_send_at(&p, 4, mem, p.mr->lkey);
	both(&p);
	is_frame(in, 4);
	port_receive_at(&p, 3, in, mr->lkey);
	port_send_at(&p, 3, mem + RX, p.mr->lkey);
	both(&p);
	is_frame(in, 3);
	/* to the moved pages, which the process sees */
	port_fill(in, 5);
	port_receive_at(&p, 5, mem, p.mr->lkey);
	port_send_at(&p, 5, in, mr->lkey);
	both(&p);
	is_frame(to, 5);
	/* a refusal changes nothing */
	assert_ptr_equal(mremap(to, PORT_MEM, PAGE, MREMAP_FIXED, in), MAP_FAILED);
	is_frame(to, 5);
	is_frame(in, 5);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	port_close(&p);
	munmap(in, PAGE);
	munmap(to, 2 * PORT_MEM);
}

static void
given_up(void **state)
{
	uint8_t *mem = anonymous(PORT_MEM), *in;
	struct ibv_mr *mr;
	struct port p;

	(void)state;
	port_open(&p, mem);
	in = inbox(&p, &mr);
	port_fill(mem, 1);
	assert_int_equal(madvise(mem, PAGE, MADV_DONTNEED), 0);
	assert_int_equal(mem[0], 0);
	mem[0] = 0xff;
	port_receive_at(&p, 1, in, mr->lkey);
	port_send_at(&p, 1, mem, p.mr->lkey);
	both(&p);
	is_frame(in, 1);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	port_close(&p);
	munmap(in, PAGE);
	munmap(mem, PORT_MEM);
}

/* Of a file's pages the process finds the same again, which are also the card's. */
static void
shared_given_up(void **state)
{
	uint8_t *other, *mem = twice(&other);
	struct port p;

	(void)state;
	port_open(&p, mem);
	port_fill(mem, 1);
	assert_int_equal(madvise(mem, PORT_MEM, MADV_DONTNEED), 0);
	is_frame(mem, 1);
	port_fill(mem, 2);
	port_receive(&p, 1, p.mr->lkey);
	port_send_at(&p, 1, mem, p.mr->lkey);
	both(&p);
	is_frame(mem + RX, 2);
	is_frame(other + RX, 2);
	port_close(&p);
	munmap(mem, PORT_MEM);
	munmap(other, PORT_MEM);
}

/* Keys over the same pages have the same pages, also when one of them goes. */
static void
several_keys(void **state)
{
	uint8_t *mem = anonymous(PORT_MEM), *in;
	struct ibv_mr *mr, *middle;
	struct port p;

	(void)state;
	port_open(&p, mem);
	in = inbox(&p, &mr);
	middle = ibv_reg_mr(p.pd, mem + 100, 3 * PAGE, IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(middle);
	port_fill(mem + ACROSS, 1);
	assert_int_equal(munmap(mem + PAGE, PAGE), 0);
	assert_int_equal(munmap(mem, PORT_MEM), 0);
	port_fill(in, 2);
	port_receive_at(&p, 2, mem + ACROSS, middle->lkey);
	port_send_at(&p, 2, in, mr->lkey);
	both(&p);
	assert_int_equal(ibv_dereg_mr(middle), 0);
	port_receive_at(&p, 3, in, mr->lkey);
	port_send_at(&p, 3, mem + ACROSS, p.mr->lkey);
	both(&p);
	is_frame(in, 2);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	port_close(&p);
	munmap(in, PAGE);
}

/* Mappings of different kinds side by side under one key. */
static void
patchwork(void **state)
{
	uint8_t *mem = anonymous(PORT_MEM), *in;
	struct ibv_mr *mr;
	struct port p;

	(void)state;
	assert_ptr_equal(mmap(mem + PAGE, PAGE, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0), mem + PAGE);
	port_open(&p, mem);
	in = inbox(&p, &mr);
	port_fill(mem + ACROSS, 1);
	assert_int_equal(munmap(mem, PORT_MEM), 0);
	port_receive_at(&p, 1, in, mr->lkey);
	port_send_at(&p, 1, mem + ACROSS, p.mr->lkey);
	both(&p);
	is_frame(in, 1);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	port_close(&p);
	munmap(in, PAGE);
}

static void
huge(void **state)
{
	const size_t size = 2 << 20;
	uint8_t *mem = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0), *in;
	struct ibv_mr *mr;
	struct port p;

	(void)state;
	if (mem == MAP_FAILED)
		skip();
	port_open(&p, mem + PAGE); /* not from the beginning to the end of the page */
	in = inbox(&p, &mr);
	port_fill(p.mem, 1);
	assert_int_equal(munmap(mem, size), 0);
	port_receive_at(&p, 1, in, mr->lkey);
	port_send_at(&p, 1, p.mem, p.mr->lkey);
	both(&p);
	is_frame(in, 1);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	port_close(&p);
	munmap(in, PAGE);
}

/* Unmapped behind the library's back, as libc does: an error completion, and no crash. */
static void
unseen(void **state)
{
	uint8_t *mem = anonymous(PORT_MEM);
	struct ibv_wc wc;
	struct port p;

	(void)state;
	port_open(&p, mem);
	port_fill(mem, 1);
	assert_int_equal(syscall(SYS_munmap, mem, PAGE), 0);
	port_send_at(&p, 1, mem, p.mr->lkey);
	assert_int_equal(port_completion(&p, &wc), 1);
	assert_int_equal(wc.status, IBV_WC_LOC_PROT_ERR);
	port_close(&p);
	munmap(mem, PORT_MEM);
}

static void
unseen_inbox(void **state)
{
	uint8_t *mem = anonymous(PORT_MEM);
	struct ibv_wc wc;
	struct port p;
	int errors = 0;

	(void)state;
	port_open(&p, mem);
	assert_int_equal(mprotect(mem + RX, PAGE, PROT_NONE), 0);
	port_receive(&p, 1, p.mr->lkey);
	port_send(&p, 2, p.mr->lkey);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(port_completion(&p, &wc), 1);
		errors += wc.status == IBV_WC_LOC_PROT_ERR && wc.wr_id == 1;
	}
	assert_int_equal(errors, 1);
	port_close(&p);
	munmap(mem, PORT_MEM);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unmapped), cmocka_unit_test(hole), cmocka_unit_test(replaced),
		cmocka_unit_test(remapped), cmocka_unit_test(given_up),
		cmocka_unit_test(shared_given_up), cmocka_unit_test(several_keys),
		cmocka_unit_test(patchwork), cmocka_unit_test(huge), cmocka_unit_test(unseen),
		cmocka_unit_test(unseen_inbox),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
