/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

/* Case 32: telemetry in the face of strange names, many pools and many clients. */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <rte_bus_vdev.h>
#include <rte_common.h>
#include <rte_ethdev.h>
#include <rte_telemetry.h>

#include "fixture.h"

static json_t *
ask(const char *command)
{
	const char *text = telemetry(command);
	json_error_t err;
	json_t *root;

	if (text == NULL)
		fail_msg("no answer to %s", command);
	root = json_loads(text, 0, &err);
	if (root == NULL)
		fail_msg("%s: %s in %s", command, err.text, text);
	return root;
}

static void
strange_names(void **state)
{
	static const char *const names[] = {
		"q\"uo\\te", "with space", "{\"a\":1}", "%s%n", "[]", "tab\there", "'", "plain",
	};
	struct rte_mempool *mp;
	char command[64];
	json_t *root, *info;
	unsigned int i;

	(void)state;
	for (i = 0; i < RTE_DIM(names); i++) {
		mp = make_pool(names[i], 64, OPS);
		root = ask("/mlx5_memic/list");
		info = json_object_get(root, "/mlx5_memic/list");
		assert_int_equal(json_array_size(info), 1);
		assert_string_equal(json_string_value(json_array_get(info, 0)), names[i]);
		json_decref(root);
		snprintf(command, sizeof(command), "/mlx5_memic/info,%s", names[i]);
		root = ask(command);
		info = json_object_get(root, "/mlx5_memic/info");
		assert_string_equal(json_string_value(json_object_get(info, "name")), names[i]);
		assert_int_equal(json_integer_value(json_object_get(info, "objects")), 64);
		json_decref(root);
		rte_mempool_free(mp);
	}
}

static void
unknown_pools(void **state)
{
	static const char *const params[] = {
		"", ",", ",nosuch", ",plai", ",plainn",
		",eighty characters of a parameter and more than any name of a pool could have",
	};
	struct rte_mempool *mp = make_pool("plain", 64, OPS);
	char command[128];
	json_t *root;
	unsigned int i;

	(void)state;
	for (i = 0; i < RTE_DIM(params); i++) {
		snprintf(command, sizeof(command), "/mlx5_memic/info%s", params[i]);
		root = ask(command);
		assert_true(json_is_null(json_object_get(root, "/mlx5_memic/info")));
		json_decref(root);
	}
	rte_mempool_free(mp);
}

/* A reason, put together again. */
static void
whole_reason(const char *pool, char *text, size_t len)
{
	char command[64], key[16] = "reason";
	json_t *root, *info;
	const char *piece;
	unsigned int n = 1;

	snprintf(command, sizeof(command), "/mlx5_memic/info,%s", pool);
	root = ask(command);
	info = json_object_get(root, "/mlx5_memic/info");
	text[0] = '\0';
	while ((piece = json_string_value(json_object_get(info, key))) != NULL) {
		assert_true(strlen(text) + strlen(piece) < len);
		strcat(text, piece);
		snprintf(key, sizeof(key), "reason_%u", ++n);
	}
	json_decref(root);
	assert_true(n > 1);
}

/* Reasons are longer than a string of telemetry may be; the log has them in one piece. */
static void
long_reasons(void **state)
{
	static const char *const devices[] = {
		"none", "a_device_of_a_name_that_is_as_long_as_a_name_of_one_can_ever_be",
	};
	struct rte_mempool *mp;
	char args[128], text[2048];
	const char *log;
	unsigned int i;

	(void)state;
	rte_log_set_level_pattern("mempool.mlx5_memic", RTE_LOG_NOTICE);
	for (i = 0; i < RTE_DIM(devices); i++) {
		snprintf(args, sizeof(args), "dev=%s", devices[i]);
		assert_int_equal(rte_vdev_init("mempool_mlx5_memic0", args), 0);
		log_begin();
		mp = make_pool("reason", 64, OPS);
		log = strstr(log_end(), "pool reason lives in host memory: ");
		assert_non_null(log);
		log = strchr(log, ':') + 2;
		whole_reason("reason", text, sizeof(text));
		assert_true(strlen(text) > 40);
		assert_int_equal(strncmp(log, text, strlen(text)), 0);
		assert_int_equal(log[strlen(text)], '\n');
		/* it is the long name that does not fit, where there are devices to be listed */
		assert_true(i == 0 || rte_eth_dev_count_avail() == 0 ||
			    strlen(text) >= RTE_TEL_MAX_STRING_LEN);
		rte_mempool_free(mp);
		assert_int_equal(rte_vdev_uninit("mempool_mlx5_memic0"), 0);
	}
	rte_log_set_level_pattern("mempool.mlx5_memic", RTE_LOG_ERR);
}

#define MANY 300

static void
many_pools(void **state)
{
	static struct rte_mempool *mp[MANY];
	char name[32];
	json_t *root;
	unsigned int i;

	(void)state;
	for (i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "a_pool_of_many_%u", i);
		mp[i] = rte_pktmbuf_pool_create_by_ops(name, 1, 0, 0, 256, SOCKET_ID_ANY, OPS);
		assert_non_null(mp[i]);
	}
	root = ask("/mlx5_memic/list");
	assert_int_equal(json_array_size(json_object_get(root, "/mlx5_memic/list")), MANY);
	json_decref(root);
	for (i = 0; i < MANY; i++)
		rte_mempool_free(mp[i]);
}

#define CLIENTS 8
#define ROUNDS 100

static bool stop;

/* The answers are whole or null, and the process lives on. */
static void *
client(void *arg)
{
	unsigned int *answers = arg;
	const char *text;

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		text = telemetry(*answers % 2 == 0 ? "/mlx5_memic/list" : "/mlx5_memic/info,brief");
		if (text != NULL)
			__atomic_fetch_add(answers, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static bool
all_answered(const unsigned int *answers)
{
	unsigned int i;

	for (i = 0; i < CLIENTS; i++)
		if (__atomic_load_n(&answers[i], __ATOMIC_RELAXED) == 0)
			return false;
	return true;
}

static void
clients_while_pools_come_and_go(void **state)
{
	unsigned int answers[CLIENTS] = { 0 };
	pthread_t threads[CLIENTS];
	unsigned int i;

	(void)state;
	__atomic_store_n(&stop, false, __ATOMIC_RELEASE);
	for (i = 0; i < CLIENTS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, client, &answers[i]), 0);
	for (i = 0; i < ROUNDS || (i < 100 * ROUNDS && !all_answered(answers)); i++)
		rte_mempool_free(make_pool("brief", 64, OPS));
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	for (i = 0; i < CLIENTS; i++)
		pthread_join(threads[i], NULL);
	assert_true(all_answered(answers));
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strange_names),
		cmocka_unit_test(unknown_pools),
		cmocka_unit_test(long_reasons),
		cmocka_unit_test(many_pools),
		cmocka_unit_test(clients_while_pools_come_and_go),
	};
	int status = eal_start(argc, argv);

	if (status != 0)
		return status;
	rte_log_set_level_pattern("mempool.mlx5_memic", RTE_LOG_ERR);
	return eal_end(cmocka_run_group_tests(tests, NULL, NULL));
}
