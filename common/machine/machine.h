/* The figures of a processor by which stages choose. Sections follow the files. */
#ifndef COMMON_MACHINE_MACHINE_H
#define COMMON_MACHINE_MACHINE_H
#include "base/base.h"

/* ---- machine.c: figures as text, "key: numbers" a line; render/README.md has the keys */

/* machines.def has the usual figures, which decide what a document becomes, and so are the same
 * everywhere; those that are measured give other bytes. Each may be a divisor: none is 0. */
typedef struct {
	/* cores (of a GPU: multiprocessors); vector operations and loads that begin in a cycle;
	 * cycles from the start of an operation to its result; cycles in a microsecond;
	 * nanoseconds until other threads share a loop */
	int cores, ops, loads, latency, clock, start;
	int line, page;         /* bytes of a cache's line; of a page of memory */
	int ways;               /* lines of a set of the second cache */
	/* multiply-adds of f32 in the time that an element is copied; that have to be spared for
	 * each element that is read besides */
	int copy, spared;
	int64_t cache[3];       /* bytes of a core's first and second cache, and of the last */
	int read[4];            /* bytes that a core reads of each, and of memory, in a ns */
	int runs;               /* and of memory in short runs, each pages from the one before */
} Machine;

/* Sets the figure of that key, if it is one; dies with MALFORMED, naming whose it is, when the text
 * is not its numbers. */
bool machine_set(Machine *m, const char *key, const char *text, const char *whose);
/* Sets those that are 0 to the usual ones of a GPU, or of a CPU. */
void machine_fill(Machine *m, bool gpu);
/* Sets those that a text has; what is no figure is passed by. */
void machine_read(Machine *m, const char *text, const char *whose);
void machine_print(Buf *out, const Machine *m);

/* ---- keep.c: this machine's, in the user's cache */

void machine_keep(const Machine *m);
/* The text of what is kept, malloc'd; dies with FAILED where there is none, or it is not the user's
 * own file. */
char *machine_kept(void);
#endif
