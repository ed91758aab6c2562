/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi.h"
#include "event.h"
#include "inject.h"

/* A device that goes: what is told, what is refused, what the mappings show. */

#define DM_ACCESS (IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE)

static int
async_fd(struct emu_file *file)
{
	struct abi_call c;

	abi_begin(&c, UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC);
	abi_obj(&c, ABI_NEW_FD, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0, 0);
	assert_int_equal(abi_run(&c, file), 0);
	return (int)abi_got(&c, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE);
}

static void
remove_dev(struct abi *abi)
{
	emu_lock();
	emu_removal_now(&abi->devs[0]);
	emu_unlock();
}

static uint8_t *
map_dm(struct abi *abi, uint16_t index, size_t len)
{
	uint8_t *cpu;

	emu_lock();
	cpu = emu_vma_map(abi->file, NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED,
			  ((uint64_t)(index >> 8) << 16 | 8 << 8 | (index & 0xff)) * 4096);
	emu_unlock();
	return cpu;
}

static void
unmap(void *p, size_t len)
{
	emu_lock();
	munmap(p, len);
	emu_vma_unmapped((uintptr_t)p, len);
	emu_unlock();
}

static void
test_event(void **state)
{
	struct abi *abi = *state;
	struct ib_uverbs_async_event_desc event = { 0 };
	struct emu_file *other = abi_open(&abi->devs[1], true);
	int fd = async_fd(abi->file), other_fd = async_fd(other);
	struct pollfd poll_other = { .fd = other_fd, .events = POLLIN };

	remove_dev(abi);
	assert_int_equal(read(fd, &event, sizeof(event)), sizeof(event));
	assert_int_equal(event.event_type, IBV_EVENT_DEVICE_FATAL);
	assert_int_equal(event.element, 0);
	assert_int_equal(poll(&poll_other, 1, 0), 0);
	assert_false(abi->devs[1].removed);
	close(fd);
	close(other_fd);
	abi_close(other);
}

/* Handles outlive the device: core methods destroy them, the driver's say EIO. */
static void
test_objects(void **state)
{
	struct abi *abi = *state;
	uint32_t pdn, umem_id, lkey, mr, pd = abi_pd(abi->file, &pdn), dm = abi_dm(abi->file, 4096);
	uint32_t cq = abi_cq(abi, abi->file, NULL), wq = abi_wq(abi, abi->file, pd, cq, NULL);
	uint32_t umem = abi_umem(abi->file, abi_pages(abi, 4096), 4096, &umem_id), late;

	assert_int_equal(abi_dm_mr_try(abi->file, pd, dm, 0, 64, DM_ACCESS, &mr, &lkey), 0);
	assert_int_equal(abi_dm_free(abi->file, dm), -EBUSY);
	remove_dev(abi);
	assert_true(LIST_EMPTY(&abi->devs[0].cqs));
	assert_true(LIST_EMPTY(&abi->devs[0].rqs));
	assert_null(emu_mkey_find(&abi->devs[0], lkey));
	assert_int_equal(abi->devs[0].memic.bytes_used, 0);
	assert_int_equal(emu_objects_alive(NULL), 0);

	assert_int_equal(abi_dm_try(abi->file, 64, 0, &late, NULL, NULL), -EIO);
	assert_int_equal(abi_dm_mr_try(abi->file, pd, dm, 0, 64, DM_ACCESS, &late, NULL), -EIO);
	assert_int_equal(abi_destroy(abi->file, MLX5_IB_OBJECT_DEVX_UMEM,
				     MLX5_IB_METHOD_DEVX_UMEM_DEREG,
				     MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, umem), -EIO);
	/* what stood on each other does no longer: any order */
	assert_int_equal(abi_pd_free(abi->file, pd), 0);
	assert_int_equal(abi_pd_free(abi->file, pd), -ENOENT);
	assert_int_equal(abi_cq_free(abi->file, cq), 0);
	assert_int_equal(abi_wq_free(abi->file, wq), 0);
	assert_int_equal(abi_dm_free(abi->file, dm), 0);
	assert_int_equal(abi_mr_free(abi->file, mr), 0);
}

static void
test_write_commands(void **state)
{
	struct abi *abi = *state;
	struct ib_uverbs_alloc_pd in = { 0 };
	struct ib_uverbs_alloc_pd_resp out;
	struct abi_write alloc = { .cmd = IB_USER_VERBS_CMD_ALLOC_PD, .in = &in,
				   .in_len = sizeof(in), .out = &out, .out_len = sizeof(out) };
	struct ib_uverbs_dereg_mr dereg;
	void *page = abi_pages(abi, 4096);
	uint32_t pd = abi_pd(abi->file, NULL);

	assert_int_equal(abi_mr_try(abi->file, pd, (uintptr_t)page, 4096, (uintptr_t)page,
				    IBV_ACCESS_LOCAL_WRITE, &dereg.mr_handle), 0);
	remove_dev(abi);
	assert_int_equal(abi_write(abi->file, &alloc), -EIO);
	assert_int_equal(abi_write(abi->file, &(struct abi_write){
		.cmd = IB_USER_VERBS_CMD_DEREG_MR, .in = &dereg, .in_len = sizeof(dereg) }), 0);
	assert_int_equal(abi_pd_free(abi->file, pd), 0);
}

