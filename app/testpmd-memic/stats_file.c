/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include <rte_common.h>
#include <rte_mempool.h>

#include "compat.h"
#include "hooks.h"
#include "log.h"
#include "sample.h"
#include "stats_file.h"

/*
 * A thread asks ports for their counters, which must not be closed meanwhile: whatever
 * testpmd does to a port takes the lock. A signal may end testpmd in the midst of that,
 * and then closes ports in its handler, hence recursive.
 */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static FILE *file;
static struct tpm_sample *last; /* with ports, for the line at exit */
static double began;

static json_t *
port_object(const struct tpm_port *p)
{
	return json_pack("{s:i, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
			 "port", (int)p->id, "address", p->device,
			 "rx_packets", (json_int_t)p->stats.ipackets,
			 "tx_packets", (json_int_t)p->stats.opackets,
			 "rx_bytes", (json_int_t)p->stats.ibytes,
			 "tx_bytes", (json_int_t)p->stats.obytes,
			 "rx_missed", (json_int_t)p->stats.imissed,
			 "rx_no_mbuf", (json_int_t)p->stats.rx_nombuf,
			 "rx_errors", (json_int_t)p->stats.ierrors,
			 "tx_errors", (json_int_t)p->stats.oerrors);
}

/* Names are whatever an application thought of, which need not be UTF-8. */
static json_t *
text(const char *name)
{
	json_t *t = json_string(name);
	char ascii[RTE_MEMPOOL_NAMESIZE];
	unsigned int i;

	if (t != NULL)
		return t;
	for (i = 0; i < sizeof(ascii) - 1 && name[i] != '\0'; i++)
		ascii[i] = (unsigned char)name[i] < 0x80 ? name[i] : '?';
	ascii[i] = '\0';
	return json_string(ascii);
}

static json_t *
pool_object(const struct rte_pmd_mlx5_memic_pool *p)
{
	const struct rte_pmd_mlx5_memic_stats *s = &p->stats;
	json_t *o = json_object();

	json_object_set_new(o, "pool", text(p->name));
	json_object_set_new(o, "device", json_string(s->device));
	json_object_set_new(o, "device_slots", json_integer(s->device_slots));
	json_object_set_new(o, "device_bytes", json_integer(s->device_bytes));
	json_object_set_new(o, "device_free", json_integer(s->device_free));
	json_object_set_new(o, "device_cached", json_integer(s->device_cached));
	json_object_set_new(o, "device_out", json_integer(s->device_out));
	json_object_set_new(o, "device_peak", json_integer(s->device_peak));
	json_object_set_new(o, "device_gets", json_integer(s->device_gets));
	json_object_set_new(o, "host_slots", json_integer(s->host_slots));
	json_object_set_new(o, "host_bytes", json_integer(s->host_bytes));
	json_object_set_new(o, "host_free", json_integer(s->host_free));
	json_object_set_new(o, "host_cached", json_integer(s->host_cached));
	json_object_set_new(o, "host_out", json_integer(s->host_out));
	json_object_set_new(o, "host_gets", json_integer(s->host_gets));
	json_object_set_new(o, "foreign_dropped", json_integer(s->foreign_dropped));
	json_object_set_new(o, "foreign_bounced", json_integer(s->foreign_bounced));
	return o;
}

static json_t *
device_object(const struct rte_pmd_mlx5_memic_device *d)
{
	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:b}", "device", d->name,
			 "address", d->address, "memory_bytes", (json_int_t)d->max_bytes,
			 "held_bytes", (json_int_t)d->region_bytes,
			 "slot_bytes", (json_int_t)d->used_bytes,
			 "quarantined_bytes", (json_int_t)d->quarantined_bytes,
			 "open", d->open != 0);
}

static json_t *
line_object(const struct tpm_sample *s, const char *event)
{
	json_t *ports = json_array(), *pools = json_array(), *devices = json_array();
	unsigned int i;

	for (i = 0; i < s->n_ports; i++)
		json_array_append_new(ports, port_object(&s->ports[i]));
	for (i = 0; i < s->n_pools; i++)
		json_array_append_new(pools, pool_object(&s->pools[i]));
	for (i = 0; i < s->n_devices; i++)
		json_array_append_new(devices, device_object(&s->devices[i]));
	return json_pack("{s:s, s:f, s:f, s:o, s:o, s:o}", "event", event, "time", s->time,
			 "seconds", s->time - began, "ports", ports, "pools", pools,
			 "devices", devices);
}

/* Each line is whole in the file before the next thing happens. */
static void
write_line(const struct tpm_sample *s, const char *event)
{
	json_t *o = line_object(s, event);

	if (o == NULL || json_dumpf(o, file, JSON_COMPACT | JSON_REAL_PRECISION(16)) != 0 ||
	    fputc('\n', file) == EOF || fflush(file) != 0) {
		TPM_LOG(ERR, "--memic-stats-file: %s; nothing more is written",
			o == NULL ? "no memory" : strerror(errno));
		fclose(file);
		file = NULL;
	}
	json_decref(o);
}

static void
sample_and_write(const char *event)
{
	struct tpm_sample *s = file == NULL ? NULL : tpm_sample_take();

	if (s == NULL)
		return;
	write_line(s, event);
	if (s->n_ports != 0 || last == NULL) {
		tpm_sample_free(last);
		last = s;
	} else {
		tpm_sample_free(s);
	}
}

void
tpm_stats_file_hold(bool last_line)
{
	pthread_mutex_lock(&lock);
	if (last_line)
		sample_and_write("port");
}

void
tpm_stats_file_go_on(void)
{
	pthread_mutex_unlock(&lock);
}

static tpm_thread_ret
run(void *arg __rte_unused)
{
	struct timespec next;

	clock_gettime(CLOCK_MONOTONIC, &next);
	while (file != NULL) {
		next.tv_sec++;
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL) == EINTR)
			continue;
		pthread_mutex_lock(&lock);
		sample_and_write("interval");
		pthread_mutex_unlock(&lock);
	}
	return 0;
}

/*
 * Ports and pools are gone by now, perhaps EAL's memory too: what they were is in the last
 * sample that had ports. The lock is not given back: the thread is not to look again.
 */
void
tpm_stats_file_end(void)
{
	struct timespec limit;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += 2;
	if (pthread_mutex_timedlock(&lock, &limit) != 0 || file == NULL || last == NULL)
		return;
	write_line(last, "exit");
	if (file != NULL)
		fclose(file);
	file = NULL;
}

/* Signals are for testpmd's own threads: their handler closes ports. */
static int
start_thread(void)
{
	static tpm_thread thread;
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = tpm_thread_start(&thread, "memic-stats", run);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ret;
}

int
tpm_stats_file_open(const char *path)
{
	struct timespec now;

	file = fopen(path, "we");
	if (file == NULL)
		return -errno;
	clock_gettime(CLOCK_REALTIME, &now);
	began = now.tv_sec + now.tv_nsec / 1e9;
	/* else a port may go while the thread looks at it */
	if (!tpm_hooks_watch())
		return -ENOTSUP;
	if (atexit(tpm_stats_file_end) != 0)
		return -ENOMEM;
	return start_thread();
}
