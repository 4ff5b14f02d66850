/* The tensor library: values, arguments, functions.def.  Sections follow the files. */
#ifndef TRACE_LIBRARY_LIBRARY_H
#define TRACE_LIBRARY_LIBRARY_H
#include "arrays/arrays.h"
#include "primitives/primitives.h"

/* ---- values.c: the values of expressions, and the arguments of a call ------------------------ */

/* NUMBER is a literal whose dtype is still open: a weak scalar that takes the dtype of the other
 * operand (as Python scalars do in NumPy); is_int tells 2 from 2.0. SIZE is an index node (a size,
 * perhaps symbolic). ROWS is a list as long as a loop had turns: the rows of u. EXTENDED is a list
 * that the loop at hand extends: what it has got in this turn (text/turns.c). UNSET is a variable
 * that has no value any more. */
typedef enum {
	V_NONE, V_TENSOR, V_NUMBER, V_SIZE, V_BOOL, V_STR, V_LIST, V_MODEL, V_ROWS, V_EXTENDED,
	V_UNSET
} ValueKind;
typedef struct Value Value;
struct Value {
	ValueKind kind;
	UOp *u;                 /* TENSOR, ROWS: a graph node; SIZE: an index node; EXTENDED: the
				 * TURN of its loop */
	bool weak;              /* TENSOR: a number that is data; its dtype is still open too */
	double f;               /* NUMBER */
	int64_t i;              /* NUMBER with is_int; BOOL */
	bool is_int;
	const char *s;          /* STR; also a dtype's name. UNSET: why */
	Value *at; size_t n;    /* LIST, EXTENDED */
	const char *const *names; /* LIST: the names of its elements, or NULL */
	struct OnnxModel *model; /* MODEL */
};
Value v_none(void);
Value v_tensor(UOp *u);
Value v_weak(UOp *u);                        /* a weak TENSOR */
Value v_rows(UOp *u);
Value v_int(int64_t i);
Value v_float(double f);
Value v_size(UOp *u);
Value v_list(size_t n, Value *at);
Value v_bool(bool b);
Value v_str(const char *s);
Value v_shape(const Shape *s);               /* LIST of sizes; known sizes are NUMBERs */
const char *value_text(const Value *v);      /* "a tensor f32[3]", for messages */
/* Converts a value to a tensor. A weak number becomes a constant of like's dtype if that can hold
 * it (DT_NONE: its default dtype); a list of numbers becomes a const BUFFER. NULL when v has no
 * tensor form. */
UOp *value_tensor(const Value *v, DType like);
DType weak_dtype(const Value *v, DType like);    /* the dtype that value_tensor would give it */
bool value_weak(const Value *v);             /* a number or a size, known or data */
/* index node of an int, SIZE or size text; NULL for others */
UOp *value_size(const Value *v);
/* Attaches note, which has a loc, to the nodes that v is computed from, if they have none yet and
 * their ids are at least start. */
void note_nodes(const Value *v, uint32_t start, const Val *note);

/* A call's arguments in the order of its signature, with defaults filled in. The getters die with
 * MALFORMED and the parameter's name when the value has another kind. */
typedef struct Function Function;
typedef struct { const Function *fn; int n; Value *at; } Args;
UOp *arg_tensor(Args *a, int k);             /* a NUMBER becomes an i32 or f32 scalar */
UOp *arg_tensor_like(Args *a, int k, DType dt);  /* the same; a weak NUMBER takes dt */
bool arg_given(Args *a, int k);              /* it is not none */
int64_t arg_int(Args *a, int k);             /* a known integer */
double arg_float(Args *a, int k);
bool arg_bool(Args *a, int k);
const char *arg_str(Args *a, int k);
UOp *arg_size(Args *a, int k);               /* int or SIZE as an index node */
int arg_sizes(Args *a, int k, UOp **out);    /* list of sizes (or one); count ≤ MAX_RANK */
int arg_int_list(Args *a, int k, int64_t *out, int max);
DType arg_dtype(Args *a, int k);             /* named by a STR; DT_NONE for none */
/* The axes, distinct; negative ones count from the end, and none stands for all axes. Returns the
 * count. */
int arg_axes_of(Args *a, int k, int rank, int *axes);
int arg_axis(Args *a, int k, int rank);

/* ---- literals.c: lists of numbers as data, and BUFFERs that carry data */

