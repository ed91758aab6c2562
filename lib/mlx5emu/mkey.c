/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "emu.h"
#include "inject.h"

/*
 * Memory keys and the moving of bytes through them.
 *
 * An index carries the number of its device in the low bits. Real cards give the same
 * numbers out on each function, so that a key of one used on another may hit a key that
 * exists; here it never does and is refused with its true reason. Likewise an index is
 * given again only after all others, so that a key used after its end is refused.
 */
#define DEV_BITS 3
#define DEV_MASK ((1u << DEV_BITS) - 1)
#define FIRST_SLOT 16           /* keeps clear of the reserved key 0x100 */
#define MIN_SLOTS 1024
#define MAX_SLOTS (1u << (24 - DEV_BITS))

_Static_assert(EMU_MAX_PORTS <= 1 << DEV_BITS, "a device has its own indexes");

/* One use of a key: what is asked for, and where the bytes go. */
struct use {
	struct emu_access *acc;
	uint32_t need;          /* EMU_ACCESS_* */
	uint32_t key;           /* as the WQE named it */
	uint8_t *to;            /* read: destination */
	const uint8_t *from;    /* write: source; both NULL while only checking */
};

static int resolve(struct use *use, uint32_t key, uint64_t addr, uint64_t len,
		   unsigned int depth);

static int
grow(struct emu_dev *dev)
{
	uint32_t slots = dev->mkey_slots > 0 ? dev->mkey_slots * 2 : MIN_SLOTS;
	struct emu_mkey **table;

	table = reallocarray(dev->mkeys, slots, sizeof(*table));
	if (table == NULL)
		return -ENOMEM;
	memset(table + dev->mkey_slots, 0, (slots - dev->mkey_slots) * sizeof(*table));
	dev->mkeys = table;
	dev->mkey_slots = slots;
	return 0;
}

static int
take_slot(struct emu_dev *dev, uint32_t *slot)
{
	uint32_t tries;

	if (dev->mkey_next < FIRST_SLOT)
		dev->mkey_next = FIRST_SLOT;
	if (dev->mkey_next == dev->mkey_slots || dev->mkey_slots == 0)
		if (grow(dev) < 0)
			return -ENOMEM;
	/* Until the table has its full size, what follows mkey_next is free. */
	for (tries = dev->mkey_slots; tries > 0; tries--) {
		*slot = dev->mkey_next++;
		if (dev->mkey_next == MAX_SLOTS)
			dev->mkey_next = FIRST_SLOT;
		if (dev->mkeys[*slot] == NULL)
			return 0;
	}
	return -ENOMEM;
}

/* Where each KLM entry ends, up to an entry of no bytes: what that means is not told. */
static int
sum_entries(struct emu_mkey *mkey)
{
	uint64_t end = 0;
	uint32_t i;

	mkey->ends = NULL;
	mkey->n_ends = 0;
	if (mkey->mode != EMU_MKEY_KLM || mkey->n == 0)
		return 0;
	mkey->ends = calloc(mkey->n, sizeof(*mkey->ends));
	if (mkey->ends == NULL)
		return -ENOMEM;
	for (i = 0; i < mkey->n && mkey->entries[i].bytes > 0; i++) {
		end += mkey->entries[i].bytes;
		mkey->ends[i] = end;
	}
	mkey->n_ends = i;
	return 0;
}

int
emu_mkey_add(struct emu_mkey *mkey)
{
	struct emu_dev *dev = mkey->dev;
	uint32_t slot;
	int ret;

	ret = sum_entries(mkey);
	if (ret < 0)
		return ret;
	ret = take_slot(dev, &slot);
	if (ret < 0)
		goto err_free_ends;
	dev->mkeys[slot] = mkey;
	mkey->key = (slot << DEV_BITS | dev->index) << 8 | (mkey->key & 0xff);
	return 0;

err_free_ends:
	free(mkey->ends);
	mkey->ends = NULL;
	return ret;
}

void
emu_mkey_remove(struct emu_mkey *mkey)
{
	mkey->dev->mkeys[mkey->key >> 8 >> DEV_BITS] = NULL;
	free(mkey->ends);
	mkey->ends = NULL;
}

/* The key that holds the index, whatever its variant. */
static struct emu_mkey *
find_index(const struct emu_dev *dev, uint32_t index)
{
	uint32_t slot = index >> DEV_BITS;

	if ((index & DEV_MASK) != dev->index || slot >= dev->mkey_slots)
		return NULL;
	return dev->mkeys[slot];
}

struct emu_mkey *
emu_mkey_find(const struct emu_dev *dev, uint32_t key)
{
	struct emu_mkey *mkey = find_index(dev, key >> 8);

	if (mkey == NULL || (mkey->key != key && !dev->cfg->fault.any_variant))
		return NULL;
	return mkey;
}

