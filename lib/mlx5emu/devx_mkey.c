/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <stdlib.h>

#include "devx.h"
#include "emu.h"
#include "prm.h"

/* CREATE_MKEY: PRM "Memory Key Context"; kernel's mlx5_core_create_mkey(). */

enum { MODE_MTT = 1, MODE_KLM = 2, MODE_KSM = 3 };

#define MAX_ENTRIES (1u << 16)  /* log_max_klm_list_size */
#define ANY_QP 0xffffff

static int
parse_entries(struct emu_devx_call *call, struct emu_mkey *key, uint32_t n)
{
	const uint8_t *p = call->in + PRM_CREATE_MKEY_SIZE;

	if (n == 0 || n > MAX_ENTRIES)
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM, "number of KLM entries");
	if (call->in_len < PRM_CREATE_MKEY_SIZE + (size_t)n * PRM_KLM_SIZE)
		return emu_devx_refuse(call, PRM_STATUS_BAD_INPUT_LEN, "KLM entries missing");
	key->entries = calloc(n, sizeof(*key->entries));
	if (key->entries == NULL)
		return emu_devx_refuse(call, PRM_STATUS_LIMIT, "out of memory");
	key->n = n;
	for (uint32_t i = 0; i < n; i++, p += PRM_KLM_SIZE) {
		key->entries[i].bytes = prm_get(p, PRM_KLM_BYTE_COUNT);
		key->entries[i].key = prm_get(p, PRM_KLM_MKEY);
		key->entries[i].addr = prm_get64(p, PRM_KLM_ADDRESS_AT);
		if (emu_mkey_entry_fault(key, key->entries[i].key) == EMU_KEY_REFUSED)
			return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM,
					       "indirect key over device memory: --fault");
	}
	return PRM_STATUS_OK;
}

/* KSM entries are all of one size, which must cover the key's length. */
static int
check_ksm(struct emu_devx_call *call, struct emu_mkey *key, const uint8_t *mkc)
{
	key->log_entry = prm_get(mkc, PRM_MKC_LOG_PAGE_SIZE);
	if (key->log_entry < 12)
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM, "KSM entries below 4 KiB");
	if (key->len > (uint64_t)key->n << key->log_entry)
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM, "KSM entries do not cover len");
	if (key->start & ((1ull << key->log_entry) - 1))
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM, "KSM start is not aligned");
	return PRM_STATUS_OK;
}

static int
use_umem(struct emu_devx_call *call, struct emu_devx_obj *obj)
{
	struct emu_mkey *key = &obj->mkey;
	uint64_t offset = prm_get64(call->in, PRM_CREATE_MKEY_UMEM_OFFSET_AT);
	struct emu_umem_part part;

	/* pages of the umem from offset on; start_addr says where in the first one */
	if (!emu_devx_use_umem(obj, prm_get(call->in, PRM_CREATE_MKEY_UMEM_ID), offset, key->len,
			       key->access & (EMU_ACCESS_LW | EMU_ACCESS_RW), &part))
		return emu_devx_refuse(call, PRM_STATUS_BAD_RESOURCE, "umem unknown or too short");
	if ((part.off & 4095) != (key->start & 4095))
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM,
				       "start_addr and umem differ within the page");
	emu_pin_view(&obj->obj, part.pin, part.off, part.len, &key->base, &key->torn);
	return PRM_STATUS_OK;
}

static int
check_mkc(struct emu_devx_call *call, const uint8_t *mkc)
{
	if (prm_get(mkc, PRM_MKC_FREE) || prm_get(mkc, PRM_MKC_BSF_EN) ||
	    prm_get(mkc, PRM_MKC_ATOMIC))
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM,
				       "free, signature and atomic keys are not there");
	if (prm_get(mkc, PRM_MKC_QPN) != ANY_QP)
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM, "key bound to a QP");
	if (prm_get(mkc, PRM_MKC_LENGTH64) || prm_get64(mkc, PRM_MKC_LEN_AT) == 0)
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM, "length of the key");
	return PRM_STATUS_OK;
}

/*
 * DPDK's commit 5003eaab7e says of coming firmware that it rejects keys without ordering
 * attributes and sets those that are capabilities. Which ones it insists on is not public,
 * so all of them are: an assumption.
 */
