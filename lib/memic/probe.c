/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "probe.h"

const char *
memic_answer_name(enum memic_answer answer)
{
	static const char * const names[] = {
		[MEMIC_NO] = "no", [MEMIC_YES] = "yes", [MEMIC_UNKNOWN] = "unknown",
	};

	return (unsigned int)answer <= MEMIC_UNKNOWN ? names[answer] : "invalid";
}

void
probe_tell(struct probe *p, const char *name, const char *question, bool needed,
	   enum memic_answer answer, const char *fmt, ...)
{
	struct memic_check check = {
		.name = name, .question = question, .needed = needed, .answer = answer,
	};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(check.reason, sizeof(check.reason), fmt, ap);
	va_end(ap);
	if (needed && answer != MEMIC_YES)
		p->missing++;
	p->fn(&check, p->arg);
}

int
probe_note(struct probe *p, const char *what, int err)
{
	if (err != 0 && p->left[0] == '\0')
		snprintf(p->left, sizeof(p->left), "%s could not be destroyed in %d tries: %s",
			 what, MEMIC_DESTROY_TRIES, memic_errno_name(err));
	return err;
}

/* Whether all device memory can be had again, and all else could be given back. */
static void
tell_leftovers(struct probe *p)
{
	static const char question[] = "is all given back that the probe took";
	size_t total, largest;
	int rc;

	probe_note(p, "an object of the looped frames", -memic_loop_close(p->loop));
	p->loop = NULL;
	rc = memic_dm_available(p->dev, &total, &largest);
	if (p->left[0] != '\0')
		probe_tell(p, "teardown", question, true, MEMIC_NO, "%s", p->left);
	else if (rc != 0)
		probe_tell(p, "teardown", question, true, MEMIC_NO, "%s", memic_last_error());
	else if (total < p->total)
		/* others may have taken some meanwhile, which cannot be told apart */
		probe_tell(p, "teardown", question, true, MEMIC_UNKNOWN,
			   "every object could be destroyed, but %zu bytes of device memory can "
			   "be had where it was %zu before: did another program take some", total,
			   p->total);
	else
		probe_tell(p, "teardown", question, true, MEMIC_YES,
			   "every object could be destroyed, and %zu bytes of device memory can "
			   "be had as before", total);
}

static void
run(struct probe *p)
{
	probe_sizes(p);
	if (p->total == 0)
		return;
	probe_memory(p);
	probe_objects(p);
	probe_identity(p);
	probe_ways(p);
	probe_fences(p);
	probe_keys(p);
	tell_leftovers(p);
	if (p->removal_seconds != 0)
		probe_removal(p);
}

int
memic_probe(struct memic_device *dev, const struct memic_probe_options *options,
	    memic_check_fn fn, void *arg)
{
	struct probe p = { .dev = dev, .port = 1, .fn = fn, .arg = arg };
	struct memic_port port;
	int rc;

	if (dev == NULL || fn == NULL)
		return memic_fail(EINVAL, "memic_probe: NULL argument: EINVAL");
	if (options != NULL && options->port != 0)
		p.port = options->port;
	if (options != NULL)
		p.removal_seconds = options->removal_seconds;
	if (p.port > UINT8_MAX)
		return memic_fail(EINVAL, "memic_probe of %s: EINVAL: there is no port %u",
				  dev->caps.name, p.port);
	rc = memic_port_query(dev, p.port, &port);
	if (rc == -EINVAL)
		return rc;
	run(&p);
	return p.missing;
}
