/* Internals of the proofs that items write apart. */
#ifndef APART_H
#define APART_H
#include "prove/digits.h"

/* The numbers that tell the items of a kernel from each other, and their sizes. A number is NULL
 * when the kernel does not look at it. */
enum { MOST_NUMBERS = 64 };
typedef struct { int n; UOp *number[MOST_NUMBERS], *size[MOST_NUMBERS]; } Items;

Items items_of(const ProvedCall *c);
/* The places of some accesses along one axis of their INDEX. */
Place *places_of(const ProvedCall *c, const Access *const *a, size_t n, uint32_t axis);
/* Whether an item's number is the same for all who touch the place, or has one value where they do;
 * or its quotient by something that is 1 there is the same, or its remainder by more than it. */
bool determined(Digits *d, const Place *p, UOp *number);
/* Refuses the kernel when one of these accesses, which are of one memory, may write a place that
 * another item touches in one of them. group: the items are those of one work group. */
void check_apart(const ProvedCall *c, const Items *x, bool group, const Access *const *a,
	size_t n);
/* collide.c: a case in which two items touch one place, of which one writes it, as text; NULL when
 * none was found. */
const char *colliding(const Items *x, const Place *p, size_t n, const Access *const *a);
/* Whether no item touches a place that another one stores to, of accesses a to d->n places of one
 * axis: by going through all values of items and counters, where these are numbers and few. What is
 * the same in all items is taken out of the places. */
bool none_collide(const Digits *d, const Items *x, Place *p, const Access *const *a);
/* same.c: whether two items that store to one place store the same value there. */
bool same_values(const ProvedCall *c, const Items *x, Digits *d, const Access *const *a);
/* agree.c: false when a case is found in which two items store different values to one place. Of
 * level loops; of others nothing is known. lane: of tiles whose lanes are items, the number of the
 * lane, number / s % size, else NULL. */
bool tiles_agree(const ProvedCall *c, UOp *lane);
/* Whether all items of a small kernel of level loops and of known sizes, which are run, store one
 * value to each place. */
bool items_agree(const ProvedCall *c);
#endif
