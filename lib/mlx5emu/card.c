/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "card.h"
#include "emu.h"
#include "eswitch.h"
#include "netdev.h"
#include "objects.h"
#include "trap.h"
#include "verbs.h"

/* The card of this process: made when the library is loaded, reported when it goes. */

struct emu_dev *emu_devs;
unsigned int emu_dev_count;

static struct emu_config config;
static pid_t owner;             /* a forked child does not report */
static bool reported;

static void
make_dev(struct emu_dev *dev, unsigned int index)
{
	static const uint8_t mac[6] = { 0xb8, 0x59, 0x9f, 0xaa, 0xbb, 0xcc };

	emu_dev_init(dev, index, &config);
	if (config.one_device && index > 0)
		dev->device = &emu_devs[0];
	if (dev->device == NULL)
		snprintf(dev->name, sizeof(dev->name), "mlx5_%u", index);
	else
		snprintf(dev->name, sizeof(dev->name), "mlx5_0/%u", emu_port_number(dev));
	snprintf(dev->netdev, sizeof(dev->netdev), "emu%u", index);
	memcpy(dev->mac, mac, sizeof(mac));
	dev->mac[5] += index;
	dev->preset = config.preset;
	dev->next_num = 0x40;
	dev->mtu = 1500; /* ETH_DATA_LEN, what the TAP starts with, too */
	emu_netdev_look(dev);
}

static void
give_up(const char *what)
{
	fprintf(stderr, "mlx5emu: %s\n", what);
	_exit(2);
}

bool emu_forked;

/*
 * The kernel would serve the child on the descriptors it inherits. The engine thread did not
 * come along, so here it has no card: see emu_refuse_child().
 */
static void
forget_in_child(void)
{
	emu_forked = emu_dev_count > 0 || emu_forked;
	emu_dev_count = 0;
}

int
emu_refuse_child(const char *call)
{
	static bool said;

	emu_trace("%s in the forked process %d -> EIO", call, (int)getpid());
	if (!said)
		fprintf(stderr, "mlx5emu: process %d is a fork of the one that has the card: %s "
			"fails with EIO; a program started by execve(2) opens a card of its own\n",
			(int)getpid(), call);
	said = true;
	errno = EIO;
	return -1;
}

__attribute__((constructor)) static void
card_init(void)
{
	const char *text = getenv(EMU_ENV);
	char err[256];

	if (text == NULL)
		return; /* preloaded without the launcher: no card */
	if (emu_config_from_text(&config, text, err, sizeof(err)) != 0)
		give_up(err);
	if (config.trace[0] != '\0')
		emu_trace_open(config.trace);
	emu_devs = calloc(config.ports, sizeof(*emu_devs));
	if (emu_devs == NULL)
		give_up("out of memory");
	for (unsigned int i = 0; i < config.ports; i++) {
		make_dev(&emu_devs[i], i);
		if (emu_devs[i].device == NULL &&
		    emu_memic_init(&emu_devs[i].memic, config.memic_bytes) != 0)
			give_up("cannot make the device memory: memfd_create failed");
	}
	owner = getpid();
	pthread_atfork(NULL, NULL, forget_in_child);
	emu_dev_count = config.ports;
}

/* ---- report ---- */

static void
tell_alive(const struct emu_obj *obj)
{
	fprintf(stderr, "mlx5emu: %s: %s %u is still alive (%u users)\n", obj->file->dev->name,
		obj->class->name, obj->handle, obj->users);
}

static void
report(bool final)
{
	unsigned int leaked;

	emu_lock();
	leaked = emu_objects_alive(final ? tell_alive : NULL);
	if (config.stats[0] != '\0')
		emu_stats_write(config.stats, leaked);
	emu_unlock();
}

/* Kinds of objects alive, while they are counted under the lock. */
#define TALLY 32
static struct tally {
	const char *name;
	unsigned int n;
} tally[TALLY];

static void
add_to_tally(const struct emu_obj *obj)
{
	struct tally *t = tally;

	while (t < tally + TALLY - 1 && t->name != NULL &&
	       strcmp(t->name, obj->class->name) != 0)
		t++;
	t->name = obj->class->name;
	t->n++;
}

unsigned int
mlx5emu_objects(char *text, size_t len)
{
	size_t used = 0;
	unsigned int n;

	emu_lock();
	memset(tally, 0, sizeof(tally));
	n = emu_objects_alive(add_to_tally);
	if (len != 0)
		text[0] = '\0';
	for (const struct tally *t = tally; t < tally + TALLY && t->name != NULL && used < len; t++)
		used += (size_t)snprintf(text + used, len - used, "%s%s %u", used == 0 ? "" : ", ",
					 t->name, t->n);
	emu_unlock();
	return n;
}

void
emu_card_changed(void)
{
	if (__atomic_load_n(&reported, __ATOMIC_ACQUIRE))
		report(false);
}

__attribute__((destructor)) static void
card_fini(void)
{
	/* programs that the command ran on the way leave the file to the one that mattered */
	if (emu_dev_count == 0 || getpid() != owner || !emu_context_opened)
		return;
	emu_engine_stop();
	__atomic_store_n(&reported, true, __ATOMIC_RELEASE);
	report(true);
	emu_report_print(stderr);
	emu_trap_print(stderr);
}
