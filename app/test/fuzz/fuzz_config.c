/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "config.h"
#include "faults.h"
#include "fuzz.h"

/*
 * Text that the launcher and the library parse: the whole configuration as it goes
 * through the environment, and one --fault. What is refused says why and changes
 * nothing; what is taken comes out of the text form as it went in.
 */

static void
config_text(const char *text)
{
	static struct emu_config cfg, again, before;
	char err[128], *out;
	int ret;

	memset(err, 'x', sizeof(err));
	emu_config_init(&cfg);
	memcpy(&before, &cfg, sizeof(cfg));
	ret = emu_config_from_text(&cfg, text, err, sizeof(err));
	if (ret < 0) {
		fuzz_expect(memchr(err, '\0', sizeof(err)) != NULL && err[0] != '\0',
			    "no sentence for %d", ret);
		fuzz_expect(memcmp(&cfg, &before, sizeof(cfg)) == 0, "refused, but changed");
		return;
	}
	fuzz_expect(ret == 0, "answer %d", ret);
	fuzz_expect(cfg.ports >= 1 && cfg.ports <= EMU_MAX_PORTS, "%u ports", cfg.ports);
	out = emu_config_to_text(&cfg);
	fuzz_expect(out != NULL, "no text of a good configuration");
	fuzz_expect(emu_config_from_text(&again, out, err, sizeof(err)) == 0,
		    "refuses its own text: %s", err);
	fuzz_expect(again.ports == cfg.ports && again.preset == cfg.preset &&
		    again.memic_bytes == cfg.memic_bytes && again.wire == cfg.wire &&
		    again.check_count == cfg.check_count && again.n_faults == cfg.n_faults &&
		    memcmp(&again.fault, &cfg.fault, sizeof(cfg.fault)) == 0 &&
		    strcmp(again.pcap_in, cfg.pcap_in) == 0 &&
		    strcmp(again.pcap_out, cfg.pcap_out) == 0 &&
		    strcmp(again.stats, cfg.stats) == 0 && strcmp(again.trace, cfg.trace) == 0,
		    "the text says something else:\n%s", out);
	free(out);
}

static void
fault_spec(const char *text)
{
	struct emu_faults faults, before;
	char err[128];
	int ret;

	memset(err, 'x', sizeof(err));
	memset(&faults, 0, sizeof(faults));
	before = faults;
	ret = emu_fault_parse(&faults, text, err, sizeof(err));
	fuzz_expect(ret <= 0, "answer %d", ret);
	if (ret == 0)
		return;
	fuzz_expect(memchr(err, '\0', sizeof(err)) != NULL && err[0] != '\0',
		    "no sentence for %d", ret);
	fuzz_expect(memcmp(&faults, &before, sizeof(faults)) == 0, "refused, but changed");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (size == 0)
		return 0;
	text = strndup((const char *)data + 1, size - 1);
	fuzz_expect(text != NULL, "no memory");
	if (data[0] & 1)
		fault_spec(text);
	else
		config_text(text);
	free(text);
	return 0;
}
