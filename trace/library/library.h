/* The tensor library: values, arguments, functions.def.  Sections follow the files. */
#ifndef TRACE_LIBRARY_LIBRARY_H
#define TRACE_LIBRARY_LIBRARY_H
#include "arrays/arrays.h"
#include "primitives/primitives.h"

/* ---- values.c: what a program's expressions are, and how a call's arguments are bound ---------- */

/* NUMBER is a literal whose dtype is still open: a weak scalar, that takes the other operand's dtype (as Python
 * scalars do in NumPy); is_int tells 2 from 2.0.  SIZE is an index node (a size, perhaps symbolic). */
typedef enum { V_NONE, V_TENSOR, V_NUMBER, V_SIZE, V_BOOL, V_STR, V_LIST, V_MODEL } ValueKind;
typedef struct Value Value;
struct Value {
	ValueKind kind;
	UOp *u;                 /* TENSOR: a graph node; SIZE: an index node */
	double f;               /* NUMBER */
	int64_t i;              /* NUMBER with is_int; BOOL */
	bool is_int;
	const char *s;          /* STR; also a dtype's name */
	Value *at; size_t n;    /* LIST */
	const char *const *names; /* LIST: of its elements, where they have any (NULL) */
	struct OnnxModel *model; /* MODEL */
};
Value v_none(void);
Value v_tensor(UOp *u);
Value v_int(int64_t i);
Value v_float(double f);
Value v_size(UOp *u);
Value v_list(size_t n, Value *at);
Value v_bool(bool b);
Value v_str(const char *s);
Value v_shape(const Shape *s);               /* LIST of sizes; known ones are NUMBERs */
const char *value_text(const Value *v);      /* "a tensor f32[3]", for messages */
/* A value as a tensor: a weak one becomes a constant of like's dtype where it can (DT_NONE: its own); a list of numbers
 * becomes a const BUFFER. NULL when v cannot be one. */
UOp *value_tensor(const Value *v, DType like);
DType weak_dtype(const Value *v, DType like);    /* the dtype it would have then */
UOp *value_size(const Value *v);                 /* index node of an int, SIZE or size text; NULL for others */
/* Puts note, which has a loc, on the nodes without one that v is made of, as far as their ids are start or more. */
void note_nodes(const Value *v, uint32_t start, const Val *note);

/* A call's arguments in the order of its signature, defaults filled in.  The getters die with MALFORMED and the
 * parameter's name when the value is of another kind. */
typedef struct Function Function;
typedef struct { const Function *fn; int n; Value *at; } Args;
UOp *arg_tensor(Args *a, int k);             /* a NUMBER becomes a scalar: i32/f32 when nothing decides */
UOp *arg_tensor_like(Args *a, int k, DType dt);  /* the same with dt for a weak NUMBER */
bool arg_given(Args *a, int k);              /* not none */
int64_t arg_int(Args *a, int k);             /* a known integer */
double arg_float(Args *a, int k);
bool arg_bool(Args *a, int k);
const char *arg_str(Args *a, int k);
UOp *arg_size(Args *a, int k);               /* int or SIZE as an index node */
int arg_sizes(Args *a, int k, UOp **out);    /* list of sizes (or one); count ≤ MAX_RANK */
int arg_int_list(Args *a, int k, int64_t *out, int max);
DType arg_dtype(Args *a, int k);             /* from a STR; DT_NONE when none */
/* axes, negative ones counted from the end, distinct; none gives all; returns the count */
int arg_axes_of(Args *a, int k, int rank, int *axes);
int arg_axis(Args *a, int k, int rank);

/* ---- literals.c: lists of numbers as data, and BUFFERs that carry data --------------------------------- */

