/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <dlfcn.h>
#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "emu.h"
#include "wire.h"

/*
 * Frames of a capture into each port, at the pace it takes them, and a capture of what
 * each port sends. With several ports, all read the same IN; port N > 0 writes OUT.N.
 *
 * libpcap is loaded when asked for: as a dependency of a preloaded library it would drag
 * libdbus and libsystemd into every program that is run.
 */
#define SNAPLEN 65535


struct pcap_api {
	pcap_t *(*open_offline)(const char *path, char *err);
	pcap_t *(*open_dead)(int linktype, int snaplen);
	int (*datalink)(pcap_t *p);
	int (*next_ex)(pcap_t *p, struct pcap_pkthdr **hdr, const u_char **data);
	char *(*geterr)(pcap_t *p);
	void (*close)(pcap_t *p);
	pcap_dumper_t *(*dump_open)(pcap_t *p, const char *path);
	void (*dump)(u_char *dumper, const struct pcap_pkthdr *hdr, const u_char *data);
	int (*dump_flush)(pcap_dumper_t *dumper);
	void (*dump_close)(pcap_dumper_t *dumper);
};

struct wire_pcap {
	struct emu_wire wire;
	pcap_t *in;             /* NULL at its end */
	pcap_t *dead;           /* what dump_open wants */
	pcap_dumper_t *out;
	const struct pcap_pkthdr *hdr; /* frame that waits, in libpcap's buffer */
	const u_char *data;
	char in_path[PATH_MAX], out_path[PATH_MAX + 4];
};

static struct pcap_api api;

static int
load_api(void)
{
	static const struct {
		const char *name;
		void **slot;
	} symbols[] = {
		{ "pcap_open_offline", (void **)&api.open_offline },
		{ "pcap_open_dead", (void **)&api.open_dead },
		{ "pcap_datalink", (void **)&api.datalink },
		{ "pcap_next_ex", (void **)&api.next_ex },
		{ "pcap_geterr", (void **)&api.geterr },
		{ "pcap_close", (void **)&api.close },
		{ "pcap_dump_open", (void **)&api.dump_open },
		{ "pcap_dump", (void **)&api.dump },
		{ "pcap_dump_flush", (void **)&api.dump_flush },
		{ "pcap_dump_close", (void **)&api.dump_close },
	};
	void *lib;
	size_t i;

	lib = dlopen("libpcap.so.0.8", RTLD_NOW | RTLD_LOCAL);
	if (lib == NULL)
		lib = dlopen("libpcap.so.1", RTLD_NOW | RTLD_LOCAL);
	if (lib == NULL) {
		fprintf(stderr, "mlx5emu: --wire pcap needs libpcap (ENOENT): %s\n", dlerror());
		return -ENOENT;
	}
	for (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		*symbols[i].slot = dlsym(lib, symbols[i].name);
		if (*symbols[i].slot == NULL) {
			fprintf(stderr, "mlx5emu: --wire pcap: libpcap has no %s (ENOENT)\n",
				symbols[i].name);
			return -ENOENT;
		}
	}
	return 0;
}

static bool
is_none(const char *path)
{
	return path[0] == '\0' || strcmp(path, "-") == 0;
}

static int
open_in(struct wire_pcap *w)
{
	char err[PCAP_ERRBUF_SIZE] = "";

	if (is_none(w->in_path))
		return 0;
	w->in = api.open_offline(w->in_path, err);
	if (w->in == NULL) {
		fprintf(stderr, "mlx5emu: --wire pcap: cannot read the capture: %s (EINVAL)\n",
			err);
		return -EINVAL;
	}
	if (api.datalink(w->in) != DLT_EN10MB) {
		fprintf(stderr, "mlx5emu: --wire pcap: %s is not a capture of Ethernet (EINVAL)\n",
			w->in_path);
		api.close(w->in);
		w->in = NULL;
		return -EINVAL;
	}
	return 0;
}

static int
open_out(struct wire_pcap *w)
{
	if (is_none(w->out_path))
		return 0;
	w->dead = api.open_dead(DLT_EN10MB, SNAPLEN);
	if (w->dead == NULL)
		return -ENOMEM;
	w->out = api.dump_open(w->dead, w->out_path);
	if (w->out == NULL) {
		fprintf(stderr, "mlx5emu: --wire pcap: cannot write %s (EIO)\n",
			api.geterr(w->dead));
		api.close(w->dead);
		w->dead = NULL;
		return -EIO;
	}
	return 0;
}

