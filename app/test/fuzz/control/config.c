/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include "config.h"

/* A launcher that tells the library of one port too few. */

char *__real_emu_config_to_text(const struct emu_config *cfg);
char *__wrap_emu_config_to_text(const struct emu_config *cfg);

char *
__wrap_emu_config_to_text(const struct emu_config *cfg)
{
	struct emu_config other = *cfg;

	if (other.ports > 1)
		other.ports--;
	return __real_emu_config_to_text(&other);
}