/* The dtype of a nested list of numbers, whose integers are weak against like; and its const BUFFER
 * (equal lists share one). */
DType literal_dtype(const Value *v, DType like);
UOp *literal_tensor(const Value *v, DType like);
const char *literal_name(void);              /* a fresh name for such a buffer: literal_1, … */
/* A new BUFFER; data (bytes in the arena) or file ([path, offset, bytes]) may be NULL. The name
 * must be fresh. */
UOp *buffer_new(const char *name, const char *role, DType dt, const Shape *s, const Val *data,
	const Val *file);
/* A const tensor with a copy of an array's content, and one of n integers computed while
 * tracing. */
UOp *array_tensor(const Array *a);
UOp *table_ints(size_t n, const int64_t *v);
UOp *table_numbers(DType dt, size_t n, const double *v);
/* name_fresh returns stem, or the first of stem_1, stem_2, … that no buffer has yet; name_take
 * returns false when the name is taken. */
const char *name_fresh(const char *stem);
bool name_take(const char *name);
void buffers_reset(void);                    /* forgets names and literals: between two documents */
/* A .npy, .npz (member) or .safetensors (member) file as a BUFFER, read in place where possible;
 * want is the expected dtype. */
UOp *load_buffer(
	const char *path, const char *member, DType want, const char *name, const char *role);

/* ---- expand_functions.c: the table of functions (functions.def) */

/* functions.def: FN(name, "x, axis=-1, keepdims=false", "one line of help"), one row per function;
 * the C function is fn_NAME. In a signature `*xs` collects all remaining positional arguments in a
 * LIST. */
struct Function { const char *name, *params; Value (*fn)(Args *a); const char *help; };
const Function *function_find(const char *name);
/* "; did you mean 'softmax'?", or "" */
const char *function_hint(const char *name);
/* Parses a signature into parameters, at most MAX_PARAMS, which point into text; returns the count.
 * deflt: the text of the default, or NULL; star: it takes the remaining arguments; known, sizes:
 * marked with @ or #, as in onnx/operators.def. */
typedef struct { const char *name; size_t len; const char *deflt; bool star, known, sizes; } Param;
enum { MAX_PARAMS = 40 };
int signature_params(const char *text, Param *p);
/* Parses the number, text, word or list of these at *s and advances *s past it. Only for the text
 * of our own tables. */
Value parse_literal(const char **s);
const char *param_name(const Function *f, int k);
int param_find(const Function *f, const char *name);     /* -1 when there is none */
/* Binds the arguments and calls f. kw: names and values of keyword arguments. Dies with MALFORMED
 * (unknown name, missing or duplicate argument). */
Value function_call(const Function *f, size_t n, const Value *pos, size_t nkw,
	const char *const *kw, const Value *kwval);
#define FN(name, params, help) Value fn_##name(Args *a);
#include "library/functions.def"
#undef FN

/* ---- create.c */

/* How many numbers there are from start to stop by `by`, scalars of any dtype: the distance over
 * the step, rounded up, bound to a size. */
UOp *t_range_count(UOp *start, UOp *stop, UOp *by);

/* ---- data.c */

/* t_nonzero_places: the places where x is not 0, i64 [rank, count]. t_compress: the slices of x
 * along axis that mask selects. */
UOp *t_nonzero_places(UOp *x);
UOp *t_compress(UOp *x, UOp *mask, int axis);
/* The distinct slices of x along axis, in rising order or in the order of their first places. out:
 * the slices; their first places; for each slice of x the number of the equal one; the count of
 * each. */
void t_unique(UOp *x, int axis, bool sorted, UOp **out);

/* ---- conv.c: helpers for windows over the last axes ------------------------------------------ */

enum { MAX_SPACE = 3 };
/* Argument k as nd numbers; a single number stands for all. Dies on a number below least. */
void space_numbers(Args *a, int k, int nd, int64_t *out, int64_t least);
/* padding: one number, one per axis, or before and after for each axis in turn */
void space_padding(Args *a, int k, int nd, int64_t (*pad)[2]);
/* The last nd axes of x padded (cut, where negative) by numbers, with value (NULL: zeros). */
UOp *space_pad(UOp *x, int nd, int64_t (*pad)[2], UOp *value);

/* Contracts x[n,c,o...,k...], windows of x, with f[o,c/g,k...] to [n,o,o...]; who is named in the
 * message when they do not fit. */
