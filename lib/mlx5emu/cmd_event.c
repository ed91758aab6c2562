/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "devx.h"
#include "emu.h"
#include "event.h"
#include "prm.h"
#include "uapi.h"
#include "verbs.h"

#define MAX_CHANNELS 256

static struct emu_channel *channels[MAX_CHANNELS];

static int
channel_destroy(struct emu_obj *obj, bool forced)
{
	struct emu_channel *channel = (struct emu_channel *)obj;
	struct emu_cq *cq;

	(void)forced;
	LIST_FOREACH(cq, &obj->file->dev->cqs, next)
		if (cq->event_arg == channel)
			cq->event = NULL;
	for (unsigned int i = 0; i < MAX_CHANNELS; i++)
		if (channels[i] == channel)
			channels[i] = NULL;
	syscall(SYS_close, channel->user_fd);
	syscall(SYS_close, channel->dev_fd);
	return 0;
}

#define CHANNEL_CLASS(t, n) { .type = (t), .name = (n), .is_fd = true, \
	.destroy = channel_destroy }

static const struct emu_class comp_channel_class =
	CHANNEL_CLASS(UVERBS_OBJECT_COMP_CHANNEL, "completion channel");
static const struct emu_class async_class =
	CHANNEL_CLASS(UVERBS_OBJECT_ASYNC_EVENT, "async event file");
static const struct emu_class devx_cmd_class =
	CHANNEL_CLASS(MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD, "DevX command file");
static const struct emu_class devx_event_class =
	CHANNEL_CLASS(MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, "DevX event file");

static bool
channel_slot(struct emu_channel *channel)
{
	for (unsigned int i = 0; i < MAX_CHANNELS; i++) {
		if (channels[i] != NULL)
			continue;
		channels[i] = channel;
		return true;
	}
	return false;
}

/* A new channel; its reader's descriptor is returned, or a negative errno. */
static int
channel_new(struct emu_file *file, const struct emu_class *class, bool omit_data)
{
	struct emu_channel *channel = emu_obj_new(file, class, sizeof(*channel));
	int sv[2], err = -EMFILE;

	if (channel == NULL)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) != 0)
		goto err_discard;
	channel->omit_data = omit_data;
	channel->dev_fd = sv[1];
	channel->user_fd = fcntl(sv[0], F_DUPFD_CLOEXEC, 0);
	if (channel->user_fd < 0 || !channel_slot(channel))
		goto err_close;
	emu_obj_commit(&channel->obj); /* fd objects cannot fail here */
	return sv[0];

err_close:
	if (channel->user_fd >= 0)
		syscall(SYS_close, channel->user_fd);
	syscall(SYS_close, sv[0]);
	syscall(SYS_close, sv[1]);
err_discard:
	emu_obj_discard(&channel->obj);
	return err;
}

static struct emu_channel *
channel_of_inode(dev_t dev, ino_t ino)
{
	struct stat st;

	for (unsigned int i = 0; i < MAX_CHANNELS; i++)
		if (channels[i] != NULL &&
		    syscall(SYS_newfstatat, channels[i]->user_fd, "", &st, AT_EMPTY_PATH) == 0 &&
		    st.st_dev == dev && st.st_ino == ino)
			return channels[i];
	return NULL;
}

struct emu_channel *
emu_channel_of_fd(const struct emu_file *file, int fd, uint16_t type)
{
	struct emu_channel *channel;
	struct stat st;

	if (syscall(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) != 0)
		return NULL;
	channel = channel_of_inode(st.st_dev, st.st_ino);
	return channel != NULL && channel->obj.file == file && channel->obj.class->type == type ?
	       channel : NULL;
}

bool
emu_channel_find(dev_t dev, ino_t ino, int *own_fd)
{
	struct emu_channel *channel = channel_of_inode(dev, ino);

	if (channel != NULL)
		*own_fd = channel->user_fd;
	return channel != NULL;
}

void
emu_channel_closed(dev_t dev, ino_t ino)
{
	struct emu_channel *channel = channel_of_inode(dev, ino);

	if (channel == NULL)
		return;
	emu_trace("%s: %s closed", channel->obj.file->dev->name, channel->obj.class->name);
	emu_obj_destroy(&channel->obj, false);
}

