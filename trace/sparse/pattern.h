/* Sets, patterns and colours: what is known of a sparse derivative without its values.  Sections
 * follow the files. */
#ifndef PATTERN_H
#define PATTERN_H
#include "graph/graph.h"

/* derive/rules.c: a derivative by source i is there (derive.h) */
bool op_follows(const UOp *u, uint32_t i);

/* ---- sets.c: sets of column numbers, each kept once ------------------------------------------ */

/* A set is a number below count; 0 is the empty one. Equal sets have one number. */
typedef struct {
	size_t *first;          /* members of set k: at[first[k]] … at[first[k + 1] - 1], rising */
	uint32_t *at;
	uint32_t count, cap;
	size_t room;
	uint32_t *bucket;       /* sets by their hash; 0: none */
	uint32_t nbucket;
	struct Union { uint64_t key; uint32_t set; } *memo;
	size_t nmemo, memos;
	uint32_t *mark, stamp, columns;
	const char *what;       /* for the message when there is no more room */
} Sets;

/* Room for sets of numbers below columns. Dies with UNSUPPORTED when there are more than 2^28
 * members in all. */
void sets_init(Sets *s, uint32_t columns, const char *what);
void sets_free(Sets *s);
uint32_t set_single(Sets *s, uint32_t column);
uint32_t set_union(Sets *s, uint32_t a, uint32_t b);
uint32_t set_union_many(Sets *s, size_t n, const uint32_t *set);
static inline size_t set_size(const Sets *s, uint32_t k) { return s->first[k + 1] - s->first[k]; }

/* ---- pattern.c: the structural pattern of a derivative --------------------------------------- */

/* A sparse matrix without its values: row i's columns are at[first[i]] … at[first[i + 1] - 1],
 * rising. malloc'd. */
typedef struct { uint32_t rows, columns; size_t *first; uint32_t *at; } Rows;

/* Which elements of wrt each element of out may have a derivative by, both in row-major order.
 * Known from constants alone: an index of GATHER or SCATTER that depends on an input may be any.
 * Dies with UNSUPPORTED when a size is not a known number or the way there takes too many places.
 * who: for messages. */
Rows pattern_find(UOp *out, UOp *wrt, const char *who);
Rows rows_turned(const Rows *r);                 /* rows for columns */
Rows rows_symmetric(const Rows *r);              /* what is in r and in r turned: of a square one */
void rows_free(Rows *r);
static inline size_t rows_count(const Rows *r) { return r->first[r->rows]; }

/* ---- colour.c: columns that share no row may share a product --------------------------------- */

#define NO_COLOUR UINT32_MAX    /* of an empty column */
/* Colours of columns so that in no row two have one; how many there are. bycol is byrow turned.
 * More than limit: stops and returns limit + 1. */
uint32_t colour_columns(const Rows *byrow, const Rows *bycol, uint32_t limit, uint32_t *colour);
/* Star colouring of a symmetric pattern: neighbours differ, and of each edge at least one end has
 * no other neighbour of the other end's colour, so that each value stands alone in one of two
 * places. */
uint32_t colour_star(const Rows *r, uint32_t *colour);
#endif