static int
pcap_wire_open(struct emu_dev *dev, struct emu_wire **wire)
{
	struct wire_pcap *w;
	int ret;

	if (api.open_offline == NULL) {
		ret = load_api();
		if (ret < 0)
			return ret;
	}
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		return -ENOMEM;
	w->wire.ops = &emu_wire_pcap;
	w->wire.dev = dev;
	snprintf(w->in_path, sizeof(w->in_path), "%s", dev->cfg->pcap_in);
	if (dev->index == 0 || is_none(dev->cfg->pcap_out))
		snprintf(w->out_path, sizeof(w->out_path), "%s", dev->cfg->pcap_out);
	else
		snprintf(w->out_path, sizeof(w->out_path), "%s.%u", dev->cfg->pcap_out,
			 dev->index % EMU_MAX_PORTS);
	ret = open_in(w);
	if (ret < 0)
		goto err_free;
	ret = open_out(w);
	if (ret < 0)
		goto err_close_in;
	*wire = &w->wire;
	return 0;

err_close_in:
	if (w->in != NULL)
		api.close(w->in);
err_free:
	free(w);
	return ret;
}

static void
pcap_wire_transmit(struct emu_wire *wire, const uint8_t *frame, size_t len)
{
	struct wire_pcap *w = (struct wire_pcap *)wire;
	struct pcap_pkthdr hdr = { .caplen = (bpf_u_int32)len, .len = (bpf_u_int32)len };

	if (w->out == NULL)
		return;
	gettimeofday(&hdr.ts, NULL);
	api.dump((u_char *)w->out, &hdr, frame);
}

static void
end_in(struct wire_pcap *w, int ret)
{
	if (ret == PCAP_ERROR)
		emu_report("%s: --wire pcap: %s ends early: %s", w->wire.dev->name, w->in_path,
			   api.geterr(w->in));
	api.close(w->in);
	w->in = NULL;
}

/* Makes w->hdr the frame to go next; false at the end. */
static bool
next_frame(struct wire_pcap *w)
{
	struct pcap_pkthdr *hdr;
	int ret;

	if (w->hdr != NULL)
		return true;
	ret = api.next_ex(w->in, &hdr, &w->data);
	if (ret != 1) {
		end_in(w, ret);
		return false;
	}
	w->hdr = hdr;
	if (hdr->caplen < hdr->len)
		emu_report("%s: --wire pcap: %s has %u of a frame of %u bytes", w->wire.dev->name,
			   w->in_path, hdr->caplen, hdr->len);
	return true;
}

static bool
pcap_wire_poll(struct emu_wire *wire)
{
	struct wire_pcap *w = (struct wire_pcap *)wire;
	struct emu_dev *dev = wire->dev;
	unsigned int i;

	if (w->in == NULL || !emu_wire_settled(dev))
		return false;
	for (i = 0; i < EMU_WIRE_BURST && next_frame(w); i++) {
		enum emu_offer offer = emu_steer_offer(dev, w->data, w->hdr->caplen);

		if (offer == EMU_OFFER_NO_WQE)
			break;
		if (offer == EMU_OFFER_NO_MATCH)
			dev->stats.rx_no_match++;
		w->hdr = NULL;
	}
	return i > 0;
}

static void
pcap_wire_close(struct emu_wire *wire)
{
	struct wire_pcap *w = (struct wire_pcap *)wire;

	if (w->out != NULL) {
		if (api.dump_flush(w->out) < 0)
			fprintf(stderr, "mlx5emu: --wire pcap: cannot write %s: %s\n",
				w->out_path, strerror(errno));
		api.dump_close(w->out);
		api.close(w->dead);
	}
	if (w->in != NULL)
		api.close(w->in);
	free(w);
}

const struct emu_wire_ops emu_wire_pcap = {
	.name = "pcap",
	.open = pcap_wire_open,
	.transmit = pcap_wire_transmit,
	.poll = pcap_wire_poll,
	.close = pcap_wire_close,
};
