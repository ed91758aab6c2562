/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <sys/mman.h>

#include "abi.h"

/*
 * Device pages in the address space. What the shim does around the system calls is
 * done here by hand.
 */

#define PAGE 4096ul
/* mlx5_entry_to_mmap_offset(); libmlx5's get_device_memory_offset */
#define DM_OFFSET(index) ((((index) >> 8) << 16 | EMU_MMAP_DEVICE_MEM << 8 | \
			   ((index) & 0xff)) * (uint64_t)PAGE)

static uint8_t *
map(struct emu_file *file, void *at, size_t len, int prot, int flags, uint64_t off)
{
	void *va;

	emu_lock();
	va = emu_vma_map(file, at, len, prot, flags, off);
	emu_unlock();
	return va == MAP_FAILED ? NULL : va;
}

static void
unmap(void *va, size_t len)
{
	assert_int_equal(munmap(va, len), 0);
	emu_lock();
	emu_vma_unmapped((uintptr_t)va, len);
	emu_unlock();
}

/* Three pages of device memory, mapped. */
static uint8_t *
three_pages(struct abi *abi, uint32_t *dm)
{
	uint16_t index;
	uint8_t *va;

	assert_int_equal(abi_dm_try(abi->file, 3 * PAGE, 0, dm, &index, NULL), 0);
	va = map(abi->file, NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, DM_OFFSET(index));
	assert_non_null(va);
	return va;
}

static uint64_t
used(const struct abi *abi)
{
	return abi->devs[0].memic.bytes_used;
}

static void
refusals(void **state)
{
	struct abi *abi = *state;
	struct emu_file *other = abi_open(&abi->devs[0], false);
	const int rw = PROT_READ | PROT_WRITE;
	uint16_t index;
	uint32_t dm;
	uint8_t *va;

	assert_int_equal(abi_dm_try(abi->file, PAGE + 1, 0, &dm, &index, NULL), 0);
	const struct {
		struct emu_file *file;
		size_t len;
		int prot, flags;
		uint64_t off;
	} bad[] = {
		{ abi->file, PAGE, rw, MAP_SHARED, DM_OFFSET(index) },          /* part */
		{ abi->file, 3 * PAGE, rw, MAP_SHARED, DM_OFFSET(index) },      /* more */
		{ abi->file, PAGE, rw, MAP_SHARED, DM_OFFSET(index + 1) },      /* inside */
		{ abi->file, 2 * PAGE, rw, MAP_PRIVATE, DM_OFFSET(index) },
		{ abi->file, 2 * PAGE, rw | PROT_EXEC, MAP_SHARED, DM_OFFSET(index) },
		{ abi->file, 2 * PAGE, rw, MAP_SHARED, DM_OFFSET(index) + 64 },
		{ abi->file, 2 * PAGE, rw, MAP_SHARED, DM_OFFSET(index + 7) },  /* none */
		{ abi->file, 2 * PAGE, rw, MAP_SHARED, 0 },
		{ abi->file, PAGE, rw, MAP_SHARED, 5ull * 256 * PAGE },         /* core clock */
		{ other, 2 * PAGE, rw, MAP_SHARED, DM_OFFSET(index) },  /* another context */
	};

	for (unsigned int i = 0; i < EMU_COUNT(bad); i++) {
		errno = 0;
		if (map(bad[i].file, NULL, bad[i].len, bad[i].prot, bad[i].flags, bad[i].off) !=
		    NULL || errno != EINVAL)
			fail_msg("mapping %u: errno %d", i, errno);
	}
	va = map(abi->file, NULL, PAGE + 1, rw, MAP_SHARED, DM_OFFSET(index));
	assert_non_null(va);
	unmap(va, PAGE + 1);
	va = map(abi->file, NULL, 2 * PAGE, PROT_READ, MAP_SHARED, DM_OFFSET(index));
	assert_non_null(va);
	unmap(va, 2 * PAGE);
	abi_close(other);
}

/* The index counts mmap pages of one context; where the memory is nobody is told. */
static void
index_is_no_page(void **state)
{
	struct abi *abi = *state;
	struct emu_file *other = abi_open(&abi->devs[0], false);
	uint16_t a, b, c;
	uint32_t dm;

	assert_int_equal(abi_dm_try(abi->file, 2 * PAGE, 0, &dm, &a, NULL), 0);
	assert_int_equal(abi_dm_try(abi->file, PAGE, 0, &dm, &b, NULL), 0);
	assert_int_equal(abi_dm_try(other, PAGE, 0, &dm, &c, NULL), 0);
	assert_int_equal(b, a + 2);
	assert_int_equal(c, a); /* its first one, though the memory is another */
	abi_close(other);
}

static void
busy_until_last_unmap(void **state)
{
	struct abi *abi = *state;
	uint32_t dm;
	uint8_t *va = three_pages(abi, &dm);

	assert_int_equal(used(abi), 3 * PAGE);
	assert_int_equal(abi_dm_free(abi->file, dm), 0);
	assert_int_equal(used(abi), 3 * PAGE);
	va[2 * PAGE] = 1; /* still there */
	unmap(va + PAGE, PAGE); /* the middle: two mappings now */
	assert_int_equal(used(abi), 3 * PAGE);
	unmap(va, PAGE);
	assert_int_equal(used(abi), 3 * PAGE);
	unmap(va + 2 * PAGE, 1); /* lengths count in pages */
	assert_int_equal(used(abi), 0);
}

