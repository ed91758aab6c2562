/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * Case 25, where it is memory that the driver does not get: what it says, and that nothing
 * is lost. The program's own definitions come before those of EAL and libc. The whole loop
 * over all that may fail is in app/test/e2e/steps.
 */

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>

#include "fixture.h"

#define N 256u

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OWN_HEAP false /* the sanitizer's, then */
#else
#define OWN_HEAP true
#endif

static unsigned int eal_fails, heap_fails; /* which of the driver's next calls does */
static unsigned int failed;
static long long all_slots;
static char devargs[128];

static bool
fails(unsigned int *countdown, const void *caller)
{
	Dl_info info;

	if (*countdown == 0 || dladdr(caller, &info) == 0 ||
	    strstr(info.dli_fname, "mlx5_memic") == NULL || --*countdown != 0)
		return false;
	failed++;
	return true;
}

void *
rte_zmalloc_socket(const char *type, size_t size, unsigned int align, int socket)
{
	static __typeof__(rte_zmalloc_socket) *genuine;

	if (genuine == NULL)
		*(void **)&genuine = dlsym(RTLD_NEXT, "rte_zmalloc_socket");
	return fails(&eal_fails, __builtin_return_address(0)) ? NULL :
		genuine(type, size, align, socket);
}

static bool no_iterator;

int
rte_dev_iterator_init(struct rte_dev_iterator *it, const char *str)
{
	static __typeof__(rte_dev_iterator_init) *genuine;

	if (genuine == NULL)
		*(void **)&genuine = dlsym(RTLD_NEXT, "rte_dev_iterator_init");
	if (!no_iterator)
		return genuine(it, str);
	memset(it, 0, sizeof(*it));
	rte_errno = ENOMEM;
	return -ENOMEM;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);

void *
malloc(size_t size)
{
	if (!fails(&heap_fails, __builtin_return_address(0)))
		return __libc_malloc(size);
	errno = ENOMEM;
	return NULL;
}

void *
calloc(size_t n, size_t size)
{
	if (!fails(&heap_fails, __builtin_return_address(0)))
		return __libc_calloc(n, size);
	errno = ENOMEM;
	return NULL;
}
#endif

static int
nothing_fails(void **state)
{
	(void)state;
	eal_fails = 0;
	heap_fails = 0;
	no_iterator = false;
	failed = 0;
	return 0;
}

static void
assert_all_slots(const char *name)
{
	struct rte_mempool *mp = make_pool(name, N, OPS);

	assert_int_equal(pool_number(name, "device_slots"), all_slots);
	assert_int_equal(rte_mempool_avail_count(mp), N);
	rte_mempool_free(mp);
}

/* Each piece of memory that a pool wants: the creation fails, and says for want of what. */
static void
pool_says_what_it_wants(void **state)
{
	struct rte_mempool *mp;
	unsigned int n;
	const char *log;

	(void)state;
	for (n = 1;; n++) {
		failed = 0;
		eal_fails = n;
		log_begin();
		mp = rte_pktmbuf_pool_create_by_ops("wants", N, 32, 0, ROOM, SOCKET_ID_ANY, OPS);
		log = log_end();
		eal_fails = 0;
		if (failed == 0)
			break;
		assert_null(mp);
		assert_int_equal(rte_errno, ENOMEM);
		assert_non_null(strstr(log, "pool wants not created (ENOMEM): EAL has no memory "
				       "for "));
		assert_all_slots("after");
	}
	/* what is known of it and its list; with device memory its tables and caches, too */
	assert_int_equal(n - 1, all_slots == 0 ? 2 : 7);
	assert_non_null(mp);
	rte_mempool_free(mp);
}

/* One heap may have what the other has not; so no slot is lost when a pool ends. */
static void
pool_ends_without_memory(void **state)
{
	struct rte_mempool *mp;
	const char *log;

	(void)state;
	if (!OWN_HEAP || all_slots == 0)
		skip();
	mp = make_pool("ends", N, OPS);
	log_begin();
	heap_fails = 1;
	rte_mempool_free(mp);
	log = log_end();
	assert_int_equal(failed, 1);
	assert_null(strstr(log, "still out"));
	assert_all_slots("after");
}

static size_t
eal_memory(void)
{
	struct rte_malloc_socket_stats stats;

	assert_int_equal(rte_malloc_get_socket_stats(0, &stats), 0);
	return stats.heap_allocsz_bytes;
}

