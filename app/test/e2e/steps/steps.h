/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#ifndef E2E_STEPS_H
#define E2E_STEPS_H

/* Parts of the program that lets each step of a port's and a pool's life fail once. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- life.c: one port, one pool ---- */

/* How far a life has come. Each level stands on the one before. */
enum level {
	LEVEL_NONE,             /* EAL knows the device, and no driver has it */
	LEVEL_PROBED,
	LEVEL_POOL,
	LEVEL_STARTED,
};

/** What is told to EAL of the device, and the pool's ops; set before all else. */
extern const char *life_devargs, *life_ops;
/** Level that was reached. */
extern enum level life_level;

/* The way up and down by one level: 0 or a negative errno, and life_level follows. */
int life_probe(void);
int life_pool(void);
int life_start(void);
int life_stop(void);
int life_free(void);
int life_remove(void);
/* Up or down to a level; a failure is that of the first step that failed. */
int life_go(enum level level);

/** Mbufs of the pool with their data in device memory. */
unsigned int life_slots(void);

/** Frames that were sent, came back, and had other bytes than were sent. */
struct life_traffic {
	unsigned int sent, back, wrong;
};
/* A few hundred frames out of the port and back into it, compared byte by byte. */
void life_traffic(struct life_traffic *t);
/* The same, behind a frame whose data is in memory that the port has not met yet. */
void life_traffic_strange(struct life_traffic *t);
/* Memory for that frame, before, and its end. */
int life_strange_make(void);
void life_strange_free(void);
/** One byte of one frame changes: for the control. */
extern bool life_flip;

/* ---- state.c: what a process has ---- */

struct state {
	unsigned int objects;   /* of the emulated card */
	char kinds[512];
	size_t heap;            /* blocks */
	size_t eal;             /* bytes */
	unsigned int maps;      /* lines of /proc/self/maps */
	unsigned int files;
};

struct step_control;
int state_init(const struct step_control *control);
void state_take(struct state *s);
/* What is more than before, as text; an empty one if nothing is. */
void state_growth(const struct state *before, const struct state *now, char *text, size_t len);

/* ---- what DPDK logs ---- */

int log_init(void);
void log_begin(void);
/* What was logged since; valid until the next log_begin(). */
const char *log_text(void);

/* ---- judge.c ---- */

/* How a phase with a failure in it went. */
struct outcome {
	int ret;                /* of the phase */
	int err;                /* what failed inside */
	const char *what;       /* and where */
	bool less;              /* it went well, with less device memory than usual */
	const char *log;
};
/*
 * Whether the message of a failure names an errno and what it is about. NULL, or what is
 * missing.
 */
const char *judge_message(const struct outcome *o);
/* Whether the errno of a failure says what happened. */
const char *judge_errno(const struct outcome *o);

#endif /* E2E_STEPS_H */
