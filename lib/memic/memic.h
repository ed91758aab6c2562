/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef MEMIC_H
#define MEMIC_H

/**
 * @file
 * On-chip device memory of ConnectX NICs over verbs.
 *
 * The library wraps mlx5dv_alloc_dm(3) and what is needed around it: a context
 * of its own on the device that somebody else opened, capabilities, the CPU's
 * view of the memory, the memory keys through which queues reach it, and copies
 * that are safe on write-combining memory. It knows nothing of DPDK.
 *
 * Conventions: a call that can fail returns 0 or a negative errno, and leaves a
 * sentence in memic_last_error() that says which call failed on which device,
 * the errno by name and, where one is known, the cure. A failed call changes
 * nothing. Objects are not locked: two threads may use two objects at once, but
 * one object only one after the other, unless a call says otherwise.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A device context that the library owns. */
struct memic_device;
/** One allocation of device memory. */
struct memic_dm;
/** A key through which the queues of one protection domain reach a memic_dm. */
struct memic_mkey;

/** The types of mlx5dv_alloc_dm(3), by the names used there. */
enum memic_dm_type {
	/** On-chip memory that packets are sent from and received into. */
	MEMIC_DM_MEMIC,
	/** Packet steering tables and rules. */
	MEMIC_DM_STEERING_SW_ICM,
	/** Header modification tables and rules. */
	MEMIC_DM_HEADER_MODIFY_SW_ICM,
	/** Header modification patterns. */
	MEMIC_DM_HEADER_MODIFY_PATTERN_SW_ICM,
	/** Packet encapsulation data; rdma-core 50 and newer only. */
	MEMIC_DM_ENCAP_SW_ICM,
	MEMIC_DM_TYPES /**< Number of types. */
};

/** How a queue that posts virtual addresses reaches the zero-based DM MR. */
enum memic_mkey_mode {
	/** Indirect key with one KLM entry of any length. */
	MEMIC_MKEY_KLM,
	/** Indirect key with fixed-size (4 KiB) KSM entries. */
	MEMIC_MKEY_KSM,
	/** The DM MR's own key: addresses are offsets into the allocation. */
	MEMIC_MKEY_DIRECT,
	MEMIC_MKEY_MODES /**< Number of modes. */
};

/** What a device says that it can do. All sizes in bytes. */
struct memic_caps {
	char name[64];          /**< IB device name, as "mlx5_0". */
	char address[64];       /**< PCI or auxiliary bus address. */
	char fw_ver[64];        /**< Firmware version text. */
	uint64_t max_dm_size;   /**< Largest MEMIC allocation; a capability, not what is free. */
	uint64_t memic_bar_size; /**< Size of the MEMIC BAR window; 0 where DevX is refused. */
	uint32_t log_max_align; /**< log2 of the largest alignment of an allocation, at least 6. */
	bool devx;              /**< DevX commands are accepted; KLM and KSM keys need them. */
	bool memic;             /**< The device has MEMIC. */
	bool sw_icm[MEMIC_DM_TYPES]; /**< Each SW_ICM type; [MEMIC_DM_MEMIC] unused. */
	bool relaxed_ordering_write; /**< Mkeys may ask for relaxed ordered writes. */
	bool relaxed_ordering_read;  /**< Mkeys may ask for relaxed ordered reads. */
};

/**
 * The sentence of the calling thread's last failed call.
 *
 * @return text, never NULL; valid until the thread's next failing call.
 */
const char *memic_last_error(void);

/**
 * Name of an errno, as "ENOMEM".
 *
 * @param err errno, positive or negative.
 * @return static text, or "E?" for a number without a name.
 */
const char *memic_errno_name(int err);

/* ---- devices ---- */

/**
 * PCI or auxiliary bus address of a device, open or not, as "0000:08:00.0". From any thread.
 *
 * @param device device of libibverbs.
 * @param[out] address the address; "" where sysfs does not tell.
 * @param size room at @p address, in bytes; 64 is enough.
 */
