/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>

#include "plt_hook.h"

/* Slots of calls, of addresses taken, and of addresses in data. */
#if defined(__x86_64__)
#define SLOT_CALL R_X86_64_JUMP_SLOT
#define SLOT_ADDRESS R_X86_64_GLOB_DAT
#define SLOT_DATA R_X86_64_64
#elif defined(__aarch64__)
#define SLOT_CALL R_AARCH64_JUMP_SLOT
#define SLOT_ADDRESS R_AARCH64_GLOB_DAT
#define SLOT_DATA R_AARCH64_ABS64
#else
#error "relocation types of this architecture are not known here"
#endif

struct object {
	const struct dl_phdr_info *info;
	const char *name; /* base name */
	const ElfW(Sym) *symtab;
	const char *strtab;
	struct {
		const ElfW(Rela) *rela;
		size_t n;
	} table[2];
};

struct walk {
	struct mpm_plt_hook *hooks;
	unsigned int n;
	bool (*match)(const char *object);
	char *why;
	size_t why_len;
	int ret;
};

/* glibc stores relocated addresses in the dynamic section, others leave offsets. */
static const void *
dyn_ptr(const struct dl_phdr_info *info, ElfW(Addr) p)
{
	return (const void *)(p < info->dlpi_addr ? p + info->dlpi_addr : p);
}

static const ElfW(Phdr) *
find_phdr(const struct dl_phdr_info *info, ElfW(Word) type)
{
	int i;

	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == type)
			return &info->dlpi_phdr[i];
	return NULL;
}

static bool
object_read(struct object *o)
{
	const ElfW(Phdr) *ph = find_phdr(o->info, PT_DYNAMIC);
	const ElfW(Dyn) *d;

	if (ph == NULL)
		return false;
	for (d = (const void *)(o->info->dlpi_addr + ph->p_vaddr); d->d_tag != DT_NULL; d++) {
		switch (d->d_tag) {
		case DT_SYMTAB:
			o->symtab = dyn_ptr(o->info, d->d_un.d_ptr);
			break;
		case DT_STRTAB:
			o->strtab = dyn_ptr(o->info, d->d_un.d_ptr);
			break;
		case DT_JMPREL:
			o->table[0].rela = dyn_ptr(o->info, d->d_un.d_ptr);
			break;
		case DT_PLTRELSZ:
			o->table[0].n = d->d_un.d_val / sizeof(ElfW(Rela));
			break;
		case DT_RELA:
			o->table[1].rela = dyn_ptr(o->info, d->d_un.d_ptr);
			break;
		case DT_RELASZ:
			o->table[1].n = d->d_un.d_val / sizeof(ElfW(Rela));
			break;
		}
	}
	return o->symtab != NULL && o->strtab != NULL;
}

static bool
in_object(const struct dl_phdr_info *info, uintptr_t addr)
{
	const ElfW(Phdr) *ph;
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		ph = &info->dlpi_phdr[i];
		if (ph->p_type == PT_LOAD && addr - (info->dlpi_addr + ph->p_vaddr) < ph->p_memsz)
			return true;
	}
	return false;
}

/*
 * A slot is as the linker left it when it leads into the object itself (not bound
 * yet, or the object exports the function), to a function of the right name (possibly
 * an interposed one), or into the library of the genuine function.
 */
static bool
slot_is_genuine(const struct object *o, const struct mpm_plt_hook *hook, void *value)
{
	Dl_info there, home;

	if (in_object(o->info, (uintptr_t)value))
		return true;
	if (dladdr(value, &there) == 0)
		return false;
	if (there.dli_sname != NULL && there.dli_saddr == value &&
	    strcmp(there.dli_sname, hook->symbol) == 0)
		return true;
	return dladdr(hook->genuine, &home) != 0 && home.dli_fbase == there.dli_fbase;
}

