/* Internals of the proofs about places: what values can be, what is known of them, what follows. */
#ifndef PLACES_H
#define PLACES_H
#include "index/ix.h"
#include "prove/prove.h"
#include "shape/shape.h"

/* ---- prove.c: what may be spent on a document */

/* Steps of proofs with symbols, and nodes that are computed in search of cases. When one of them is
 * used up, what follows gets a few only, so that a document takes a time which is linear in it. */
typedef struct { size_t steps, cases; } Effort;
Effort *effort(void);

/* ---- spans.c: the least and the greatest value of integers */

typedef __int128 Wide;                  /* sums and products of what fits 64 bits fit it */
typedef struct { Wide lo, hi; } Span;   /* inclusive; lo > hi: there is no value */

/* A span as integers of the node's dtype. slot: from 1, where it is narrowed, if that is so. */
typedef struct { uint64_t lo, hi; uint32_t state; uint32_t slot : 31, exact : 1; } SpanNote;
typedef struct { UOp *u; Span span; } Narrowed;
typedef struct { UOp *u; uint32_t slot; Span was; } Undo;
/* What is known of sizes: of u, and before that. The same is one node. */
typedef struct SizeFact SizeFact;
struct SizeFact { const SizeFact *before; UOp *u; Span span; };
typedef struct {
	size_t undos, facts, shown, wrapped;
	const SizeFact *size_fact;
	uint32_t state;
	bool dead, stale;
} Frame;

typedef struct { uint32_t round; bool loads; } LoadNote;
typedef struct { UOp *u; Sum to; } Equal;
typedef struct { UOp *u; Sum sum; } Wrapped;
typedef struct { UOp *a, *b; NodeList gates; } Twins;
typedef VEC(Sum) Sums;
/* Claims that were not proved, by what is known: the state of the spans, the statement, facts. */
typedef struct { uint32_t state, at; size_t facts; Sums sum; } Missed;
/* A STORE that was passed, and what was around it. */
typedef struct { UOp *store; size_t depth; const uint32_t *path; } Fill;

enum { MOST_WAYS = 40 };

/* What is known at a point of a kernel. Frames are the conditions around it, from outside in. */
typedef struct Known {
	const Graph *graph;
	uint32_t number;                /* the call, by its place in the SINK */
	UOp *call, *kernel;
	const VarEnv *sizes;            /* the sizes, when they are known; else NULL */
	uint32_t state;                 /* changes with whatever spans depend on */
	bool stale;                     /* something was narrowed since it did */
	const SizeFact *size_fact;      /* all that sizes were narrowed to */
	TABLE(SpanNote) note;
	VEC(Narrowed) narrowed;
	TABLE(LoadNote) loads;
	VEC(UOp *) stored;              /* the buffers that the kernel stores to */
	/* LOADs that give the same where all their gates hold, and those in their places */
	VEC(Twins) twin;
	VEC(Undo) undo;
	VEC(Sum) fact;                  /* each is >= 0 */
	Sums shown;                     /* claims that were proved */
	Missed missed;                  /* and some that were not */
	VEC(Wrapped) wrapped;           /* u is this sum, modulo 2^64 */
	VEC(Equal) equal;               /* sizes that are others, by the checks of the document */
	VEC(Frame) frame;
	Map held;                       /* memory.c: what the kernel stores, by storage */
	bool belows;                    /* memory.c: … and below what that is */
	VEC(uint32_t) path;             /* the loops and IFs around: their statements' numbers */
	uint32_t at;                    /* the statement that is looked at */
	Map lets;                       /* where LETs stand, from 1 */
	bool now;                       /* what is assumed is used in this statement alone */
	VEC(Fill) fill;                 /* stores to buffers that it also loads from */
	bool looked;                    /* into what other calls left in buffers */
	bool plain;                     /* do not count on such loads reading what it stored */
	bool asked;                     /* by places_known(), since it was begun */
	bool dead;                      /* the conditions exclude each other: nothing is run here */
	int budget, visits, depth;
	uint8_t ways[MOST_WAYS];        /* + 1; those first that showed the last claims */
	bool quotients, whole;          /* all quotients are taken apart; none is */
} Known;

/* A variable without a greatest value worth the name is taken to be at most this. run proves the
 * document again for larger ones (prove_sizes). */
enum { USUAL_SIZE = 1 << 16 };

/* Begins with nothing known at the kernel of a call (number in the SINK). */
void known_begin(Known *k, const Graph *g, uint32_t number);
/* What is noted is no longer right: something was narrowed. */
void known_changed(Known *k);
/* What u can be here: every value that it has when it is computed lies inside. */
Span span_of(Known *k, UOp *u);
/* Whether neither u nor the sums and products it is made of can wrap. */
bool span_exact(Known *k, UOp *u);
Span span_dtype(DType d);
Span span_join(Span a, Span b);
static inline bool span_empty(Span a) { return a.lo > a.hi; }
/* Narrows each of two LOADs of one place by the other, where the gates of both hold. */
void span_twins(Known *k);
/* u lies inside s, until the frame is closed. */
void span_narrow(Known *k, UOp *u, Span s);
/* Whether u, computed again at another time, may be another value: it loads from what the kernel
 * stores to. What a LET names is computed once. */
