/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event.h"
#include "inject.h"
#include "ioctl.h"
#include "vma.h"

/*
 * The card as the kernel shows it: a program that opens its files, makes any call with
 * any argument, maps and unmaps pages, writes its memory and closes. After each step the
 * references must be consistent, and after the end nothing may be left.
 */
#define MEMIC (128u * 1024)
#define STEPS 256
#define MAPS 8
#define ROUND 16                /* WQEs of a queue that the engine does in a step */

struct map {
	uint8_t *at;
	size_t pages;
};

static struct process process;
static struct map maps[MAPS];

/* First byte of the input: the card's --fault. */
static const char *const faults[] = {
	NULL, "klm=create", "ksm=use", "direct", "ordering=refused", "ordering=demanded",
	"dm-multiple=4096", "memic-held=64K", "memic-run=4K", "start-offset=64", "no-devx",
	"sw-icm", "ioctl=7:ENOMEM", "mkey-use=3", "remove=frames:2", "write-combining",
};

/* ---- files ---- */

static void
open_file(unsigned int slot, unsigned int dev)
{
	static ino_t inode = 1000; /* of no file that exists: only the shim looks files up */

	if (process.files[slot] == NULL)
		process.files[slot] = emu_file_new(&process.card.devs[dev % CARD_DEVS], 0, inode++);
}

static void
get_context(struct emu_file *file)
{
	struct mlx5_ib_alloc_ucontext_req_v2 *req;
	struct ib_uverbs_ioctl_hdr *hdr;

	arena_call_begin();
	hdr = (void *)arena_take(sizeof(*hdr) + sizeof(hdr->attrs[0]));
	req = (void *)arena_take(sizeof(*req));
	*req = (struct mlx5_ib_alloc_ucontext_req_v2){
		.total_num_bfregs = 16, .num_low_latency_bfregs = 4, .max_cqe_version = 1,
		.lib_caps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR,
		.flags = MLX5_IB_ALLOC_UCTX_DEVX,
	};
	*hdr = (struct ib_uverbs_ioctl_hdr){
		.length = sizeof(*hdr) + sizeof(hdr->attrs[0]), .num_attrs = 1,
		.object_id = UVERBS_OBJECT_DEVICE, .method_id = UVERBS_METHOD_GET_CONTEXT,
		.driver_id = RDMA_DRIVER_MLX5,
	};
	hdr->attrs[0] = (struct ib_uverbs_attr){
		.attr_id = UVERBS_ATTR_UHW_IN, .len = sizeof(*req),
		.flags = UVERBS_ATTR_F_MANDATORY, .data = (uintptr_t)req,
	};
	emu_uapi_ioctl(file, hdr);
}

static void
close_file(unsigned int slot)
{
	struct emu_file *file = process.files[slot];

	process.files[slot] = NULL;
	if (file == NULL)
		return;
	file->fds_open = false;
	emu_file_put(file);
}

void
process_close_fd(struct process *p, unsigned int i)
{
	struct stat st;
	int fd = p->fds[i];

	p->fds[i] = -1;
	if (fd < 0)
		return;
	fuzz_expect(fstat(fd, &st) == 0, "event file %d is closed already", fd);
	close(fd);
	emu_channel_closed(st.st_dev, st.st_ino);
}

/* ---- mappings ---- */

static struct map *
free_map(void)
{
	for (unsigned int i = 0; i < MAPS; i++)
		if (maps[i].at == NULL)
			return &maps[i];
	return NULL;
}

static void
map(struct emu_file *file, struct fuzz_in *in)
{
	size_t pages = 1 + fuzz_u8(in) % 32;
	uint64_t offset = fuzz_u32(in);
	struct map *m = free_map();
	void *at;

	if (m == NULL)
		return;
	at = emu_vma_map(file, NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
			 offset * 4096);
	if (at != MAP_FAILED)
		*m = (struct map){ at, pages };
}

static void
unmap(struct map *m, size_t first, size_t pages)
{
	struct map *rest = free_map();

	if (m->at == NULL)
		return;
	first %= m->pages;
	if (pages == 0 || pages > m->pages - first || rest == NULL)
		pages = m->pages - first;
	munmap(m->at + first * 4096, pages * 4096);
	emu_vma_unmapped((uintptr_t)m->at + first * 4096, pages * 4096);
	if (first + pages < m->pages)
		*rest = (struct map){ m->at + (first + pages) * 4096, m->pages - first - pages };
	m->pages = first;
	if (first == 0)
		m->at = NULL;
}