/* One that finds the reader's queue full is lost, as told in the trace. */
static bool
channel_send(struct emu_channel *channel, const void *event, size_t len)
{
	if (send(channel->dev_fd, event, len, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len)
		return true;
	emu_trace("%s: event lost: %s", channel->obj.class->name, strerrorname_np(errno));
	return false;
}

unsigned int
emu_channel_recall(struct emu_channel *channel, uint64_t tag)
{
	uint8_t event[256];
	unsigned int mine = 0;
	uint64_t first;
	ssize_t len;
	int pending = 0;

	/* one round over what is queued: ours out, the others back in at the end */
	for (; recv(channel->user_fd, event, 1, MSG_PEEK | MSG_DONTWAIT) > 0 && pending < 4096;
	     pending++) {
		len = recv(channel->user_fd, event, sizeof(event), MSG_DONTWAIT);
		if (len < (ssize_t)sizeof(first))
			break;
		memcpy(&first, event, sizeof(first));
		if (first == tag)
			mine++;
		else if (!channel_send(channel, event, len) || (mine == 0 && pending > 64))
			break; /* or a full round without one of ours */
	}
	return mine;
}

static void
cq_event(struct emu_cq *cq)
{
	/* struct ib_uverbs_comp_event_desc and the header of a DevX event: one u64 each */
	if (channel_send(cq->event_arg, &cq->event_tag, sizeof(cq->event_tag)))
		cq->events++;
}

void
emu_channel_watch(struct emu_channel *channel, struct emu_cq *cq, uint64_t tag)
{
	cq->event_arg = channel;
	cq->event_tag = tag;
	cq->event = cq_event;
}

void
emu_async_event(struct emu_file *file, uint32_t type, uint64_t element)
{
	struct ib_uverbs_async_event_desc event = { .element = element, .event_type = type };
	struct emu_obj *obj;

	TAILQ_FOREACH(obj, &file->objects, next)
		if (obj->class == &async_class)
			channel_send((struct emu_channel *)obj, &event, sizeof(event));
}

/* ---- subscriptions ---- */

#define MAX_EVENTS 16
enum { EVENT_COMP = 0, EVENT_PORT_CHANGE = 9 }; /* enum mlx5_event */

/* is_legacy_obj_event_num(): paths, queues and CQs; there is no event_cap to say more */
static bool
is_object_event(uint16_t type)
{
	static const uint16_t types[] = {
		EVENT_COMP, 0x01, 0x02, 0x03, 0x04, 0x05, 0x07, 0x10, 0x11, 0x12, 0x13, 0x14,
		0x18, 0x1c, 0x1d,
	};

	for (unsigned int i = 0; i < EMU_COUNT(types); i++)
		if (types[i] == type)
			return true;
	return false;
}

static int
check_events(struct emu_call *call, bool on_object, bool *completions)
{
	size_t len = emu_len(call, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST);
	uint16_t types[MAX_EVENTS];
	int err;

	if (!call->file->devx)
		return -EINVAL;
	if (emu_has(call, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM)) {
		emu_trace("  events to an eventfd are not emulated");
		return emu_has(call, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE) ? -EINVAL :
		       -EOPNOTSUPP;
	}
	if (len % sizeof(types[0]) != 0 || len > sizeof(types))
		return -EINVAL;
	err = emu_in(call, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, types, sizeof(types));
	if (err != 0)
		return err;
	*completions = false;
	for (unsigned int i = 0; i < len / sizeof(types[0]); i++) {
		if (on_object ? !is_object_event(types[i]) : types[i] != EVENT_PORT_CHANGE)
			return -EINVAL;
		*completions |= types[i] == EVENT_COMP;
	}
	return 0;
}

/*
 * MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT. Of the event types only the completion event
 * of a CQ ever comes; the others may be waited for, as on a card where all is well.
 */
static int
devx_subscribe(struct emu_call *call)
{
	struct emu_devx_obj *obj = emu_obj(call, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE);
	struct emu_channel *channel = emu_obj(call, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE);
	bool completions;
	int err = check_events(call, obj != NULL, &completions);

	if (err != 0)
		return err;
	if (obj == NULL || obj->opcode != PRM_CMD_CREATE_CQ || !completions)
		return 0;
	emu_channel_watch(channel, &obj->cq,
			  emu_in_u64(call, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE, 0));
	return 0;
}

/* ---- methods ---- */

static int
fd_out(const struct emu_call *call, uint16_t attr, int fd)
{
	return fd < 0 ? fd : emu_out_fd(call, attr, fd);
}

static int
async_alloc(struct emu_call *call)
{
	return fd_out(call, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE,
		      channel_new(call->file, &async_class, false));
}

static int
devx_cmd_alloc(struct emu_call *call)
{
	return fd_out(call, MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE,
		      channel_new(call->file, &devx_cmd_class, false));
}

static int
devx_event_alloc(struct emu_call *call)
{
	uint64_t flags;
	int err = emu_in_flags(call, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS,
			       MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA, &flags);

	if (err != 0)
		return err;
	return fd_out(call, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE,
		      channel_new(call->file, &devx_event_class, flags != 0));
}

static int
write_create_comp_channel(struct emu_call *call, const void *in, size_t in_len)
{
	struct ib_uverbs_create_comp_channel_resp resp;
	int fd = channel_new(call->file, &comp_channel_class, false);

	(void)in;
	(void)in_len;
	if (fd < 0)
		return fd;
	resp.fd = fd;
	return emu_out(call, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
}

static const struct emu_method methods[] = {
	EMU_METHOD(UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, "ASYNC_EVENT_ALLOC",
		async_alloc,
		EMU_SPECS(EMU_FD(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE,
				 UVERBS_OBJECT_ASYNC_EVENT, EMU_OBJ_NEW))),
	EMU_METHOD(MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD, MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC,
		"DEVX_ASYNC_CMD_FD_ALLOC", devx_cmd_alloc,
		EMU_SPECS(EMU_FD(MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE,
				 MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD, EMU_OBJ_NEW))),
	EMU_METHOD(MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC,
		"DEVX_ASYNC_EVENT_FD_ALLOC", devx_event_alloc,
		EMU_SPECS(
			EMU_FD(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE,
			       MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, EMU_OBJ_NEW),
			EMU_NEEDED_FLAGS(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS))),
	EMU_METHOD(MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT,
		"DEVX_SUBSCRIBE_EVENT", devx_subscribe,
		EMU_SPECS(
			EMU_FD(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE,
			       MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, EMU_OBJ_READ),
			EMU_OPT_OBJ(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE,
				    MLX5_IB_OBJECT_DEVX_OBJ, EMU_OBJ_READ),
			EMU_IN_RANGE(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, 2,
				     UINT16_MAX),
			EMU_OPT_IN(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE, 8),
			EMU_OPT_IN(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM, 4))),
};

static const struct emu_write writes[] = {
	{ IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, "CREATE_COMP_CHANNEL",
	  sizeof(struct ib_uverbs_create_comp_channel),
	  sizeof(struct ib_uverbs_create_comp_channel_resp), write_create_comp_channel },
};

EMU_TABLE(emu_event_table, methods, writes);
