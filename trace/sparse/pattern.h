/* Sets, patterns and colours: the structure of a sparse derivative, without its values. Sections
 * follow the files. (Do not include headers of the tensor library here: their Value clashes with
 * the interpreter's, which layers.h needs.) */
#ifndef PATTERN_H
#define PATTERN_H
#include "graph/graph.h"

/* derive/rules.c: there is a derivative by source i (derive.h) */
bool op_follows(const UOp *u, uint32_t i);

/* ---- sets.c: sets of column numbers, each stored once ---------------------------------------- */

/* A set is identified by a number below count; 0 is the empty set. Equal sets have the same
 * number. */
typedef struct {
	size_t *first;          /* members of set k: at[first[k]] … at[first[k + 1] - 1], rising */
	uint32_t *at;
	uint32_t count, cap;
	size_t space;
	uint32_t *bucket;       /* sets by their hash; 0: none */
	uint32_t nbucket;
	struct Union { uint64_t key; uint32_t set; } *memo;
	size_t nmemo, memos;
	uint32_t *mark, stamp, columns;
	const char *what;       /* named in the message when the limit is reached */
} Sets;

/* Allocates for sets of numbers below columns. Dies with UNSUPPORTED when the sets have more than
 * 2^28 members in all. */
void sets_init(Sets *s, uint32_t columns, const char *what);
void sets_free(Sets *s);
uint32_t set_single(Sets *s, uint32_t column);
uint32_t set_union(Sets *s, uint32_t a, uint32_t b);
uint32_t set_union_many(Sets *s, size_t n, const uint32_t *set);
static inline size_t set_size(const Sets *s, uint32_t k) { return s->first[k + 1] - s->first[k]; }

/* ---- pattern.c: the structural pattern of a derivative --------------------------------------- */

/* The pattern of a sparse matrix: row i's columns are at[first[i]] … at[first[i + 1] - 1], rising.
 * malloc'd. */
typedef struct { uint32_t rows, columns; size_t *first; uint32_t *at; } Rows;

/* The elements of wrt with respect to which each element of out may have a nonzero derivative, both
 * in row-major order. Only constants are known: an index of GATHER or SCATTER that depends on an
 * input may be any place. Dies with UNSUPPORTED when a size is not a known number or the
 * computation needs too much memory. who: for messages. */
Rows pattern_find(UOp *out, UOp *wrt, const char *who);
Rows rows_transposed(const Rows *r);                 /* transposed */
Rows rows_symmetric(const Rows *r);              /* the union of r (square) and its transpose */
void rows_free(Rows *r);
static inline size_t rows_count(const Rows *r) { return r->first[r->rows]; }

/* ---- colour.c: columns that share no row may share a product --------------------------------- */

#define NO_COLOUR UINT32_MAX    /* the colour of an empty column */
/* Colours the columns so that no row has two columns of one colour; returns the number of colours.
 * bycol is the transpose of byrow. Stops when more than limit are needed, and returns limit + 1. */
uint32_t colour_columns(const Rows *byrow, const Rows *bycol, uint32_t limit, uint32_t *colour);
/* Star colouring of a symmetric pattern: neighbours have different colours, and for each edge at
 * least one end has no other neighbour of the other end's colour. So each value stands alone in at
 * least one of its two places. */
uint32_t colour_star(const Rows *r, uint32_t *colour);
#endif
