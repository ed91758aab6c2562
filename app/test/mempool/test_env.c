/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/*
 * The environment variable, which is read when the plugin loads: each value needs a
 * process of its own, which this program starts by calling itself.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/wait.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf.h>

#include "fixture.h"

static char *plugin;
static char self[256];

/* Child: errno of creating pool "ab", 0 where it was created, 255 without EAL. */
static int
child(int argc, char **argv)
{
	struct rte_mempool *mp;
	int err = 0;

	if (eal_start(argc, argv) != 0)
		return 255;
	mp = rte_pktmbuf_pool_create_by_ops("ab", 64, 0, 0, ROOM, SOCKET_ID_ANY, OPS);
	if (mp == NULL)
		err = rte_errno;
	rte_mempool_free(mp);
	rte_eal_cleanup();
	return err;
}

static int
run(const char *env, char *extra)
{
	static char no_pci[] = "--no-pci";
	char *args[] = { self, plugin, no_pci, extra, NULL };
	int status;
	pid_t pid;

	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (env != NULL)
			setenv("MLX5_MEMIC", env, 1);
		else
			unsetenv("MLX5_MEMIC");
		setenv("MEMIC_TEST_CHILD", "1", 1);
		execv(self, args);
		_exit(254);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void
rules(void **state)
{
	(void)state;
	assert_int_equal(run(NULL, NULL), 0);
	assert_int_equal(run("", NULL), 0);
	assert_int_equal(run("spill=0", NULL), ENODEV);
	assert_int_equal(run("pools=x;spill=0", NULL), ENODEV);
	assert_int_equal(run("pools=a*,spill=1;spill=0", NULL), 0);
	assert_int_equal(run(";;spill=0;", NULL), ENODEV);
}

static void
mistakes(void **state)
{
	(void)state;
	assert_int_equal(run("nosuch=1", NULL), EINVAL);
	assert_int_equal(run("size=12x", NULL), EINVAL);
	assert_int_equal(run("spill=1;size=12x", NULL), EINVAL);
}

/* vdev rules come first. */
static void
after_vdev(void **state)
{
	static char keep[] = "--vdev=mempool_mlx5_memic0,spill=1";
	static char other[] = "--vdev=mempool_mlx5_memic0,pools=x";

	(void)state;
	assert_int_equal(run("spill=0", keep), 0);
	assert_int_equal(run("spill=0", other), ENODEV);
}

/* EAL starts without the vdev; its pools must not fall under another rule then. */
static void
refused_vdev_of_the_command_line(void **state)
{
	static char wrong[] = "--vdev=mempool_mlx5_memic0,size=12x";

	(void)state;
	assert_int_equal(run(NULL, wrong), EINVAL);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules),
		cmocka_unit_test(mistakes),
		cmocka_unit_test(after_vdev),
		cmocka_unit_test(refused_vdev_of_the_command_line),
	};

	if (getenv("MEMIC_TEST_CHILD") != NULL)
		return child(argc, argv);
	if (argc < 2 || readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 1;
	plugin = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1;
}