UOp *conv_contract(const char *who, UOp *x, UOp *f, int nd, int64_t groups);
UOp *conv_add_channels(UOp *y, UOp *b);                   /* b[o] along axis 1 of y */

/* ---- pool.c: windows over the last nd axes of x[n,c,...], and their reduction ---------------- */

typedef struct {
	int nd;
	int64_t k[MAX_SPACE], stride[MAX_SPACE], dilation[MAX_SPACE], pad[MAX_SPACE][2];
	UOp *more[MAX_SPACE][2];        /* symbolic places around the padding; NULL: none */
} Window;
/* space_windows: the windows of x padded by pad and more with value (NULL: zeros), [n,c,o...,k...];
 * pool_fold: those windows reduced, [n,c,o...]. */
UOp *space_windows(const Window *w, UOp *x, int64_t (*pad)[2], UOp *value);
UOp *space_fold(const Window *w, Op op, UOp *x);
void pool_ceil(Window *w, UOp *x);           /* pads so that the last window may overhang */
/* Transposed convolution: the elements of x[n,c,...] are spread w->stride places apart, and each
 * adds itself times f[c,o/g,k...]; the result is then cut by w->pad, and gets `more` places
 * behind. */
UOp *conv_transposed(
	const char *who, UOp *x, UOp *f, const Window *w, const int64_t *more, int64_t groups);
UOp *pool_mean(const Window *w, UOp *x, bool ceil, bool with_padding);    /* x has a float dtype */

/* ---- resize.c: resampling along an axis ------------------------------------------------------ */

/* How place i of the result maps to a place in x: by pixel centres, by the outer elements
 * (corners), by i over scale, or within a region of x (crop). */
typedef enum {
	MAP_HALF, MAP_HALF_SYMMETRIC, MAP_HALF_PYTORCH, MAP_CORNERS, MAP_ASYMMETRIC, MAP_CROP
} ResizeMap;
typedef enum { ROUND_PREFER_FLOOR, ROUND_PREFER_CEIL, ROUND_FLOOR, ROUND_CEIL } ResizeRound;
/* mode: 'n'earest (round says which), 'l'inear or 'c'ubic with Keys' coefficient a. antialias: when
 * the axis gets shorter, the kernel is widened to cover all elements of one result. inner: places
 * outside have weight 0; otherwise the border repeats. beyond: the value outside a crop. */
typedef struct {
	char mode;
	ResizeMap map;
	ResizeRound round;
	double a, beyond;
	bool antialias, inner;
} ResizeHow;
/* One axis: n elements resized to `to` by scale; crop is the start and end of the region, from 0 to
 * 1. n is -1 when the axis keeps its size or its sizes are symbolic, in which case it gets `size`
 * elements; then scale is 0 where it is size by the axis's, or `by`, an f64 scalar, if there is
 * one. */
typedef struct { int64_t n, to; double scale, crop[2]; UOp *size, *by; } ResizeAxis;
/* The result has x's dtype, which must be a float one unless the mode is 'n'. */
UOp *t_resize(const ResizeHow *h, UOp *x, int axis, const ResizeAxis *ax);
/* the four weights of Keys' cubic kernel for fraction t in [0,1] */
void t_cubic_weights(UOp *t, double a, UOp **w);

/* ---- program.c: a program's declarations, in whatever language ------------------------------- */

void program_start(void);                    /* forgets all declarations */
/* Declares a size variable from lo to hi. Returns NULL, or the error message. The same declaration
 * may be repeated. */
const char *program_size(const char *name, int64_t lo, int64_t hi);
UOp *program_input(const char *name, DType dt, const Shape *s);   /* dies when name is in use */
/* Declares a state, whose name has been taken already, with its first value: a constant of known
 * size. */
UOp *program_state(const char *name, UOp *first);
UOp *program_state_named(const char *name);  /* its BUFFER; NULL when there is none */
bool program_assigned(const char *name);     /* it has been assigned its next content */
UOp *program_assign(const char *name, const Value *next);         /* the ASSIGN; once per state */
bool program_has_output(const char *name);
void program_output(const char *name, UOp *u);
Graph *program_graph(void);                  /* all of it; unneeded updates become outputs */
/* v as a tensor of this dtype and shape (NULL: its own); messages call it `what` */
UOp *value_as(const Value *v, DType dt, const Shape *s, const char *what);
void check_constant(UOp *u, const char *what);   /* dies when u depends on an input or a state */
#endif
