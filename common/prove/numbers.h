/* Internals of the proofs that items store the same value: values numbered in two worlds. */
#ifndef NUMBERS_H
#define NUMBERS_H
#include "prove/accesses.h"

/* A number is an integer modulo 2^61 - 1. Values of one number are equal, but for a chance of about
 * 2^-50 in a whole kernel. */
typedef struct Numbers Numbers;
uint64_t number_mix(uint64_t a, uint64_t b);
uint64_t number_add(uint64_t a, uint64_t b);
uint64_t number_sub(uint64_t a, uint64_t b);

/* The kernel of a call. apart: the items may be of two work groups. whole: prepared buffers hold
 * the same everywhere. */
Numbers *numbers_new(const ProvedCall *c, bool apart, bool whole);
/* A register's elements are not told from each other: it is a state, which each store changes. */
void number_whole(Numbers *n, UOp *memory);
void numbers_free(Numbers *n);
/* Sets the number of a node in one world; in both, to one unknown. */
void number_set(Numbers *n, int world, UOp *u, uint64_t number);
void number_know(Numbers *n, UOp *u);
/* A condition is true in both, with all that follows: what it is an AND of, what a MIN is. */
void number_true(Numbers *n, UOp *cond);
/* Decides comparisons of indices, without their LETs, with other values in the place of some: to[w]
 * in world w. */
typedef struct { size_t n; UOp **from, **to[2]; } Instead;
void number_decide(Numbers *n, const Instead *x);
/* The loop that begins at a statement has a counter of its own, whatever its RANGE is set to. */
void number_own(Numbers *n, uint32_t loop);
bool number_is_set(const Numbers *n, int world, UOp *u);
/* The number of an index that no memory stands in. */
uint64_t number_of(Numbers *n, int world, UOp *u);
/* Goes through the kernel. False when its values could not be numbered. */
bool numbers_run(Numbers *n);
/* After that: the number of what a store writes. */
uint64_t numbers_stored(const Numbers *n, int world, const Access *a);
#endif