/* dtype of a nested list of numbers, its integers weak against like; the const BUFFER of it (equal ones are one) */
DType literal_dtype(const Value *v, DType like);
UOp *literal_tensor(const Value *v, DType like);
const char *literal_name(void);              /* a fresh one for such a buffer: literal_1 … */
/* A BUFFER; data (bytes in the arena) or file ([path, offset, bytes]) may be NULL. The name must be a fresh one. */
UOp *buffer_new(const char *name, const char *role, DType dt, const Shape *s, const Val *data, const Val *file);
/* A const tensor with an array's content, which is copied; [n] of numbers worked out here. */
UOp *array_tensor(const Array *a);
UOp *table_ints(size_t n, const int64_t *v);
UOp *table_numbers(DType dt, size_t n, const double *v);
/* stem, or stem_1, stem_2, … : one that no buffer has yet; name_take is false when it is taken */
const char *name_fresh(const char *stem);
bool name_take(const char *name);
void buffers_reset(void);                    /* forgets names and literals: between two documents */
/* .npy, .npz (member) or .safetensors (member) as a BUFFER, read in place where it can; want: the dtype expected */
UOp *load_buffer(const char *path, const char *member, DType want, const char *name, const char *role);

/* ---- expand_functions.c: the table of functions (functions.def) ------------------------------------ */

/* functions.def: FN(name, "x, axis=-1, keepdims=false", "one line of help"), one row each; the C function is
 * fn_NAME. In a signature `*xs` takes all remaining positional arguments as a LIST. */
struct Function { const char *name, *params; Value (*fn)(Args *a); const char *help; };
const Function *function_find(const char *name);
/* A signature's parameters, at most MAX_PARAMS, which point into text: their count. deflt: the
 * text of the default, NULL without one; star: it takes the rest; known: it has an @, as in
 * onnx/operators.def. */
typedef struct { const char *name; size_t len; const char *deflt; bool star, known; } Param;
enum { MAX_PARAMS = 40 };
int signature_params(const char *text, Param *p);
/* The number, text, word or list of such that *s begins with; *s goes past it. Only for the text of
 * our own tables. */
Value parse_literal(const char **s);
const char *param_name(const Function *f, int k);
int param_find(const Function *f, const char *name);     /* -1 when there is none */
/* Binds and calls. kw: names and values of keyword arguments. Dies with MALFORMED (unknown name, missing, twice). */
Value function_call(const Function *f, size_t n, const Value *pos, size_t nkw, const char *const *kw, const Value *kwval);
#define FN(name, params, help) Value fn_##name(Args *a);
#include "library/functions.def"
#undef FN

/* ---- bound_sizes.c */

/* Pass: buffers of their most instead of sizes that are data; what lies beyond is left out of folds, sorts and
 * indices. meta.counts and meta.trims tell run what to cut from the outputs (common/README.md). */
Graph *bound_sizes(Graph *g);

/* ---- data.c */

/* data.c: the places of x where it is not 0, i64 [rank, count]; parts of x along axis */
UOp *t_nonzero_places(UOp *x);
UOp *t_compress(UOp *x, UOp *mask, int axis);
/* distinct parts of x along axis in rising order, or that of their first places: the parts; those places; for each part
 * of x the number of its like; how many there are of each */
void t_unique(UOp *x, int axis, bool sorted, UOp **out);

/* ---- conv.c: what windows over the last axes need -------------------------------------------------------- */

enum { MAX_SPACE = 3 };
/* Argument k as nd numbers, one given standing for all; dies below least. */
void space_numbers(Args *a, int k, int nd, int64_t *out, int64_t least);
/* padding: a number, one an axis, or before and after of each axis in turn */
void space_padding(Args *a, int k, int nd, int64_t (*pad)[2]);
/* The last nd axes of x padded (negative: cut) by numbers, with value (NULL: zeros). */
UOp *space_pad(UOp *x, int nd, int64_t (*pad)[2], UOp *value);

/* x[n,c,o...,k...], windows of x, and f[o,c/g,k...] contracted to [n,o,o...]; who is named when they do not fit */
UOp *conv_contract(const char *who, UOp *x, UOp *f, int nd, int64_t groups);
UOp *conv_add_channels(UOp *y, UOp *b);                   /* b[o] along axis 1 of y */