/* The PMD is told of the end of the memory, though EAL's devices cannot be looked through. */
static void
region_ends_without_memory(void **state)
{
	struct rte_mempool *mp;
	size_t before;

	(void)state;
	if (all_slots == 0)
		skip();
	assert_all_slots("before");
	before = eal_memory();
	mp = make_pool("ends", N, OPS);
	no_iterator = true;
	rte_mempool_free(mp);
	no_iterator = false;
	assert_int_equal(eal_memory(), before);
}

/* The mbufs are where they belong when the pool is there, as a port may register it then. */
static void
mbufs_are_pinned_without_memory(void **state)
{
	struct rte_mempool *mp;
	unsigned int n, most;

	(void)state;
	if (!OWN_HEAP || all_slots == 0)
		skip();
	/* the last ones are those of the pinning */
	heap_fails = UINT32_MAX;
	mp = make_pool("counted", N, OPS);
	most = UINT32_MAX - heap_fails;
	rte_mempool_free(mp);
	for (n = most - 1; n <= most; n++) {
		failed = 0;
		heap_fails = n;
		mp = make_pool("pinned", N, OPS);
		assert_int_equal(failed, 1);
		heap_fails = 0;
		assert_true(rte_pktmbuf_priv_flags(mp) & RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF);
		rte_mempool_free(mp);
	}
}

#define MANY 128u /* somewhere before, the table of pools wants more memory */

/* A pool for which the table has no room is not taken for another one when it goes. */
static void
pools_are_not_mixed_up(void **state)
{
	struct rte_mempool *first, *many[MANY];
	const char *log = "";
	char name[16];
	unsigned int n;

	(void)state;
	if (!OWN_HEAP)
		skip();
	first = make_pool("first", N, OPS);
	for (n = 0; n < MANY; n++) {
		snprintf(name, sizeof(name), "many%u", n);
		log_begin();
		heap_fails = 1;
		many[n] = rte_pktmbuf_pool_create_by_ops(name, 1, 0, 0, ROOM, SOCKET_ID_ANY, OPS);
		heap_fails = 0;
		log = log_end();
		if (many[n] == NULL)
			break;
	}
	assert_in_range(n, 1, MANY - 1);
	assert_non_null(strstr(log, "EAL has no memory for what this process knows of it"));
	/* the device memory is still that one's */
	assert_int_equal(pool_number("first", "device_slots"), all_slots);
	many[n++] = make_pool("spills", 1, OPS);
	assert_int_equal(pool_number("spills", "device_slots"), 0);
	while (n-- > 0)
		rte_mempool_free(many[n]);
	assert_int_equal(rte_mempool_avail_count(first), N);
	rte_mempool_free(first);
	assert_all_slots("after");
}

static void
detach(void)
{
	struct rte_eth_dev_info info;

	assert_int_equal(rte_eth_dev_info_get(0, &info), 0);
	assert_int_equal(rte_dev_remove(info.device), 0);
}

/* A PD that the driver cannot note is refused: later pools would find no device. */
static void
device_is_not_probed_unnoticed(void **state)
{
	const char *log;
	unsigned int n;
	int ret;

	(void)state;
	if (!OWN_HEAP || all_slots == 0)
		skip();
	detach();
	for (n = 1;; n++) {
		failed = 0;
		heap_fails = n;
		log_begin();
		ret = rte_dev_probe(devargs);
		log = log_end();
		heap_fails = 0;
		if (failed == 0)
			break;
		assert_int_not_equal(ret, 0);
		assert_non_null(strstr(log, "mlx5_0: no memory to note its PD (ENOMEM)"));
	}
	assert_int_equal(n - 1, 2);
	assert_int_equal(ret, 0);
	assert_all_slots("probed");
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(pool_says_what_it_wants, nothing_fails),
		cmocka_unit_test_setup(pool_ends_without_memory, nothing_fails),
		cmocka_unit_test_setup(region_ends_without_memory, nothing_fails),
		cmocka_unit_test_setup(mbufs_are_pinned_without_memory, nothing_fails),
		cmocka_unit_test_setup(pools_are_not_mixed_up, nothing_fails),
		cmocka_unit_test_setup(device_is_not_probed_unnoticed, nothing_fails),
	};
	struct rte_mempool *mp;
	int status = eal_start(argc, argv);

	if (status != 0)
		return status;
	/* what the command line said of the device */
	snprintf(devargs, sizeof(devargs), "%s", argv[argc - 1]);
	mp = make_pool("first", N, OPS);
	all_slots = pool_number("first", "device_slots");
	rte_mempool_free(mp);
	if (rte_eth_dev_count_avail() != 0)
		assert_true(all_slots > 0);
	return eal_end(cmocka_run_group_tests(tests, NULL, NULL));
}