/* The loader protects the whole pages between both ends rounded down (dl-reloc.c). */
static bool
slot_is_read_only(const struct dl_phdr_info *info, uintptr_t slot, uintptr_t page)
{
	const ElfW(Phdr) *ph = find_phdr(info, PT_GNU_RELRO);
	uintptr_t start, end;

	if (ph == NULL)
		return false;
	start = info->dlpi_addr + ph->p_vaddr;
	end = start + ph->p_memsz;
	return slot >= (start & ~(page - 1)) && slot < (end & ~(page - 1));
}

/* All that mprotect(2) says. */
static const char *
errno_name(int err)
{
	return err == ENOMEM ? "ENOMEM" : err == EACCES ? "EACCES" : "EINVAL";
}

static int
slot_write(const struct object *o, void **slot, void *value)
{
	uintptr_t page = sysconf(_SC_PAGESIZE);
	void *start = (void *)((uintptr_t)slot & ~(page - 1));
	bool read_only = slot_is_read_only(o->info, (uintptr_t)slot, page);

	if (read_only && mprotect(start, page, PROT_READ | PROT_WRITE) != 0)
		return -errno;
	/* other threads may be calling through the slot */
	__atomic_store_n(slot, value, __ATOMIC_RELEASE);
	/* a page that stays writable does no harm by itself, and the slot is what it has to be */
	if (read_only)
		mprotect(start, page, PROT_READ);
	return 0;
}

static int
slot_divert(const struct object *o, struct mpm_plt_hook *hook, void **slot, struct walk *w)
{
	const char *name = o->name[0] == '\0' ? "the executable" : o->name;
	void *value = __atomic_load_n(slot, __ATOMIC_RELAXED);
	int ret;

	if (value != hook->replacement) {
		if (!slot_is_genuine(o, hook, value)) {
			snprintf(w->why, w->why_len,
				 "somebody else already diverts %s of %s (EEXIST)", hook->symbol,
				 name);
			return -EEXIST;
		}
		ret = slot_write(o, slot, hook->replacement);
		if (ret != 0) {
			snprintf(w->why, w->why_len, "mprotect of the slot of %s in %s: %s",
				 hook->symbol, name, errno_name(-ret));
			return ret;
		}
	}
	hook->slots++;
	return 0;
}

static int
rela_divert(const struct object *o, const ElfW(Rela) *r, struct walk *w)
{
	unsigned long type = ELF64_R_TYPE(r->r_info);
	unsigned long sym = ELF64_R_SYM(r->r_info);
	const char *name;
	unsigned int i;
	int ret;

	if (sym == 0 || (type != SLOT_CALL && type != SLOT_ADDRESS &&
			 !(type == SLOT_DATA && r->r_addend == 0)))
		return 0;
	name = o->strtab + o->symtab[sym].st_name;
	for (i = 0; i < w->n; i++) {
		if (strcmp(name, w->hooks[i].symbol) != 0)
			continue;
		ret = slot_divert(o, &w->hooks[i], (void **)(o->info->dlpi_addr + r->r_offset), w);
		if (ret != 0)
			return ret;
	}
	return 0;
}

static int
object_divert(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct object o = { .info = info };
	struct walk *w = arg;
	const char *slash = strrchr(info->dlpi_name, '/');
	unsigned int t;
	size_t i;

	(void)size;
	o.name = slash == NULL ? info->dlpi_name : slash + 1;
	if (!w->match(o.name) || in_object(info, (uintptr_t)object_divert) || !object_read(&o))
		return 0;
	for (t = 0; t < 2; t++)
		for (i = 0; i < o.table[t].n && o.table[t].rela != NULL && w->ret == 0; i++)
			w->ret = rela_divert(&o, &o.table[t].rela[i], w);
	return w->ret;
}

int
mpm_plt_divert(struct mpm_plt_hook *hooks, unsigned int n, bool (*match)(const char *object),
	       char *why, size_t why_len)
{
	struct walk w = { .hooks = hooks, .n = n, .match = match, .why = why, .why_len = why_len };
	unsigned int i;

	for (i = 0; i < n; i++)
		hooks[i].slots = 0;
	dl_iterate_phdr(object_divert, &w);
	return w.ret;
}
