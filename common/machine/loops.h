/* Loops that do one thing, with vectors of one size, by which a processor is measured. */
#ifndef COMMON_MACHINE_LOOPS_H
#define COMMON_MACHINE_LOOPS_H
#include "base/base.h"

/* n bytes, aligned to 64 */
typedef struct { char *at; size_t n; } Memory;
/* CHAINS sums, each of ROUNDS multiply-adds of a vector of f32; a multiply-add is one operation
 * where the processor has it. */
enum { CHAINS = 12, ROUNDS = 20000 };
/* Memory is read in runs of RUN vectors, APART bytes from one to the next, which is prefetched. */
enum { RUN = 32, APART = 1 << 14 };
typedef struct {
	int bytes;                                /* of a vector */
	void (*mulacc_apart)(const Memory *);     /* the sums side by side */
	void (*mulacc_in_turn)(const Memory *);   /* one of them */
	void (*read_all)(const Memory *);         /* all of the memory, 8 vectors at a time */
	void (*read_runs)(const Memory *);        /* the same by columns of runs, see APART */
} Loops;

/* ---- loops.c */

/* Those with the widest vectors that this machine's processor has. Sums are left in the first
 * vector of the memory. */
const Loops *loops_native(void);
#endif