/* ---- the card's own work, as poll_dev() of engine.c ---- */

static void
run_dev(struct emu_dev *dev)
{
	struct emu_sq *sq;
	struct emu_rq *rq;
	struct emu_cq *cq;

	emu_removal_poll(dev);
	if (dev->removed)
		return;
	LIST_FOREACH(sq, &dev->sqs, next)
		emu_sq_run(sq, ROUND);
	LIST_FOREACH(rq, &dev->rqs, next)
		emu_rq_run(rq, ROUND);
	emu_wire_poll(dev);
	LIST_FOREACH(cq, &dev->cqs, next)
		emu_cq_poll_arm(cq);
}

static void
receive(struct emu_dev *dev, struct fuzz_in *in)
{
	uint8_t frame[256];
	size_t len = fuzz_u8(in);

	fuzz_bytes(in, frame, len);
	if (len > 0)
		emu_steer_receive(dev, frame, len);
}

static void
write_memory(struct fuzz_in *in)
{
	uint32_t at = fuzz_u32(in) % ARENA_USER;
	size_t len = fuzz_u8(in);

	if (len > ARENA_USER - at)
		len = ARENA_USER - at;
	fuzz_bytes(in, (uint8_t *)(uintptr_t)ARENA_AT + at, len);
}

/* ---- the run ---- */

static void
step(struct fuzz_in *in)
{
	unsigned int what = fuzz_u8(in) % IOCTL_STEPS, slot = fuzz_u8(in);
	struct emu_file *file = process.files[slot % IOCTL_FILES];

	switch (what) {
	case IOCTL_MEMORY:
		write_memory(in);
		break;
	case IOCTL_RUN:
		run_dev(&process.card.devs[slot % CARD_DEVS]);
		break;
	case IOCTL_OPEN:
		open_file(slot % IOCTL_FILES, slot >> 4);
		break;
	case IOCTL_CLOSE:
		close_file(slot % IOCTL_FILES);
		break;
	case IOCTL_MAP:
		if (file != NULL)
			map(file, in);
		break;
	case IOCTL_UNMAP:
		unmap(&maps[slot % MAPS], fuzz_u8(in), fuzz_u8(in));
		break;
	case IOCTL_CLOSE_FD:
		process_close_fd(&process, slot % IOCTL_FDS);
		break;
	case IOCTL_RECEIVE:
		receive(&process.card.devs[slot % CARD_DEVS], in);
		break;
	default:
		if (file != NULL)
			ioctl_call(&process, file, in);
	}
}

static void
begin(const char *fault)
{
	struct emu_config cfg;
	char err[256];

	emu_config_init(&cfg);
	cfg.wire = EMU_WIRE_LOOP;
	if (fault != NULL)
		fuzz_expect(emu_config_set(&cfg, "fault", fault, err, sizeof(err)) == 0, "%s", err);
	card_init(&process.card, &cfg, MEMIC);
	for (unsigned int i = 0; i < IOCTL_FDS; i++)
		process.fds[i] = -1;
	arena_clear();
	open_file(0, 0);
	get_context(process.files[0]);
}

/* A program that ends: the kernel closes and unmaps what it did not. */
static void
end(void)
{
	for (unsigned int i = 0; i < IOCTL_FILES; i++)
		close_file(i);
	for (unsigned int i = 0; i < MAPS; i++)
		unmap(&maps[i], 0, 0);
	for (unsigned int i = 0; i < IOCTL_FDS; i++)
		process_close_fd(&process, i);
	fuzz_expect(emu_objects_alive(NULL) == 0, "objects are left");
	fuzz_expect(emu_file_next(NULL) == NULL, "files are left");
	card_fini(&process.card);
}

/* The lowest free descriptor: the same before and after, unless one was lost. */
static int
lowest_fd(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	fuzz_expect(fd >= 0, "no descriptor");
	close(fd);
	return fd;
}

/* To see what an input does: MEMIC_TRACE=/dev/stderr fuzz_ioctl INPUT */
int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *trace = getenv("MEMIC_TRACE");

	(void)argc;
	(void)argv;
	if (trace != NULL)
		emu_trace_open(trace);
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, size };
	int fd = lowest_fd();

	begin(faults[fuzz_u8(&in) % (sizeof(faults) / sizeof(faults[0]))]);
	for (unsigned int i = 0; i < STEPS && in.left > 0; i++) {
		step(&in);
		ioctl_check(&process);
	}
	end();
	fuzz_expect(lowest_fd() == fd, "a descriptor is left open");
	return 0;
}