void memic_bus_address(const struct ibv_device *device, char *address, size_t size);

/**
 * Take a context of one's own on the kernel context behind @p ctx.
 *
 * The new context shares PDs and other objects with @p ctx (ibv_import_device(3)
 * of a duplicate of its command fd) and outlives it: device memory allocated
 * through it stays after the owner of @p ctx closed that one.
 *
 * @param ctx an open mlx5 context.
 * @param[out] dev the device; release with memic_device_close().
 * @return 0; -EOPNOTSUPP (not an mlx5 device), -EMFILE, or what the import gave.
 */
int memic_device_adopt(struct ibv_context *ctx, struct memic_device **dev);

/**
 * Open a device by IB name ("mlx5_0") or by PCI or auxiliary address.
 *
 * @param name device to open.
 * @param[out] dev the device; release with memic_device_close().
 * @return 0; -ENODEV (no such device; the sentence lists those there are),
 *         -EACCES, or what the open gave.
 */
int memic_device_open(const char *name, struct memic_device **dev);

/**
 * Close a device. All its allocations must have been freed.
 *
 * @param dev device, or NULL.
 * @return 0; -EBUSY when allocations live, nothing closed; otherwise what the
 *         close gave, with the device released all the same.
 */
int memic_device_close(struct memic_device *dev);

/**
 * The library's own verbs context on a device.
 *
 * @param dev device.
 * @return context, valid until the device is closed.
 */
struct ibv_context *memic_device_context(const struct memic_device *dev);

/**
 * Capabilities of a device, read when it was opened or adopted.
 *
 * @param dev device.
 * @return pointer into the device, valid until it is closed.
 */
const struct memic_caps *memic_device_caps(const struct memic_device *dev);

/* ---- allocations ---- */

/**
 * Name of a type as in mlx5dv_alloc_dm(3) without the prefix, as "MEMIC".
 *
 * @param type type.
 * @return static text.
 */
const char *memic_dm_type_name(enum memic_dm_type type);

/**
 * Whether packets can be sent from and received into memory of a type.
 *
 * @param type type.
 * @param[out] why if not NULL and the answer is no: a sentence that says why.
 * @return true for MEMIC_DM_MEMIC only.
 */
bool memic_dm_type_is_packet_memory(enum memic_dm_type type, const char **why);

/**
 * Allocate device memory.
 *
 * @param dev device.
 * @param type which of the five types.
 * @param length bytes, more than 0; the device rounds up to 64.
 * @param log_align log2 of the alignment, 0 for none asked.
 * @param[out] dm the allocation.
 * @return 0; -EINVAL (length 0, over max_dm_size or alignment over the cap),
 *         -ENOMEM (nothing of that size left), -EPERM (SW_ICM without
 *         CAP_SYS_RAWIO and CAP_NET_RAW), -EOPNOTSUPP (type unknown to rdma-core,
 *         kernel or device), -EREMOTEIO (refused by firmware), -EIO.
 */
int memic_dm_alloc(struct memic_device *dev, enum memic_dm_type type, size_t length,
		   unsigned int log_align, struct memic_dm **dm);

/**
 * Allocate as much MEMIC as can be had, up to @p want bytes in one piece.
 *
 * max_dm_size is a capability: other processes and firmware may hold part of
 * the memory. The call starts at the smaller of @p want and max_dm_size and
 * backs off to what the device gives, page by page at the end. The memory starts on a
 * page where the device can align that far.
 *
 * @param dev device.
 * @param want bytes wished for.
 * @param least fewest bytes that are of use.
 * @param[out] dm the allocation; memic_dm_length() says how much it is.
 * @return 0, or the errno of the last try as in memic_dm_alloc(). -ENOMEM means
 *         that fewer than @p least bytes are left, -EOPNOTSUPP that the device has no
 *         MEMIC, -EINVAL that @p least is 0 or more than @p want.
 */
int memic_dm_alloc_most(struct memic_device *dev, size_t want, size_t least,
			struct memic_dm **dm);