bool value_loads(Known *k, UOp *u);

/* ---- facts.c: conditions that hold */

void frame_open(Known *k);
void frame_close(Known *k);
/* Adds, to the open frame, what follows from c being true (or false). */
void assume(Known *k, UOp *c, bool truth);
void assume_below(Known *k, UOp *a, UOp *b, int64_t less);   /* a <= b - less */
void assume_sum(Known *k, const Sum *s);                     /* s >= 0 */
/* Adds what follows from the facts for the quotients in u: x < n*8 gives x//8 < n. */
void assume_quotients(Known *k, UOp *u);
/* Adds that what u loads is below the sizes that memory_below() knows. */
void assume_loads(Known *k, UOp *u);
/* Adds the checks of sizes that the document leaves to run, to an open frame with nothing in it. */
void assume_checks(Known *k);
/* Narrows the values in facts by the others; call it after assumptions. */
void facts_settle(Known *k);

/* ---- algebra.c: sums with symbols */

/* u as a sum over values that are no sums; equal to u modulo 2^64. */
void sum_parts(Known *k, UOp *u, Sum *s);
/* A copy, in the arena. */
Sum *sum_copy(const Sum *s);
/* Puts quotients and remainders of the same together again, (x//4)*4 + x%4 -> x; whether there were
 * some. */
bool sum_join(Known *k, Sum *s);
/* The end of a term as a number; false when it is beyond 100 bits. */
bool term_end(Known *k, const Term *t, bool greatest, Wide *end);
/* Whether a <= b - less follows from the facts. */
bool follows(Known *k, UOp *a, UOp *b, int64_t less);
/* Whether s >= 0 does. */
bool sum_holds(Known *k, const Sum *s);

/* ---- cases.c */

/* Whether 0 <= index < size in each case of what moves over a few values. */
bool cases_hold(Known *k, UOp *index, UOp *size);

/* ---- memory.c: what memory holds */

/* Computes what the integer registers and arrays of the kernel can hold. */
void memory_learn(Known *k);
/* What a LOAD gives. */
Span load_span(Known *k, UOp *load);
/* A size that whatever a LOAD gives is below; NULL when none is known. */
UOp *load_below(Known *k, const UOp *load);
/* Whether what a LET names would be the same if computed in this statement. */
bool let_is_fresh(const Known *k, UOp *let);
/* The value that a LOAD from a register or array gives, where one STORE alone can have written it;
 * else NULL. */
UOp *load_forwarded(Known *k, UOp *load);
/* A STORE was passed. */
void memory_pass(Known *k, UOp *store);
/* Whether a LOAD is from a buffer that the kernel stores to, and taken to read what it stored;
 * whether it does. */
bool memory_counts_on(const Known *k, const UOp *load);
bool memory_filled(Known *k, UOp *load);
/* Forgets what calls leave in buffers. */
void memory_forget(void);
/* Notes that a kernel does not read what it stored before; whether that was noted. */
void memory_distrust(UOp *kernel);
bool memory_plain(const UOp *kernel);

/* ---- cover.c */

/* The places base + i*step for i from 0 to count - 1. */
typedef struct { Sum base, step, count; } Cover;
/* Whether the STORE, in the loops around it beyond the first `common`, writes such places, all of
 * them before what follows those loops; by this item, or (`items`) by all of them. */
bool store_covers(Known *k, const Fill *f, size_t common, bool items, Cover *c);
/* a/b, where that is exact; else false. */
bool sum_divided(const Sum *a, const Sum *b, Sum *out);
/* spots.c: s = w * *high + *low, with the terms that w divides in *high: division of polynomials. A
 * number in s stays in *low. */
bool sum_divide(const Sum *s, const Sum *w, Sum *high, Sum *low);
/* The place of an INDEX as one sum, row-major. */
bool place_sum(Known *k, const UOp *index, Sum *out);

/* ---- places.c */

typedef VEC(UOp *) Unproved;
/* Whether prove_places met a place that could not be proved, though no case was found in which it
 * is outside, or that comes out of an array of the kernel's own: it has to get a gate. */
bool places_doubtful(void);
/* The INDEXes of a call's kernel that cannot be proved. Dies for other faults. */
void places_unproved(const ProvedCall *c, Unproved *out);
/* The size that index `axis` of an INDEX has to be below. */
UOp *place_size(const Graph *g, const UOp *index, int axis);
/* What is known of a call wherever its kernel is: what memory can hold, the checks of sizes. A
 * frame is open. */
Known *places_known(const ProvedCall *c);
/* Forgets what was proved; sizes are these from here on (NULL: as declared). */
void places_again(const VarEnv *sizes);

/* ---- calls.c */

/* Sizes of a document: VARs as declared. */
void check_vars(const Graph *g);

/* ---- witness.c: a case in which a claim is wrong */

/* Text of values with which index is not from 0 to size - 1 though the gate (or NULL) and the
 * conditions around hold: "r0*2+1 is 128 at r0=64 n=7, and the size is 128". If none is found, of
 * the bounds; *found says which. In the arena. */
const char *witness(Known *k, UOp *index, UOp *size, size_t n, UOp *const *cond, bool *found);
#endif