enum emu_key_fault
emu_mkey_entry_fault(const struct emu_mkey *mkey, uint32_t target)
{
	const struct emu_faults *f = &mkey->dev->cfg->fault;
	enum emu_key_fault fault = mkey->mode == EMU_MKEY_KLM ? f->klm : f->ksm;
	const struct emu_mkey *over;

	if (fault == EMU_KEY_WORKS)
		return fault;
	over = emu_mkey_find(mkey->dev, target);
	return over != NULL && over->mode == EMU_MKEY_MEMIC ? fault : EMU_KEY_WORKS;
}

static int refuse(const struct use *use, uint32_t key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int
refuse(const struct use *use, uint32_t key, const char *fmt, ...)
{
	char why[120], through[40] = "";
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	if (key != use->key)
		snprintf(through, sizeof(through), " (through mkey 0x%x)", use->key);
	emu_report("%s: mkey 0x%x %s%s", use->acc->dev->name, key, why, through);
	use->acc->dev->stats.protection_errors++;
	return -EACCES;
}

static int
refuse_unknown(const struct use *use, uint32_t key)
{
	const struct emu_dev *dev = use->acc->dev;
	struct emu_mkey *other;
	unsigned int i;

	other = find_index(dev, key >> 8);
	if (other != NULL)
		return refuse(use, key, "does not exist; its index has key 0x%x", other->key);
	for (i = 0; i < emu_dev_count; i++)
		if (&emu_devs[i] != dev && emu_mkey_find(&emu_devs[i], key) != NULL)
			return refuse(use, key, "of %s used on %s", emu_devs[i].name,
				      dev->name);
	return refuse(use, key, "does not exist on %s", dev->name);
}

static int
check(const struct use *use, const struct emu_mkey *mkey, uint64_t addr, uint64_t len)
{
	uint32_t missing = use->need & ~mkey->access;
	uint64_t off = addr - mkey->start;

	if (mkey->pdn != use->acc->pdn)
		return refuse(use, mkey->key, "of pd %u used with pd %u", mkey->pdn,
			      use->acc->pdn);
	if (missing != 0)
		return refuse(use, mkey->key, "allows no local %s",
			      missing & EMU_ACCESS_LR ? "read" : "write");
	if (addr < mkey->start || off > mkey->len || len > mkey->len - off)
		return refuse(use, mkey->key,
			      "has 0x%llx bytes at 0x%llx%s: 0x%llx bytes at 0x%llx wanted",
			      (unsigned long long)mkey->len, (unsigned long long)mkey->start,
			      mkey->start == 0 ? " (zero-based)" : "",
			      (unsigned long long)len, (unsigned long long)addr);
	return 0;
}

/* Host memory that lies in several pieces. */
static void
move_torn(struct use *use, const struct emu_mkey *mkey, uint64_t off, uint64_t len)
{
	if (use->to != NULL) {
		emu_view_read(mkey->torn, off, use->to, len);
		use->to += len;
	} else if (use->from != NULL) {
		emu_view_write(mkey->torn, off, use->from, len);
		use->from += len;
	} else {
		return;
	}
	use->acc->host_bytes += len;
}

static int
resolve_torn(struct use *use, const struct emu_mkey *mkey, uint64_t off, uint64_t len)
{
	uint64_t addr;

	if (emu_view_is_lost(mkey->torn, off, len, &addr))
		return refuse(use, mkey->key, "reaches 0x%llx, where no memory is any more",
			      (unsigned long long)addr);
	move_torn(use, mkey, off, len);
	return 0;
}

static void
move(struct use *use, const struct emu_mkey *mkey, uint64_t off, uint64_t len)
{
	if (use->to != NULL) {
		memcpy(use->to, mkey->base + off, len);
		use->to += len;
	} else if (use->from != NULL) {
		memcpy(mkey->base + off, use->from, len);
		if (mkey->mode == EMU_MKEY_MEMIC)
			emu_wc_written(mkey->dev, mkey->base + off, len);
		use->from += len;
	} else {
		return;
	}
	if (mkey->mode == EMU_MKEY_MEMIC)
		use->acc->memic_bytes += len;
	else
		use->acc->host_bytes += len;
}

static int
resolve_entry(struct use *use, const struct emu_mkey *mkey, uint32_t i, uint64_t off,
	      uint64_t len, unsigned int depth)
{
	const struct emu_klm *entry = &mkey->entries[i];
	uint64_t addr;

	if (emu_mkey_entry_fault(mkey, entry->key) == EMU_KEY_FAILS)
		return refuse(use, mkey->key, "reaches device memory: --fault %s=use",
			      mkey->mode == EMU_MKEY_KLM ? "klm" : "ksm");
	/* A sum that wraps would look like a small address of a zero-based target. */
	if (__builtin_add_overflow(entry->addr, off, &addr))
		return refuse(use, mkey->key, "entry %u: 0x%llx + 0x%llx wraps", i,
			      (unsigned long long)entry->addr, (unsigned long long)off);
	return resolve(use, entry->key, addr, len, depth + 1);
}

/* First entry that ends behind off. */
static uint32_t
klm_index(const struct emu_mkey *mkey, uint64_t off)
{
	uint32_t lo = 0, hi = mkey->n_ends;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (mkey->ends[mid] > off)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static int
resolve_klm(struct use *use, const struct emu_mkey *mkey, uint64_t off, uint64_t len,
	    unsigned int depth)
{
	uint32_t i = klm_index(mkey, off);
	int ret;

	for (; len > 0; i++) {
		uint64_t begin, n;

		if (i >= mkey->n_ends)
			return refuse(use, mkey->key, "offset 0x%llx: %s",
				      (unsigned long long)off, i < mkey->n ?
				      "KLM entry of 0 bytes" : "past the last KLM entry");
		begin = i > 0 ? mkey->ends[i - 1] : 0;
		n = mkey->ends[i] - off < len ? mkey->ends[i] - off : len;
		ret = resolve_entry(use, mkey, i, off - begin, n, depth);
		if (ret < 0)
			return ret;
		off += n;
		len -= n;
	}
	return 0;
}

static int
resolve_ksm(struct use *use, const struct emu_mkey *mkey, uint64_t off, uint64_t len,
	    unsigned int depth)
{
	uint64_t size = 1ull << mkey->log_entry;
	int ret;

	while (len > 0) {
		uint64_t i = off >> mkey->log_entry, in = off & (size - 1);
		uint64_t n = size - in < len ? size - in : len;

		if (i >= mkey->n)
			return refuse(use, mkey->key, "offset 0x%llx: past the last KSM entry",
				      (unsigned long long)off);
		ret = resolve_entry(use, mkey, (uint32_t)i, in, n, depth);
		if (ret < 0)
			return ret;
		off += n;
		len -= n;
	}
	return 0;
}

static int
resolve(struct use *use, uint32_t key, uint64_t addr, uint64_t len, unsigned int depth)
{
	struct emu_mkey *mkey = emu_mkey_find(use->acc->dev, key);
	uint64_t off;
	int ret;

	if (mkey == NULL)
		return refuse_unknown(use, key);
	ret = check(use, mkey, addr, len);
	if (ret < 0)
		return ret;
	off = addr - mkey->start;
	if (mkey->mode == EMU_MKEY_MEMIC && depth == 0 &&
	    mkey->dev->cfg->fault.direct == EMU_KEY_FAILS)
		return refuse(use, key, "is a DM MR's: --fault direct");
	if (__builtin_expect(mkey->torn != NULL, 0))
		return resolve_torn(use, mkey, off, len);
	if (mkey->mode == EMU_MKEY_MTT || mkey->mode == EMU_MKEY_MEMIC) {
		move(use, mkey, off, len);
		return 0;
	}
	/*
	 * Cards tell the depth they follow as max_indirection. No public document says
	 * what else they check, so two levels is an assumption.
	 */
	if (depth >= EMU_MAX_INDIRECTION)
		return refuse(use, key, "is indirect at level %u, the limit is %u", depth + 1,
			      EMU_MAX_INDIRECTION);
	if (mkey->mode == EMU_MKEY_KLM)
		return resolve_klm(use, mkey, off, len, depth);
	return resolve_ksm(use, mkey, off, len, depth);
}

/* A direct key is checked before it moves; only an indirect one needs a first round. */
static int
check_indirect(const struct use *use, uint64_t addr, uint64_t len)
{
	const struct emu_mkey *mkey = emu_mkey_find(use->acc->dev, use->key);
	struct use dry = { .acc = use->acc, .need = use->need, .key = use->key };

	if (mkey == NULL || mkey->mode == EMU_MKEY_MTT || mkey->mode == EMU_MKEY_MEMIC)
		return 0;
	return resolve(&dry, use->key, addr, len, 0);
}

int
emu_mkey_check(struct emu_access *acc, uint32_t key, uint64_t addr, size_t len,
	       uint32_t access)
{
	struct use use = { .acc = acc, .need = access, .key = key };

	return resolve(&use, key, addr, len, 0);
}

int
emu_mkey_read(struct emu_access *acc, uint32_t key, uint64_t addr, void *buf, size_t len)
{
	struct use use = { .acc = acc, .need = EMU_ACCESS_LR, .key = key, .to = buf };
	int ret;

	if (emu_inject_mkey_use(acc->dev, EMU_MKEY_READ))
		return refuse(&use, key, "may not be read: --fault mkey-use");
	ret = check_indirect(&use, addr, len);
	return ret < 0 ? ret : resolve(&use, key, addr, len, 0);
}

int
emu_mkey_write(struct emu_access *acc, uint32_t key, uint64_t addr, const void *buf,
	       size_t len)
{
	struct use use = { .acc = acc, .need = EMU_ACCESS_LW, .key = key, .from = buf };
	int ret;

	if (emu_inject_mkey_use(acc->dev, EMU_MKEY_WRITE))
		return refuse(&use, key, "may not be written: --fault mkey-use");
	ret = check_indirect(&use, addr, len);
	return ret < 0 ? ret : resolve(&use, key, addr, len, 0);
}
