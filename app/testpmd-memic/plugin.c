/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <rte_common.h>

#include "hooks.h"
#include "log.h"

int tpm_logtype;

RTE_INIT(tpm_plugin_init)
{
	tpm_logtype = rte_log_register_type_and_pick_level("user.testpmd_memic", RTE_LOG_NOTICE);
	if (tpm_logtype < 0)
		tpm_logtype = RTE_LOGTYPE_USER1;
	tpm_hooks_install();
}
