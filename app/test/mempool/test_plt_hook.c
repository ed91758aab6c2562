/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/* Diverting calls of two small objects: what changes, what does not, what is refused. */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/syscall.h>

#include "fixture.h"
#include "plt_hook.h"
#include "victim.h"

#define FAKE ((pid_t)-77)

static char why[256];

static unsigned int protect_fails; /* which of the next calls does; 0: none */

/* Those of the code under test come here, as it is linked into the program. */
int
mprotect(void *addr, size_t len, int prot)
{
	if (protect_fails == 0 || --protect_fails != 0)
		return (int)syscall(SYS_mprotect, addr, len, prot);
	errno = ENOMEM;
	return -1;
}

static pid_t
fake_getppid(void)
{
	return FAKE;
}

static pid_t
other_getppid(void)
{
	return FAKE - 1;
}

static bool
is_now(const char *object)
{
	return strncmp(object, "libmempool_victim_now", 21) == 0;
}

static bool
is_victim(const char *object)
{
	return strncmp(object, "libmempool_victim", 17) == 0;
}

static bool
is_anything(const char *object)
{
	return strstr(object, "vdso") == NULL;
}

static struct mpm_plt_hook
hook(void *replacement)
{
	return (struct mpm_plt_hook){
		.symbol = "getppid",
		.replacement = replacement,
		.genuine = getppid,
	};
}

/* Nothing is diverted then, and the next try goes well. */
static void
page_stays_read_only(void **state)
{
	struct mpm_plt_hook h = hook(fake_getppid);

	(void)state;
	protect_fails = 1;
	assert_int_equal(mpm_plt_divert(&h, 1, is_now, why, sizeof(why)), -ENOMEM);
	assert_int_equal(protect_fails, 0);
	assert_non_null(strstr(why, "mprotect of the slot of getppid in libmempool_victim_now"));
	assert_non_null(strstr(why, "ENOMEM"));
	assert_int_equal(victim_now_call(), getppid());
}

/* The slot is what it has to be, although its page is not as it was. */
static void
page_stays_writable(void **state)
{
	struct mpm_plt_hook h = hook(fake_getppid);

	(void)state;
	protect_fails = 2;
	assert_int_equal(mpm_plt_divert(&h, 1, is_now, why, sizeof(why)), 0);
	assert_int_equal(protect_fails, 0);
	assert_int_equal(h.slots, 2);
	assert_int_equal(victim_now_call(), FAKE);
}

/* In the order in which main() lists them, the tests go on where the last one ended. */
static void
only_objects_that_match(void **state)
{
	struct mpm_plt_hook h = hook(fake_getppid);

	(void)state;
	assert_int_equal(mpm_plt_divert(&h, 1, is_now, why, sizeof(why)), 0);
	/* the slot of the call and the address in data */
	assert_int_equal(h.slots, 2);
	assert_int_equal(victim_now_call(), FAKE);
	assert_int_equal(victim_now_data(), FAKE);
	assert_int_equal(victim_lazy_call(), getppid());
	assert_int_equal(victim_lazy_data(), getppid());
}

static void
once_more_changes_nothing(void **state)
{
	struct mpm_plt_hook h = hook(fake_getppid);

	(void)state;
	assert_int_equal(mpm_plt_divert(&h, 1, is_now, why, sizeof(why)), 0);
	assert_int_equal(h.slots, 2);
	assert_int_equal(victim_now_call(), FAKE);
}

static void
somebody_elses_slot_is_refused(void **state)
{
	struct mpm_plt_hook h = hook(other_getppid);

	(void)state;
	assert_int_equal(mpm_plt_divert(&h, 1, is_now, why, sizeof(why)), -EEXIST);
	assert_non_null(strstr(why, "getppid"));
	assert_non_null(strstr(why, "libmempool_victim_now"));
	assert_int_equal(victim_now_call(), FAKE);
	assert_int_equal(victim_now_data(), FAKE);
}

static void
lazy_object(void **state)
{
	struct mpm_plt_hook h = hook(fake_getppid);

	(void)state;
	assert_int_equal(mpm_plt_divert(&h, 1, is_victim, why, sizeof(why)), 0);
	assert_int_equal(h.slots, 4);
	assert_int_equal(victim_lazy_call(), FAKE);
	assert_int_equal(victim_lazy_data(), FAKE);
	/* never the object with the code that diverts */
	assert_int_not_equal(getppid(), FAKE);
}

static void
no_such_import(void **state)
{
	struct mpm_plt_hook h = {
		.symbol = "getppi",
		.replacement = fake_getppid,
		.genuine = getppid,
	};

	(void)state;
	assert_int_equal(mpm_plt_divert(&h, 1, is_anything, why, sizeof(why)), 0);
	assert_int_equal(h.slots, 0);
}

/* A slot that leads into its own object as long as nobody has called through it. */
static void
not_bound_yet(void **state)
{
	struct mpm_plt_hook h = {
		.symbol = "getuid",
		.replacement = fake_getppid,
		.genuine = getuid,
	};

	(void)state;
	assert_int_equal(mpm_plt_divert(&h, 1, is_victim, why, sizeof(why)), 0);
	assert_int_equal(h.slots, 2);
	assert_int_equal(victim_lazy_uid(), FAKE);
	assert_int_equal(victim_now_uid(), FAKE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(page_stays_read_only),
		cmocka_unit_test(page_stays_writable),
		cmocka_unit_test(only_objects_that_match),
		cmocka_unit_test(once_more_changes_nothing),
		cmocka_unit_test(somebody_elses_slot_is_refused),
		cmocka_unit_test(lazy_object),
		cmocka_unit_test(no_such_import),
		cmocka_unit_test(not_bound_yet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1;
}