static void
moved(void **state)
{
	struct abi *abi = *state;
	uint8_t *place = mmap(NULL, 4 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *to;
	uint32_t dm, mr, pd = abi_pd(abi->file, NULL);
	uint8_t *va = three_pages(abi, &dm);

	/* two pages go elsewhere, one stays */
	to = mremap(va + PAGE, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place);
	assert_ptr_equal(to, place);
	emu_lock();
	emu_vma_moved((uintptr_t)va + PAGE, 2 * PAGE, (uintptr_t)to, 2 * PAGE);
	emu_unlock();
	assert_int_equal(abi_mr_try(abi->file, pd, (uintptr_t)to, 64, (uintptr_t)to, 0, &mr),
			 -EFAULT);
	assert_int_equal(abi_dm_free(abi->file, dm), 0);
	unmap(va, PAGE);
	assert_int_equal(used(abi), 3 * PAGE);
	unmap(to, 2 * PAGE);
	assert_int_equal(used(abi), 0);
	munmap(place, 4 * PAGE);
}

static void
mapped_over(void **state)
{
	struct abi *abi = *state;
	uint32_t dm;
	uint8_t *va = three_pages(abi, &dm);

	/* a fixed mapping of something else takes the place */
	assert_ptr_equal(mmap(va, 3 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
			      -1, 0), va);
	emu_lock();
	emu_vma_unmapped((uintptr_t)va, 3 * PAGE);
	assert_false(emu_vma_overlaps((uintptr_t)va, 3 * PAGE));
	emu_unlock();
	assert_int_equal(abi_dm_free(abi->file, dm), 0);
	assert_int_equal(used(abi), 0);
	munmap(va, 3 * PAGE);
}

/* Two mappings of one DM show the same bytes, and the card's. */
static void
same_bytes(void **state)
{
	struct abi *abi = *state;
	uint16_t index;
	uint32_t dm;
	uint8_t *a, *b;

	assert_int_equal(abi_dm_try(abi->file, PAGE, 0, &dm, &index, NULL), 0);
	a = map(abi->file, NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, DM_OFFSET(index));
	b = map(abi->file, NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, DM_OFFSET(index));
	assert_true(a != NULL && b != NULL && a != b);
	a[100] = 0x5a;
	assert_int_equal(b[100], 0x5a);
	unmap(a, PAGE);
	assert_int_equal(abi_dm_free(abi->file, dm), 0);
	assert_int_equal(used(abi), PAGE);
	unmap(b, PAGE);
	assert_int_equal(used(abi), 0);
}

/* A mapping holds the file, as vma->vm_file does: closing releases nothing yet. */
static void
file_closed_first(void **state)
{
	struct abi *abi = *state;
	struct emu_file *file = abi->file;
	uint32_t dm;
	uint8_t *va = three_pages(abi, &dm);

	abi->file = NULL;
	abi_close(file);
	assert_int_equal(used(abi), 3 * PAGE);
	assert_int_equal(emu_objects_reclaimed, 0);
	assert_int_equal(emu_objects_alive(NULL), 1);
	unmap(va, 3 * PAGE);
	assert_int_equal(used(abi), 0);
	assert_int_equal(emu_objects_reclaimed, 1);
}

static void
remap_refusals(void **state)
{
	struct abi *abi = *state;
	uint32_t dm;
	uint8_t *va = three_pages(abi, &dm);
	const uintptr_t at = (uintptr_t)va;

	assert_int_equal(emu_vma_remap_check(at, 3 * PAGE, 3 * PAGE, MREMAP_MAYMOVE), 0);
	assert_int_equal(emu_vma_remap_check(at, 3 * PAGE, PAGE, 0), 0);
	assert_int_equal(emu_vma_remap_check(at + PAGE, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE), 0);
	assert_int_equal(emu_vma_remap_check(at, 3 * PAGE, 4 * PAGE, MREMAP_MAYMOVE), -EFAULT);
	assert_int_equal(emu_vma_remap_check(at, 2 * PAGE, 3 * PAGE, MREMAP_MAYMOVE), -EFAULT);
	assert_int_equal(emu_vma_remap_check(at, 0, PAGE, MREMAP_MAYMOVE), -EFAULT);
	assert_int_equal(emu_vma_remap_check(at, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE), -EFAULT);
	assert_int_equal(emu_vma_remap_check(at, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP),
			 -EINVAL);
	assert_int_equal(emu_vma_remap_check((uintptr_t)abi->mem, PAGE, 9 * PAGE, 0), 0);
	unmap(va, 3 * PAGE);
}

static void
uar(void **state)
{
	struct abi *abi = *state;
	uint64_t off, handle;
	uint32_t len, page;
	struct abi_call c;
	uint8_t *va;

	for (int type = MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF; type <= 2; type++) {
		abi_begin(&c, MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC);
		abi_obj(&c, ABI_NEW, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 0, 0);
		abi_val(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, type, 8, 0);
		abi_out(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, &off, 8, 0);
		abi_out(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &len, 4, 0);
		abi_out(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, &page, 4, 0);
		if (type > MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC) {
			assert_int_equal(abi_run(&c, abi->file), -EOPNOTSUPP);
			break;
		}
		assert_int_equal(abi_run(&c, abi->file), 0);
		handle = abi_got(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE);
		va = map(abi->file, NULL, len, PROT_WRITE, MAP_SHARED, off);
		assert_non_null(va);
		assert_int_equal(abi_destroy(abi->file, MLX5_IB_OBJECT_UAR,
					     MLX5_IB_METHOD_UAR_OBJ_DESTROY,
					     MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, handle), 0);
		va[0x800] = 1; /* the page outlives the object */
		unmap(va, len);
	}
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, abi_setup, abi_teardown)
	const struct CMUnitTest tests[] = {
		TEST(refusals), TEST(index_is_no_page), TEST(busy_until_last_unmap), TEST(moved),
		TEST(mapped_over), TEST(same_bytes), TEST(file_closed_first),
		TEST(remap_refusals), TEST(uar),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