/* ---- pool.c: windows over the last nd axes of x[n,c,...], and what they are folded to --------------------------- */

typedef struct { int nd; int64_t k[MAX_SPACE], stride[MAX_SPACE], dilation[MAX_SPACE], pad[MAX_SPACE][2]; } Window;
/* x padded by pad with value (NULL: zeros) and cut: [n,c,o...,k...]; then those folded: [n,c,o...] */
UOp *space_windows(const Window *w, UOp *x, int64_t (*pad)[2], UOp *value);
UOp *space_fold(const Window *w, Op op, UOp *x);
void pool_ceil(Window *w, UOp *x);           /* pads so that a last window may hang over the end */
/* x[n,c,...] with w->stride places between its elements, each giving f[c,o/g,k...] times itself; then cut by w->pad, and
 * more places behind */
UOp *conv_transposed(const char *who, UOp *x, UOp *f, const Window *w, const int64_t *more, int64_t groups);
UOp *pool_mean(const Window *w, UOp *x, bool ceil, bool with_padding);    /* x is of floats */

/* ---- resize.c: an axis made longer or shorter by reading between its elements --------------- */

/* How place i of the result stands to places of x: by pixel centres, by the outer elements
 * (corners), by i over scale, or within a part of x (crop). */
typedef enum {
	MAP_HALF, MAP_HALF_SYMMETRIC, MAP_HALF_PYTORCH, MAP_CORNERS, MAP_ASYMMETRIC, MAP_CROP
} ResizeMap;
typedef enum { ROUND_PREFER_FLOOR, ROUND_PREFER_CEIL, ROUND_FLOOR, ROUND_CEIL } ResizeRound;
/* mode: 'n'earest (round says which), 'l'inear or 'c'ubic with Keys' a. antialias: when it gets
 * shorter, the kernel is as wide as what falls into one result. inner: what lies outside has no
 * weight, else the border repeats. beyond: the value outside of a crop. */
typedef struct {
	char mode;
	ResizeMap map;
	ResizeRound round;
	double a, beyond;
	bool antialias, inner;
} ResizeHow;
/* One axis: n to `to` elements by scale; crop is start and end of the region, from 0 to 1. n is -1
 * when it stays as it is, or when its sizes are symbolic: then it gets `size` elements. */
typedef struct { int64_t n, to; double scale, crop[2]; UOp *size; } ResizeAxis;
/* in x's dtype, a float one unless the mode is 'n' */
UOp *t_resize(const ResizeHow *h, UOp *x, int axis, const ResizeAxis *ax);
/* the four weights of Keys' cubic kernel for fraction t in [0,1] */
void t_cubic_weights(UOp *t, double a, UOp **w);

/* ---- program.c: what a program declares, in whatever language ------------------------------------------- */

void program_start(void);                    /* forgets all of it: before each program */
/* A size variable from lo to hi; NULL, or what is wrong. The same one may be declared again. */
const char *program_size(const char *name, int64_t lo, int64_t hi);
UOp *program_input(const char *name, DType dt, const Shape *s);   /* dies when name is in use */
/* The state of that name, which is taken already, with its first value: a constant of known size. */
UOp *program_state(const char *name, UOp *first);
UOp *program_state_named(const char *name);  /* its BUFFER; NULL when there is none */
bool program_assigned(const char *name);     /* it has its next content already */
UOp *program_assign(const char *name, const Value *next);         /* the ASSIGN; once a state */
bool program_has_output(const char *name);
void program_output(const char *name, UOp *u);
Graph *program_graph(void);                  /* of all that; updates that no output needs become outputs */
/* v as a tensor of this dtype and shape (NULL: its own); what names it in messages */
UOp *value_as(const Value *v, DType dt, const Shape *s, const char *what);
void check_constant(UOp *u, const char *what);   /* dies when u depends on an input or a state */
#endif
