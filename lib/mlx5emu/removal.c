/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <infiniband/verbs.h>

#include "eswitch.h"
#include "event.h"
#include "inject.h"
#include "removal.h"
#include "vma.h"

/*
 * Surprise removal, as the kernel does it: ib_uverbs_remove_one() and
 * ib_uverbs_free_hw_resources() in core/uverbs_main.c. Handles stay until their owner
 * destroys them, but nothing stands behind them any more.
 */

static void
remove_file(struct emu_file *file)
{
	file->gone = true;
	/* uverbs_async_event_destroy_uobj() with RDMA_REMOVE_DRIVER_REMOVE */
	emu_async_event(file, IBV_EVENT_DEVICE_FATAL, 0);
	emu_file_disassociate(file);
	/* ufile_destroy_ucontext() comes after the objects */
	emu_vma_disassociate(file);
}

static uint64_t
frames(const struct emu_dev *dev)
{
	const struct emu_dev *port;
	uint64_t n = 0;

	for (unsigned int i = 1; (port = emu_port_find(dev, i)) != NULL; i++)
		n += port->stats.tx_frames + port->stats.rx_frames;
	return n;
}

void
emu_removal_now(struct emu_dev *dev)
{
	struct emu_file *file;
	struct emu_dev *port;

	emu_report("%s: --fault remove: the device is gone after %llu frames", dev->name,
		   (unsigned long long)frames(dev));
	dev->inject.removed_at = emu_clock();
	for (unsigned int i = 1; (port = emu_port_find(dev, i)) != NULL; i++)
		port->removed = true;
	for (file = emu_file_next(NULL); file != NULL; file = emu_file_next(file))
		if (file->dev == dev)
			remove_file(file);
}

/*
 * A driver that probes the device anew finds all of it free. What is still mapped is a page of
 * zeros of the device before, whose files know nothing of the new one.
 */
static void
come_back(struct emu_dev *dev)
{
	struct emu_dev *port;

	emu_report("%s: --fault return: the device is there again", dev->name);
	for (unsigned int i = 1; (port = emu_port_find(dev, i)) != NULL; i++)
		port->removed = false;
	dev->era++;
	emu_memic_clear(&dev->memic);
}

static bool
is_open(const struct emu_dev *dev)
{
	const struct emu_file *file = NULL;

	while ((file = emu_file_next(file)) != NULL)
		if (file->dev == dev)
			return true;
	return false;
}

static bool
return_is_due(const struct emu_dev *dev)
{
	const struct emu_faults *f = &dev->cfg->fault;

	if (f->return_closed && !is_open(dev))
		return true;
	return f->return_ms != 0 &&
	       emu_clock() - dev->inject.removed_at >= f->return_ms * 1000000;
}

void
emu_removal_poll(struct emu_dev *dev)
{
	const struct emu_faults *f = &dev->cfg->fault;
	bool due;

	if (dev->device != NULL)
		return; /* goes with its device */
	if (dev->inject.removed_at != 0) {
		if (dev->removed && return_is_due(dev))
			come_back(dev);
		return; /* it goes once */
	}
	due = f->remove_frames != 0 && frames(dev) >= f->remove_frames;
	if (f->remove_ms != 0 && dev->inject.opened_at != 0)
		due |= emu_clock() - dev->inject.opened_at >= f->remove_ms * 1000000;
	if (due)
		emu_removal_now(dev);
}

/* rdma_lookup_get_uobject() lets nothing but destruction through. */
static bool
destroys(const struct emu_method *method)
{
	/* ends in uobj_get_destroy(), so its handle is not marked in the table */
	if (method->object == UVERBS_OBJECT_CQ && method->method == UVERBS_METHOD_CQ_DESTROY)
		return true;
	for (unsigned int i = 0; i < method->n; i++)
		if (method->specs[i].kind == EMU_ATTR_OBJ &&
		    method->specs[i].access == EMU_OBJ_DESTROY)
			return true;
	return false;
}

bool
emu_removal_refuses(const struct emu_file *file, const struct emu_method *method)
{
	if (!file->gone)
		return false;
	/* uverbs_disassociate_api_pre() takes the handlers of the driver's methods away */
	if ((method->object | method->method) & (1U << UVERBS_ID_NS_SHIFT))
		return true;
	if (method->object == UVERBS_OBJECT_DEVICE &&
	    method->method == UVERBS_METHOD_INVOKE_WRITE)
		return false; /* the command decides */
	return !destroys(method);
}

bool
emu_removal_refuses_write(const struct emu_file *file, uint32_t cmd)
{
	if (!file->gone)
		return false;
	switch (cmd) {
	case IB_USER_VERBS_CMD_DEALLOC_PD:
	case IB_USER_VERBS_CMD_DEREG_MR:
	case IB_USER_VERBS_CMD_DESTROY_CQ:
	case IB_USER_VERBS_CMD_DESTROY_QP:
	case IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_DESTROY_WQ:
	case IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL:
	case IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_DESTROY_FLOW:
		return false;
	default:
		return true;
	}
}
