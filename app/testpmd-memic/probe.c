/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdio.h>

#include <rte_common.h>

#include <memic.h>

#include "probe.h"
#include "table.h"

static void
add(const struct memic_check *check, void *arg)
{
	struct tpm_table *t = arg;

	tpm_table_cell(t, "%s", check->name);
	tpm_table_cell(t, "%s", check->needed ? "yes" : "no");
	tpm_table_cell(t, "%s", memic_answer_name(check->answer));
	tpm_table_cell(t, "%s", check->reason);
}

/* The library wants some memory for itself, which pools may have taken. */
static bool
has_memory(struct memic_device *dev, const char *name)
{
	struct memic_dm *dm;
	int ret = memic_dm_alloc(dev, MEMIC_DM_MEMIC, 1, 0, &dm);

	if (ret == 0) {
		memic_dm_free(dm);
		return true;
	}
	if (ret == -ENOMEM)
		printf("Nothing to put to the test: pools have all memory of %s. Leave some, as "
		       "with --memic-size.\n", name);
	else
		printf("Nothing to put to the test on %s: %s.\n", name, memic_last_error());
	return false;
}

static void
run(struct memic_device *dev, const char *name)
{
	static const char *const heads[] = { "<check", "<needed", "<answer", "<what was seen" };
	struct tpm_table *t = tpm_table_new(heads, RTE_DIM(heads));
	int missing = memic_probe(dev, NULL, add, t);

	tpm_table_print(t);
	if (missing == 0)
		printf("  All that is needed of %s works.\n", name);
	else if (missing > 0)
		printf("  %d of what is needed of %s did not prove to work.\n", missing, name);
	else
		printf("%s.\n", memic_last_error());
}

void
tpm_probe(const char *name)
{
	struct memic_device *dev;

	if (memic_device_open(name, &dev) != 0) {
		printf("%s.\n", memic_last_error());
		return;
	}
	if (has_memory(dev, name))
		run(dev, name);
	memic_device_close(dev);
}