/* Case 50: CPU loads see zeros. */
static void
test_mappings(void **state)
{
	struct abi *abi = *state;
	uint32_t dm;
	uint16_t index;
	uint8_t *cpu;

	assert_int_equal(abi_dm_try(abi->file, 8192, 0, &dm, &index, NULL), 0);
	cpu = map_dm(abi, index, 8192);
	assert_ptr_not_equal(cpu, MAP_FAILED);
	memset(cpu, 0x55, 8192);
	remove_dev(abi);
	for (size_t i = 0; i < 8192; i++)
		assert_int_equal(cpu[i], 0);
	/* one page stands for all */
	cpu[5] = 7;
	assert_int_equal(cpu[4096 + 5], 7);
	assert_ptr_equal(map_dm(abi, index, 8192), MAP_FAILED);
	assert_int_equal(errno, EIO);
	assert_int_equal(abi_dm_free(abi->file, dm), 0);
	unmap(cpu, 8192);
}

/* Closing takes the handles that were left, which nobody can destroy any more. */
static void
test_close(void **state)
{
	struct abi *abi = *state;
	uint32_t id;

	abi_pd(abi->file, NULL);
	abi_umem(abi->file, abi_pages(abi, 4096), 4096, &id);
	remove_dev(abi);
	abi_close(abi->file);
	abi->file = NULL;
	assert_int_equal(emu_objects_reclaimed, 0);
}

static void
test_by_frames(void **state)
{
	struct abi *abi = *state;
	struct emu_dev *dev = &abi->devs[0];

	emu_engine_stop();
	abi->cfg.fault.remove_frames = 10;
	dev->stats.tx_frames = 4;
	dev->stats.rx_frames = 5;
	emu_removal_poll(dev);
	assert_false(dev->removed);
	dev->stats.rx_frames = 6;
	emu_removal_poll(dev);
	assert_true(dev->removed);
}

static void
test_by_time(void **state)
{
	struct abi *abi = *state;
	struct emu_dev *dev = &abi->devs[0];

	emu_engine_stop();
	abi->cfg.fault.remove_ms = 1000;
	dev->inject.opened_at = emu_clock();
	emu_removal_poll(dev);
	assert_false(dev->removed);
	dev->inject.opened_at -= 1000000000;
	emu_removal_poll(dev);
	assert_true(dev->removed);
	/* no context was opened on the other */
	emu_removal_poll(&abi->devs[1]);
	assert_false(abi->devs[1].removed);
}

/* The device comes back with all its memory; what was opened before knows nothing of it. */
static void
test_return(void **state)
{
	struct abi *abi = *state;
	struct emu_dev *dev = &abi->devs[0];
	uint64_t all = dev->memic.bytes;
	uint32_t dm, again, late, pd = abi_pd(abi->file, NULL);
	struct emu_file *file;
	uint16_t index;
	uint8_t *cpu;

	emu_engine_stop();
	abi->cfg.fault.return_ms = 1000;
	assert_int_equal(abi_dm_try(abi->file, all, 0, &dm, &index, NULL), 0);
	cpu = map_dm(abi, index, all);
	assert_ptr_not_equal(cpu, MAP_FAILED);
	emu_removal_poll(dev);
	assert_false(dev->removed);
	remove_dev(abi);
	emu_removal_poll(dev);
	assert_true(dev->removed);
	dev->inject.removed_at -= 1000000000;
	emu_removal_poll(dev);
	assert_false(dev->removed);

	file = abi_open(dev, true);
	assert_int_equal(abi_dm_try(file, all, 0, &again, NULL, NULL), 0);
	assert_int_equal(abi_dm_try(file, 64, 0, &late, NULL, NULL), -ENOMEM);
	assert_int_equal(abi_dm_try(abi->file, 64, 0, &late, NULL, NULL), -EIO);
	assert_int_equal(cpu[0], 0);
	/* the old device's end gives nothing of the new one back */
	assert_int_equal(abi_dm_free(abi->file, dm), 0);
	unmap(cpu, all);
	assert_int_equal(abi_pd_free(abi->file, pd), 0);
	assert_int_equal(dev->memic.bytes_used, all);
	assert_int_equal(abi_dm_free(file, again), 0);
	assert_int_equal(dev->memic.bytes_used, 0);
	abi_close(file);
}

/* It waits for who had it open. */
static void
test_return_closed(void **state)
{
	struct abi *abi = *state;
	struct emu_dev *dev = &abi->devs[0];
	struct emu_file *other = abi_open(dev, true);

	emu_engine_stop();
	abi->cfg.fault.return_closed = true;
	remove_dev(abi);
	dev->inject.removed_at -= 1000000000;
	emu_removal_poll(dev);
	assert_true(dev->removed);
	abi_close(abi->file);
	emu_removal_poll(dev);
	assert_true(dev->removed);
	abi_close(other);
	emu_removal_poll(dev);
	assert_false(dev->removed);
	/* the other device was open all the time */
	assert_false(abi->devs[1].removed);
	abi->file = abi_open(dev, true);
}

/* It goes once. */
static void
test_stays(void **state)
{
	struct abi *abi = *state;
	struct emu_dev *dev = &abi->devs[0];

	emu_engine_stop();
	abi->cfg.fault.remove_frames = 1;
	abi->cfg.fault.return_ms = 1;
	dev->stats.tx_frames = 1;
	emu_removal_poll(dev);
	assert_true(dev->removed);
	dev->inject.removed_at -= 1000000;
	emu_removal_poll(dev);
	assert_false(dev->removed);
	emu_removal_poll(dev);
	assert_false(dev->removed);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, abi_setup, abi_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_event),
		TEST(test_objects),
		TEST(test_write_commands),
		TEST(test_mappings),
		TEST(test_close),
		TEST(test_by_frames),
		TEST(test_by_time),
		TEST(test_return),
		TEST(test_return_closed),
		TEST(test_stays),
	};

	return cmocka_run_group_tests_name("fault removal", tests, NULL, NULL);
}
