/* Internals of the printing of values with lanes, shared by vector.c (statements), vector_expr.c
 * (expressions) and the other files, which have a section each. */
#ifndef CSTYLE_VECTOR_H
#define CSTYLE_VECTOR_H
#include "print/print.h"

/* Text of a value with one element in each lane. A bool is a mask: all bits of a lane or none, in
 * integers of `mask` bytes. */
typedef struct { const char *s; int prec, depth, mask; bool variable; } VText;

/* By node id, kept from kernel to kernel. */
struct LaneTables {
	TABLE(struct { VText text; uint32_t statement; }) text; /* valid in that statement */
	TABLE(struct { UOp *u; uint32_t round; }) lane;         /* a node in lane `at` */
};

struct Vectors {
	Map lets;               /* LET → VText: a variable with an element a lane */
	int lanes;              /* of the value being printed */
	struct LaneTables *of;
	int at;                 /* the lane to which of->lane refers */
	UOp *gate;              /* of the STORE being printed, when it differs between lanes */
	const char *gate_mask;  /* the variable that holds it */
	bool streams;           /* a store went past the cache */
};

/* The dtype of what is in each of its lanes. */
static inline DType elem(const UOp *u) { return dtype_element(u->dtype); }
static inline bool has_lanes(const UOp *u) { return dtype_lanes(u->dtype) > 1; }
/* Whether u differs between its lanes. */
static inline bool varies(const UOp *u) { return has_lanes(u) && u->op != OP_BROADCAST; }

/* What is broadcast; else u. */
static inline UOp *one_lane(UOp *u) { return u->op == OP_BROADCAST ? u->src[0] : u; }

/* ---- vector_memory.c */

VText vector_load(Printer *p, UOp *load);
/* value: text of the lanes to store */
void store_lanes(Printer *p, UOp *store, const char *value);

/* ---- vector_expr.c */

VText vector_text(Printer *p, UOp *u);
/* Text of u as an argument of type `f32x16`, a scalar being put in all lanes; a bool is a mask of
 * that many bytes. */
const char *vector_arg(Printer *p, UOp *u);
const char *mask_arg(Printer *p, UOp *u, int bytes);
/* The scalar that u is in lane k. */
UOp *at_lane(Printer *p, UOp *u, int k);
/* The distance from one lane to the next in a place with lanes; 0 when it has no constant one. */
int64_t lane_step(const UOp *e);
/* Like vector_text, but the value is put into a variable. */
VText vector_cut(Printer *p, UOp *u);
/* Puts a value into a variable and returns its name. */
const char *vector_variable(Printer *p, const char *type, const char *value);

/* ---- vector_helpers.c: names of types and functions, each printed at its first use */

/* "f32x16": a vector of `lanes` elements as they are in memory; a bool is a byte, f16 and bf16
 * their bits */
const char *vector_type(Printer *p, DType d, int lanes);
/* "i32x16" for 4 bytes */
const char *mask_type(Printer *p, int bytes, int lanes);
/* The dtype of a vector's elements for d: u8 for bool, u16 for f16 and bf16. */
DType lane_dtype(DType d);
/* The function of that name for the value's lanes: "max" → max_f32x16. Its text is the first row
 * of that name that fits dtype and width. */
const char *vector_fn(Printer *p, const char *what, DType d);
bool vector_has(const char *what);      /* vector_fn has it */
/* The words of a template, explained in vector_helpers.c. */
typedef struct {
	const char *name, *fn;
	DType to, from, via;
	int lanes;
	const char *low, *high, *least, *greatest;
} VWords;
/* "3, 4, 0, 1": n numbers beginning with first, modulo below; "s, s, s" */
const char *number_list(int n, int first, int below);
const char *text_list(int n, const char *s);
#define VECTOR_INLINE "static inline __attribute__((always_inline)) "
/* Prints the function, once; returns its name. */
const char *vector_helper(Printer *p, const VWords *w, const char *text);
/* the function that ends a sequence of stream_… stores */
const char *vector_fence(Printer *p);
/* fn applied lane by lane to nsrc vectors of d */
const char *lanewise_fn(Printer *p, const char *fn, DType to, DType d, int nsrc);

/* ---- vector_integers.c */

/* idiv, mod, floordiv or floormod of integers of up to 32 bits */
const char *divide_fn(Printer *p, const char *what, DType d);
const char *threefry_fn(Printer *p);
/* dotu8i8_i32x16(a, b, c): c + the sums of products of the narrow integers in a and b */
const char *dot_fn(Printer *p, Op op);

/* ---- vector_casts.c */

/* x, the text of a vector of dtype from, CAST to another dtype; neither is bool */
const char *vector_cast(Printer *p, DType to, DType from, const char *x);
#endif