/**
 * Free an allocation and its mapping. Keys over it must have been destroyed.
 *
 * @param dm allocation, or NULL.
 * @return 0; -EBUSY when keys or other objects still use it, nothing freed and the
 *         call can be repeated. After the device was removed EIO counts as freed.
 */
int memic_dm_free(struct memic_dm *dm);

/**
 * Find out how much MEMIC can be had now, by taking all of it and giving it back.
 *
 * Nobody can ask a device how much is free. For the milliseconds that the trial takes
 * others get none.
 *
 * @param dev device.
 * @param[out] total bytes that could be had in all.
 * @param[out] largest bytes that could be had in one piece.
 * @return 0, also where there is none; -EINVAL (NULL argument); -EBUSY or what else giving
 *         back failed with; -EIO (the device was removed) or what a trial failed with for
 *         another reason than want of memory.
 */
int memic_dm_available(struct memic_device *dev, size_t *total, size_t *largest);

/**
 * Move the mapping of an allocation to where address and offset are the same.
 *
 * Queues that post addresses can then use the allocation's direct key, as byte N of it is
 * at address N. The first page is lost: nothing can be at address 0. From now on
 * memic_dm_addr() and memic_dm_length() tell of the rest, and indirect keys are refused.
 * Until it is freed a NULL pointer with an offset added reaches device memory unnoticed.
 * Only one allocation of a process can be there. Not safe while another thread maps or
 * unmaps at addresses of its own choice.
 *
 * @param dm a MEMIC allocation without keys, of more than a page.
 * @return 0, also when it is there already; -EOPNOTSUPP (not packet memory), -EBUSY (keys
 *         over it), -EINVAL (it starts inside its page, or has no second one), -EEXIST
 *         (something else is at these addresses; the sentence says what), -EPERM
 *         (addresses below vm.mmap_min_addr without CAP_SYS_RAWIO), or what mremap(2) gave.
 */
int memic_dm_map_identity(struct memic_dm *dm);

/**
 * The CPU's mapping of an allocation, write-combining.
 *
 * @param dm allocation.
 * @return its first byte; NULL for SW_ICM, which has none.
 */
void *memic_dm_addr(const struct memic_dm *dm);

/**
 * Length of an allocation.
 *
 * @param dm allocation.
 * @return usable bytes, as asked for.
 */
size_t memic_dm_length(const struct memic_dm *dm);

/**
 * Type of an allocation.
 *
 * @param dm allocation.
 * @return the type it was made with.
 */
enum memic_dm_type memic_dm_type(const struct memic_dm *dm);

/**
 * The verbs object of an allocation.
 *
 * @param dm allocation.
 * @return object that stays the library's.
 */
struct ibv_dm *memic_dm_verbs(const struct memic_dm *dm);

/* ---- in other processes, or elsewhere in this one ---- */

/** What it takes to map an allocation. */
struct memic_dm_share {
	int fd;          /**< The device's open file; another process gets it over a socket. */
	uint64_t offset; /**< Where in that file, for mmap(2). */
	size_t start;    /**< Offset of the first byte of the allocation in the mapping. */
	size_t bytes;    /**< Length of the mapping: the kernel takes no other. */
};

/**
 * Find out how an allocation can be mapped once more.
 *
 * @param dm a MEMIC allocation.
 * @param[out] share valid as long as the allocation; the descriptor stays the library's.
 * @return 0; -EOPNOTSUPP (no packet memory, or an identity mapping), otherwise what the
 *         kernel's query gave: one older than linux 5.13 does not have it.
 */
int memic_dm_share(const struct memic_dm *dm, struct memic_dm_share *share);

/**
 * Map an allocation, in this process or in one that was handed its descriptor. The kernel
 * keeps the memory until the last mapping goes; release with munmap(2).
 *
 * @param share as memic_dm_share() gave it, with a descriptor of the calling process.
 * @param addr page at which it must be, or NULL for any. Nothing is mapped over.
 * @param[out] map start of the mapping.
 * @return 0; -EEXIST (something else is mapped there), otherwise what mmap(2) gave.
 */
