/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MLX5EMU_SHARE_H
#define MLX5EMU_SHARE_H

/*
 * Uverbs files in other processes. The kernel lets whoever is handed the descriptor of an
 * open file map the file's pages: ib_uverbs_mmap() and rdma_user_mmap_io() look at the
 * file, not at who calls. Here the card is in the process that opened the file, so that
 * process answers for it. The memfd behind the descriptor carries a tag with the name of
 * its socket; another process under the same launcher finds the tag, asks for a range and
 * gets the memory behind it. The answer holds the range as a mapping does, until the
 * other process unmaps it or ends, however it ends.
 */

#include <stdint.h>
#include <sys/stat.h>

#include "vma.h"

/* ---- in the process that opened the file (share.c) ---- */

/* Write the tag and start to answer; without that nobody else can map. Under the lock. */
void emu_share_tag(int fd, const struct emu_dev *dev);
/* The device went: other processes' mappings of the file show zeros from now on. */
void emu_share_disassociate(const struct emu_file *file);

/* ---- in others (share_peer.c), all under the lock ---- */

/* The file behind a descriptor that another process opened, or NULL. */
struct emu_file *emu_share_file(int fd, const struct stat *st);
/*
 * Ask for the range at an offset: 0, with an entry that has one reference, or what
 * mmap(2) is to say.
 */
int emu_share_ask(struct emu_file *file, uint64_t offset, size_t len, int prot, int flags,
		  struct emu_mmap_entry **entry);
/* Say once why no ioctl works on such a file. Returns what it fails with. */
int emu_share_refuse_ioctl(void);

/* ---- between the two ---- */

#define EMU_SHARE_MAGIC "mlx5emu"
#define EMU_SHARE_PATH 480

struct emu_share_tag {
	char magic[8];
	uint32_t dev;                   /* index of the device */
	uint32_t unused[5];
	char path[EMU_SHARE_PATH];      /* socket; "" where there is none */
};

enum { EMU_SHARE_MAP = 1, EMU_SHARE_UNMAP = 2 };

/* A request, and the answer to it; with a map's answer comes the memory's descriptor. */
struct emu_share_msg {
	uint32_t type;
	int32_t err;            /* 0 or a negative errno */
	uint64_t st_dev, st_ino;
	uint64_t offset;        /* of the mapping; in the answer: within the memory */
	uint64_t len;
	int32_t prot, flags;
	uint64_t id;            /* names the range in EMU_SHARE_UNMAP */
};

/* Socket address of a path of any length: through a descriptor of its folder. */
struct sockaddr_un;
int emu_share_address(const char *path, struct sockaddr_un *addr);

#endif
