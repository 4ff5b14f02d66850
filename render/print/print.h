/* C-like source of kernels. Sections follow the files. */
#ifndef RENDER_PRINT_PRINT_H
#define RENDER_PRINT_PRINT_H
#include "graph/graph.h"

/* ---- kernel.c, signature.c, cstyle.c, expr.c, narrow.c, names.c, helpers.c: C-like source --- */

/* The spellings of a language. A NULL pointer: the language lacks the feature. */
typedef struct Dialect Dialect;
typedef struct Printer Printer;
struct Dialect {
	const char *target;
	/* What a kernel's function does; the lines that begin it; the function that run calls, of
	 * a function that takes such buffers. NULL: C's. */
	void (*body)(Printer *p, const Nodes *all);
	void (*head)(Printer *p, Buf *out, const char *name);
	void (*caller)(Buf *out, const Dialect *d, const char *name, size_t slots,
		UOp *const *buffer, size_t vars, bool grid);
	const char *sigil;              /* before the name of a value, or NULL */
	/* of a language whose expressions are instructions: prints those of u; its operand, NULL
	 * for what has no value */
	const char *(*value)(Printer *p, UOp *u);
	const char *type[DT_COUNT];     /* of a value; f16 and bf16 are their bits */
	const char *comment;            /* a line, "; %s\n"; NULL: C's */
	const char *first_line;         /* before the source */
	const char *prelude;            /* once in a file that several sources share */
	const char *f64_line;           /* before the source when doubles are used */
	const char *kernel;             /* "__kernel void" */
	const char *pointer;            /* address space of a parameter, "__global " */
	const char *restricted;         /* "restrict" */
	const char *inline_fn;          /* "static inline" */
	const char *local, *barrier;    /* address space of local memory; the statement */
	const char *group_id[3], *item_id[3];
	const char *exchange;           /* %s of the item with bit %d of its number flipped */
	const char *inf[2], *nan[2];    /* f32, f64 */
	const char *function[2];        /* "%sf": a function on f32, on f64; %s: the op's c_text */
	const char *named[OP_COUNT];    /* those that are not named so */
	const char *aligned;            /* of an array on the stack: to a cache line; or "" */
	const char *move;               /* attribute of a struct aligned to %d bytes, which it moves
					 * at once; NULL: it moves elements */
	const char *prefetch;           /* the function, or NULL */
	const char *bitcast; /* body of a reinterpretation of x as $T; NULL: through a union */
	const char
		*mulacc[2]; /* a*b + c rounded once, where that is fast, f32 and f64; NULL: left to
							  the compiler */
	const char *i64_suffix;         /* "L" */
	const char *u64;                /* a constant, "UINT64_C(%llu)"; NULL: u and that suffix */
	const char *narrow;             /* 32 bits or more, for places that fit; NULL: i64 */
	bool wraps;                     /* signed arithmetic wraps, by the compiler's flags */
	bool attributes;                /* parameters carry [[buffer(k)]], sizes are references */
	bool on_cpu;                    /* has a NAME_call for run */
	bool lanes;                     /* has values with lanes: GNU C's vectors, here */
	const char *runtime;            /* PROGRAM's runtime, or NULL */
};

/* A function of the language's own prelude, asked for while expressions are printed. */
typedef struct { VEC(const char *) names; Buf text; const Dialect *d; } Helpers;
/* false when the function is new: it is then recorded, and the caller puts its text */
bool helper_have(Helpers *h, const char *name);
void helper_put(Helpers *h, const char *name, const char *text);
/* the prelude's function for an op on sources of dtype t */
const char *helper_binary(Helpers *h, Op op, DType t);
/* the same for places, in the dialect's type for them */
const char *helper_places(Helpers *h, Op op);
/* "max" for MAX: what functions for an op are named after, in the arena */
const char *op_word(Op op);
/* the language's function for an op of form FUNCTION on f32 or f64 */
const char *language_function(const Dialect *d, Op op, DType t);
const char *helper_cast(Helpers *h, DType to, DType from);
const char *helper_bits(Helpers *h, DType to, DType from);
/* a*b + c rounded once; NULL when the language has no such function or t is not f32 or f64 */
const char *helper_mulacc(Helpers *h, DType t);

/* Text of a node within one statement. */
typedef struct { const char *s; int prec, depth; } Text;
/* by node id, valid for the statement that the entry names */
typedef TABLE(struct { Text text; uint32_t statement; }) Texts;
/* The number in its labels; the number that a loop stays below. */
typedef struct { int number; const char *below; } PrinterBlock;
struct Printer {
	const Dialect *d;
	UOp *kernel, *call;
	Buf *out;
	int indent;
	Helpers helpers;
	Map names;                      /* node → name: LETs, storage, ranges, variables */
	Map used;                       /* names in use */
	Map narrow;                     /* nodes computed in the dialect's type for places */
	Texts *texts;
	int lets, regs, bufs, temps, pointers;
	VEC(UOp *) vars;
	const char **slot_name, **var_name;     /* of the parameters */
	int slots;
	uint64_t *stored;               /* bit by slot */
	bool restricted;
	const UOp *gate; /* of the STORE being printed: what it encloses needs no gate of its own */
	VEC(UOp *) open;                /* RANGEs */
	const char *block;              /* LLVM: where instructions go; NULL after a branch */
	VEC(PrinterBlock) blocks;       /* LLVM: of open RANGEs and IFs */
	const char *from, *to;          /* the items the function runs (CPU), NULL without a grid */
	struct Vectors *vectors;        /* of vector.c; NULL: the language has no vectors */
};
/* Finds slots, size variables and the grid among these nodes, and names all that the function
 * takes; dies with MALFORMED when the call does not give it. */