static int
check_ordering(struct emu_devx_call *call, const uint8_t *mkc)
{
	enum emu_ordering_fault fault = call->dev->cfg->fault.ordering;
	bool write = prm_get(mkc, PRM_MKC_RELAXED_ORDERING_WRITE);
	bool read = prm_get(mkc, PRM_MKC_RELAXED_ORDERING_READ);
	bool after_write = prm_get(mkc, PRM_MKC_ORDER_READ_AFTER_WRITE) != 0;

	if (fault == EMU_ORDERING_DEMANDED && !(write && read && after_write))
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM,
				       "no ordering attributes: --fault ordering");
	/* attributes without their capability */
	if ((fault == EMU_ORDERING_REFUSED && (write || read)) ||
	    (fault != EMU_ORDERING_DEMANDED && after_write))
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM, "ordering attributes");
	return PRM_STATUS_OK;
}

static uint32_t
access_of(const uint8_t *mkc)
{
	return (prm_get(mkc, PRM_MKC_LR) ? EMU_ACCESS_LR : 0) |
	       (prm_get(mkc, PRM_MKC_LW) ? EMU_ACCESS_LW : 0) |
	       (prm_get(mkc, PRM_MKC_RR) ? EMU_ACCESS_RR : 0) |
	       (prm_get(mkc, PRM_MKC_RW) ? EMU_ACCESS_RW : 0);
}

static int
translate(struct emu_devx_call *call, struct emu_devx_obj *obj, const uint8_t *mkc)
{
	uint32_t octwords = prm_get(call->in, PRM_CREATE_MKEY_OCTWORDS);
	uint32_t mode = prm_get(mkc, PRM_MKC_ACCESS_MODE_HI) << 2 |
			prm_get(mkc, PRM_MKC_ACCESS_MODE_LO);
	int status;

	switch (mode) {
	case MODE_MTT:
		obj->mkey.mode = EMU_MKEY_MTT;
		return use_umem(call, obj);
	case MODE_KLM:
		obj->mkey.mode = EMU_MKEY_KLM;
		return parse_entries(call, &obj->mkey, octwords);
	case MODE_KSM:
		obj->mkey.mode = EMU_MKEY_KSM;
		status = parse_entries(call, &obj->mkey, octwords);
		return status != PRM_STATUS_OK ? status : check_ksm(call, &obj->mkey, mkc);
	default:
		return emu_devx_refuse(call, PRM_STATUS_BAD_PARAM, "access mode");
	}
}

static int
create_mkey(struct emu_devx_call *call, struct emu_devx_obj *obj)
{
	const uint8_t *mkc = call->in + PRM_MKC_AT;
	uint32_t pdn = prm_get(mkc, PRM_MKC_PD);
	int status = check_mkc(call, mkc);

	if (status == PRM_STATUS_OK)
		status = check_ordering(call, mkc);
	if (status != PRM_STATUS_OK)
		return status;
	if (emu_devx_use_pd(obj, pdn) == NULL)
		return emu_devx_refuse(call, PRM_STATUS_BAD_RESOURCE, "no such PD");
	obj->mkey = (struct emu_mkey){
		.dev = call->dev,
		.key = prm_get(mkc, PRM_MKC_VARIANT),
		.pdn = pdn,
		.access = access_of(mkc),
		.start = prm_get64(mkc, PRM_MKC_START_ADDR_AT),
		.len = prm_get64(mkc, PRM_MKC_LEN_AT),
	};
	status = translate(call, obj, mkc);
	if (status == PRM_STATUS_OK && emu_mkey_add(&obj->mkey) != 0)
		status = emu_devx_refuse(call, PRM_STATUS_LIMIT, "no key left");
	if (status != PRM_STATUS_OK) {
		free(obj->mkey.entries);
		return status;
	}
	obj->num = obj->mkey.key >> 8;
	prm_set(call->out, PRM_OUT_OBJECT, obj->num);
	emu_trace("  mkey 0x%x start 0x%llx len %llu entries %u", obj->mkey.key,
		  (unsigned long long)obj->mkey.start, (unsigned long long)obj->mkey.len,
		  obj->mkey.n);
	return PRM_STATUS_OK;
}

static void
destroy_mkey(struct emu_devx_obj *obj)
{
	emu_mkey_remove(&obj->mkey);
	free(obj->mkey.entries);
}

static const struct emu_devx_cmd cmds[] = {
	{ .opcode = PRM_CMD_CREATE_MKEY, .name = "CREATE_MKEY", .in_min = PRM_CREATE_MKEY_SIZE,
	  .out_min = 16, .create = create_mkey, .destroy = destroy_mkey },
};

EMU_DEVX_TABLE(emu_devx_mkeys, cmds);