int memic_map_share(const struct memic_dm_share *share, void *addr, void **map);

/**
 * Have an allocation at an address of the caller's choice, so that other processes can
 * have it there, too. memic_dm_addr() gives the new address from then on; the mapping that
 * libmlx5 made stays as it is. Once, and before keys are made.
 *
 * @param dm a MEMIC allocation.
 * @param addr start of a page where nothing is mapped.
 * @return 0; -EEXIST (something is mapped there), -EBUSY (keys live, or called before), or
 *         as memic_dm_share().
 */
int memic_dm_map_at(struct memic_dm *dm, void *addr);

/* ---- keys ---- */

/**
 * Name of a mode.
 *
 * @param mode mode.
 * @return static text: "klm", "ksm" or "direct".
 */
const char *memic_mkey_mode_name(enum memic_mkey_mode mode);

/**
 * Make a key through which queues of @p pd reach an allocation.
 *
 * With KLM and KSM queues post the CPU's addresses of the mapping, with DIRECT
 * they post offsets from the start of the allocation. The key reaches the whole
 * allocation or is refused: KSM wants memory that starts on a 4 KiB boundary. Optional
 * access bits that a kernel refuses are left out (retry without relaxed ordering).
 *
 * @param dm a MEMIC allocation; other types are refused.
 * @param pd protection domain of the queues, on a context that shares the kernel
 *        context of the allocation's device.
 * @param mode which way.
 * @param[out] mkey the key.
 * @return 0; -EOPNOTSUPP (not packet memory, or DevX refused), -EXDEV (@p pd is on
 *         another device), -EINVAL, -EREMOTEIO (firmware refused: status and
 *         syndrome are in the sentence), -ENOMEM.
 */
int memic_mkey_create(struct memic_dm *dm, struct ibv_pd *pd, enum memic_mkey_mode mode,
		      struct memic_mkey **mkey);

/**
 * Destroy a key: the indirect key first, then the MR under it.
 *
 * @param mkey key, or NULL.
 * @return 0; otherwise what failed, as -EBUSY (a queue uses it), the key still there and
 *         the call can be repeated. After the device was removed EIO counts as destroyed.
 */
int memic_mkey_destroy(struct memic_mkey *mkey);

/**
 * The key that work queue entries carry.
 *
 * @param mkey key.
 * @return its 32 bits, in the CPU's order.
 */
uint32_t memic_mkey_lkey(const struct memic_mkey *mkey);

/**
 * Which way a key works.
 *
 * @param mkey key.
 * @return the mode it was made with.
 */
enum memic_mkey_mode memic_mkey_mode(const struct memic_mkey *mkey);

/**
 * First address that queues may post through a key.
 *
 * @param mkey key.
 * @return the mapping's for KLM and KSM, 0 for DIRECT.
 */
uint64_t memic_mkey_base(const struct memic_mkey *mkey);

/* ---- what a device really does ---- */

/** Answer to a question about a device. */
enum memic_answer {
	MEMIC_NO,      /**< No. */
	MEMIC_YES,     /**< Yes. */
	MEMIC_UNKNOWN, /**< It cannot be found out here; the reason says why. */
};

/** One question about a device, its answer and what it rests on. */
struct memic_check {
	const char *name;         /**< Short and stable, as "klm"; static text. */
	const char *question;     /**< What was asked; static text. */
	bool needed;              /**< Without a yes the driver cannot use the memory so. */
	enum memic_answer answer; /**< What came of it. */
	char reason[512];         /**< What was seen; holds no address or name of a network. */
};

/** Called for each check as soon as it has its answer. */
typedef void (*memic_check_fn)(const struct memic_check *check, void *arg);

/** What memic_probe() shall do. All 0 is a good start. */
struct memic_probe_options {
	unsigned int port;            /**< Port that sends frames to itself, from 1; 0 is 1. */
	unsigned int removal_seconds; /**< How long to wait for a removal; 0: not asked for. */
};

