/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "fixture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/socket.h>
#include <sys/un.h>

#include <jansson.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_log.h>

#define ARGS_MAX 48

static FILE *log_file;
static char *log_text;
static size_t log_len;

int
eal_start(int argc, char **argv)
{
	static char prefix[64];
	static char no_huge[] = "--no-huge", m[] = "-m", mb[] = "256", no_shconf[] = "--no-shconf";
	static char d[] = "-d", no_pci[] = "--no-pci";
	char *args[ARGS_MAX] = { argv[0], no_huge, m, mb, no_shconf, prefix };
	int n = 6;
	int i;

	if (argc < 2 || argc + 10 > ARGS_MAX) {
		fprintf(stderr, "usage: %s PLUGIN [EAL option]...\n", argv[0]);
		return 1;
	}
	snprintf(prefix, sizeof(prefix), "--file-prefix=memictest%d", (int)getpid());
	args[n++] = d;
	args[n++] = argv[1];
	if (argc == 2)
		args[n++] = no_pci;
	for (i = 2; i < argc; i++)
		args[n++] = argv[i];
	if (rte_eal_init(n, args) < 0) {
		fprintf(stderr, "rte_eal_init: %s\n", rte_strerror(rte_errno));
		return 1;
	}
	return 0;
}

int
eal_start_with_port(int argc, char **argv)
{
	int status = eal_start(argc, argv);

	if (status != 0 || rte_eth_dev_count_avail() != 0)
		return status;
	printf("no mlx5 port: name one with EAL options, as under mlx5emu\n");
	rte_eal_cleanup();
	return SKIPPED;
}

int
eal_end(int failed)
{
	rte_eal_cleanup();
	return failed == 0 ? 0 : 1;
}

struct rte_mempool *
make_pool(const char *name, unsigned int n, const char *ops)
{
	struct rte_mempool *mp;

	mp = rte_pktmbuf_pool_create_by_ops(name, n, 0, 0, ROOM, SOCKET_ID_ANY, ops);
	if (mp == NULL)
		fail_msg("pool %s of ops %s: %s", name, ops, rte_strerror(rte_errno));
	return mp;
}

struct rte_mempool *
hand_made(const char *name, const char *ops, unsigned int n, uint16_t room)
{
	struct rte_pktmbuf_pool_private priv = { .mbuf_data_room_size = room };
	struct rte_mempool *mp;

	/* objects may lie across pages, so that chunks hold as many as their size says */
	mp = rte_mempool_create_empty(name, n, sizeof(struct rte_mbuf) + room, 0, sizeof(priv),
				      SOCKET_ID_ANY, RTE_MEMPOOL_F_NO_IOVA_CONTIG);
	assert_non_null(mp);
	assert_int_equal(rte_mempool_set_ops_byname(mp, ops, NULL), 0);
	rte_pktmbuf_pool_init(mp, &priv);
	return mp;
}

void
log_begin(void)
{
	free(log_text);
	log_text = NULL;
	log_file = open_memstream(&log_text, &log_len);
	assert_non_null(log_file);
	rte_openlog_stream(log_file);
}

const char *
log_end(void)
{
	rte_openlog_stream(NULL);
	fclose(log_file);
	return log_text;
}

static int
telemetry_connect(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/dpdk_telemetry.v2",
		 rte_eal_get_runtime_dir());
	if (fd >= 0 && connect(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

const char *
telemetry(const char *command)
{
	static _Thread_local char text[1 << 16];
	ssize_t len = -1;
	int fd = telemetry_connect();

	if (fd < 0)
		return NULL;
	/* the first message says hello */
	if (read(fd, text, sizeof(text)) > 0 &&
	    write(fd, command, strlen(command)) == (ssize_t)strlen(command))
		len = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (len <= 0)
		return NULL;
	text[len] = '\0';
	return text;
}

long long
pool_number(const char *pool, const char *key)
{
	char command[128];
	const char *text;
	json_t *root;
	long long n = -1;

	snprintf(command, sizeof(command), "/mlx5_memic/info,%s", pool);
	text = telemetry(command);
	root = text == NULL ? NULL : json_loads(text, 0, NULL);
	if (root == NULL)
		return -1;
	if (json_is_integer(json_object_get(json_object_get(root, "/mlx5_memic/info"), key)))
		n = json_integer_value(json_object_get(json_object_get(root, "/mlx5_memic/info"),
						       key));
	json_decref(root);
	return n;
}