void signature_find(Printer *p, const Nodes *all, const char *name);
/* Frees what p holds; returns the size variables, for a PROGRAM. */
const Val *signature_end(Printer *p);
bool is_stored(const Printer *p, int slot);
/* Comments with the source that the kernel came from. */
void print_origin(const Printer *p, Buf *out);
/* That is the name of all SPECIALs, which on a CPU are its grid's item; returns one, or NULL. */
UOp *name_item(Printer *p, const Nodes *all, const char *name);
void name_put(Printer *p, const UOp *u, const char *name);
/* facts.c: whether what is known of its operands makes u an operator's own: places do not wrap, the
 * operands of a division are not negative, nor its divisor 0, a count is below the width, only the
 * first operand of an extreme may be a NaN */
bool op_is_simple(UOp *u);
/* Is u what stands at the STORE's place while it is printed? */
bool loads_place(const UOp *u, const UOp *store);
/* What a STORE stores: a MULACC, which is rounded once, where it adds a product to its place. */
UOp *stored_value(const UOp *store);
/* how many a DEFINE_REG or DEFINE_LOCAL has at most */
int64_t storage_elements(UOp *u);
/* Text of value u in the statement being printed; long expressions are cut by temporaries before
 * it. */
Text expr_text(Printer *p, UOp *u);
/* Where that is in its storage, which has a name; dies with MALFORMED when that is not so. */
UOp *place_of(const Printer *p, const UOp *index);
/* The element that an INDEX addresses. */
const char *expr_place(Printer *p, UOp *index);
/* The same, in parentheses when its outermost operator binds weaker than prec. */
const char *expr_at(Printer *p, UOp *u, int prec);
/* places.c: pointers to places of a language with lanes. Before statement i is printed: counts the
 * places of those that it begins; declares the pointers that it uses first. */
void places_begin(Printer *p, uint32_t i);
void places_declare(Printer *p, const UOp *statement);
/* "p0[16]", NULL where the place has no pointer. */
const char *place_pointed(Printer *p, const UOp *index);
/* Visits sources first, by an explicit stack: calls make for every node below root that is needed
 * and not yet made. */
typedef struct {
	bool (*made)(Printer *p, UOp *u);
	bool (*needs)(Printer *p, UOp *u, uint32_t i);      /* source i, for u */
	void (*make)(Printer *p, UOp *u);
} Making;
void make_first(Printer *p, UOp *root, const Making *m);
/* "0.0f"; "<", "==" or "!=" */
const char *zero_text(DType d);
/* how tightly an operator of C binds */
int operator_prec(const char *operator);
enum {
	PREC_ANY = 0,
	PREC_WHERE = 3,
	PREC_OR = 6,
	PREC_XOR,
	PREC_AND,
	PREC_EQ,
	PREC_REL,
	PREC_SHIFT,
	PREC_ADD,
	PREC_MUL,
	PREC_UNARY,
	PREC_ATOM
};
/* Finds the places among these nodes, sources before users, that fit into 32 bits. */
void narrow_find(Printer *p, const Nodes *all);
bool is_narrow(const Printer *p, const UOp *u);
/* The type in which u is computed. */
const char *value_type(const Printer *p, const UOp *u);
void print_line(Printer *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- vector*.c: values with lanes -------------------------------------------------------- */

/* p->vectors is valid until vectors_end. */
void vectors_begin(Printer *p);
void vectors_end(Printer *p);
/* Declares a DEFINE_REG that is a vector; false when it is an array or an element. */
bool vector_reg(Printer *p, UOp *reg, const char *name);
/* Prints a statement on values with lanes; false when it has none. */
bool vector_statement(Printer *p, UOp *u);
/* A SHUFFLE of one lane. */
Text vector_lane(Printer *p, UOp *u);
/* At the kernel's end: orders streaming stores before later stores. */
void vectors_fence(Printer *p);

/* An identifier made of a user's name that has no other meaning in any of the languages. */
const char *name_safe(const char *s, size_t n);
/* name_safe, distinct from all names given before */
const char *name_unique(Map *used, const char *name);
/* Text that is safe in a comment: characters that could end the comment or the line are
 * replaced. */
const char *comment_safe(const char *s, size_t n);

/* The source of one lowered KERNEL as a function of that name; the buffers of `call` give
 * parameters their names. restricted: no two slots share memory. Returns the size variables it
 * takes, in order. */
const Val *print_kernel(
	Buf *out, const Dialect *d, UOp *kernel, const char *name, UOp *call, bool restricted);

/* C's body, head and caller, for a Dialect that has no others. */
void cstyle_body(Printer *p, const Nodes *all);
void cstyle_head(Printer *p, Buf *out, const char *name);
void cstyle_caller(Printer *p, const char *name);

/* ---- custom_program.c: CUSTOM → PROGRAM ------------------------------------------------------ */

/* The code of a CUSTOM for d's target with its launch data; flags are for the compiler, globals the
 * dtypes of its slots. Dies with UNSUPPORTED when the CUSTOM has no code for that target. */
UOp *custom_program(UOp *custom, const Dialect *d, const char *flags, const Val *globals);

/* ---- programs.c, render-X.c: KERNEL → PROGRAM ------------------------------------------------ */

/* The main of a render-X. */
int render_main(const Dialect *d, int argc, char **argv);
#endif