/**
 * Name of an answer.
 *
 * @param answer answer.
 * @return static text: "yes", "no" or "unknown".
 */
const char *memic_answer_name(enum memic_answer answer);

/**
 * Put each assumption that is made about a device's MEMIC to the test.
 *
 * Allocates device memory, maps and registers it, and sends frames of several sizes from
 * and to it, through a raw packet queue pair of its own: the port sends to itself inside
 * the card, and a flow rule takes frames of one source address and EtherType only, so
 * that the flows of others stay as they are. While it runs, frames that others send to
 * the port's own address may stay in the card, too. Takes a second or two, plus the wait
 * for a removal, and gives all back. The checks need CAP_NET_RAW.
 *
 * What is asked follows from the kernel's hw/mlx5/dm.c and mr.c (sizes, regions, who is
 * busy), mlx5dv_alloc_dm(3) and ibv_alloc_dm(3), and from what was published of costs; the
 * checks of keys, order and write-combining rest on nothing but what is seen.
 *
 * With removal_seconds the last check waits that long for somebody to remove the device;
 * after a removal only memic_device_close() is of use.
 *
 * @param dev device, without allocations of this process that leave no memory.
 * @param options what to do, NULL for all 0.
 * @param fn called for each check, in the calling thread.
 * @param arg its argument.
 * @return number of checks that are needed and have not been answered with yes; -EINVAL
 *         for a NULL argument or a port that the device does not have.
 */
int memic_probe(struct memic_device *dev, const struct memic_probe_options *options,
		memic_check_fn fn, void *arg);

/**
 * Find out whether frames pass through one kind of key over an allocation.
 *
 * The allocation's bytes are lost. Two frames go from host memory to the device and back,
 * without the CPU touching device memory; with @p thorough it is several dozen, see
 * memic_probe(), and the CPU does. Takes some milliseconds where it works, some tenths of
 * a second where frames get lost.
 *
 * @param dm a MEMIC allocation whose bytes nobody needs.
 * @param mode kind of key.
 * @param port port that sends frames to itself, from 1.
 * @param thorough all sizes, several segments, both ways apart.
 * @param[out] check the answer. MEMIC_UNKNOWN: the key can be made, but no frame comes
 *             back, whatever memory it is in.
 * @return 0; -EINVAL, -EOPNOTSUPP (not packet memory), or why no key can be made just now,
 *         as -ENOMEM and -EBUSY, which says nothing of the device.
 */
int memic_probe_mkey(struct memic_dm *dm, enum memic_mkey_mode mode, unsigned int port,
		     bool thorough, struct memic_check *check);

/* ---- copies by the CPU ---- */

/**
 * Copy into device memory.
 *
 * Stores each word once, in ascending order and by full, aligned stores where the
 * destination allows, so that write-combining buffers leave as whole 64 B lines;
 * one store fence at the end. Unlike ibv_memcpy_to_dm(3) any alignment and length
 * will do. Safe from any thread; two threads must not write the same 64 B.
 *
 * @param dst address inside a mapping of device memory.
 * @param src host memory.
 * @param len bytes.
 */
void memic_copy_to(void *dst, const void *src, size_t len);

/**
 * Copy out of device memory. Slow by nature: about 0.05 bytes per cycle.
 *
 * A load fence comes first, as loads from write-combining memory may otherwise run
 * ahead of the check that data has arrived. Reads 8-byte words, each once.
 *
 * @param dst host memory.
 * @param src address inside a mapping of device memory.
 * @param len bytes.
 */
void memic_copy_from(void *dst, const void *src, size_t len);

/**
 * Fill device memory with a byte; as memic_copy_to() in all else.
 *
 * @param dst address inside a mapping of device memory.
 * @param byte value.
 * @param len bytes.
 */
void memic_fill(void *dst, uint8_t byte, size_t len);

#ifdef __cplusplus
}
#endif

#endif /* MEMIC_H */
