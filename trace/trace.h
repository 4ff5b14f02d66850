/* trace: anything → level graph.  The tensor library, and the readers that call it.  Sections follow the files. */
#ifndef TRACE_H
#define TRACE_H
#include "uop.h"

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
/* What a fraction is by itself, and an integer that becomes one: f32, as in the text language; f64 in a program in C. */
extern DType float_dtype;
UOp *value_size(const Value *v);                 /* index node of an int, SIZE or size text; NULL for others */
UOp *size_tensor(UOp *size);                     /* i64 scalar; the size may be negative */
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
extern const char *literal_stem;             /* what such a buffer is called: literal, literal_1, … */
/* A BUFFER; data (bytes in the arena) or file ([path, offset, bytes]) may be NULL. The name must be a fresh one. */
UOp *buffer_new(const char *name, const char *role, DType dt, const Shape *s, const Val *data, const Val *file);
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
/* A signature's parameters, at most MAX_PARAMS, which point into text: their count. deflt: the text of the default,
 * NULL without one; star: it takes the rest; known: it has an @, as in onnx_ops.def. */
typedef struct { const char *name; size_t len; const char *deflt; bool star, known; } Param;
enum { MAX_PARAMS = 40 };
int signature_params(const char *text, Param *p);
/* The number, text, word or list of such that *s begins with; *s goes past it. Only for text of our own tables. */
Value parse_literal(const char **s);
const char *param_name(const Function *f, int k);
int param_find(const Function *f, const char *name);     /* -1 when there is none */
/* Binds and calls. kw: names and values of keyword arguments. Dies with MALFORMED (unknown name, missing, twice). */
Value function_call(const Function *f, size_t n, const Value *pos, size_t nkw, const char *const *kw, const Value *kwval);
#define FN(name, params, help) Value fn_##name(Args *a);
#include "functions.def"
#undef FN

/* ---- tensor.c, movement.c: broadcasting and the primitive ops as functions; all give level-graph nodes ------------ */

/* NumPy's result type for two tensor dtypes, within the contract's dtypes (bf16 with f16 gives f32). */
DType dtype_promote(DType a, DType b);
UOp *t_cast(UOp *x, DType dt);               /* x itself when it has that dtype */
UOp *t_num(DType dt, double v);              /* scalar CONST */
UOp *t_size(DType dt, UOp *size);            /* a size as a scalar value, symbolic ones too */
UOp *t_expand_to(UOp *x, const Shape *s);    /* broadcasts by RESHAPE and EXPAND; dies when it does not fit */
/* Set while a model is read whose sizes may be equal without being the same expression: then such sizes of a broadcast
 * count as equal, and run checks it. */
extern bool t_sizes_agree;
/* elementwise with broadcasting and promotion; a scalar CONST stays a scalar */
UOp *t_op1(Op op, UOp *x);
UOp *t_op2(Op op, UOp *a, UOp *b);
UOp *t_where(UOp *c, UOp *a, UOp *b);
UOp *t_mulacc(UOp *a, UOp *b, UOp *c);       /* a·b + c, rounded once or twice */
UOp *t_add(UOp *a, UOp *b); UOp *t_sub(UOp *a, UOp *b); UOp *t_mul(UOp *a, UOp *b); UOp *t_div(UOp *a, UOp *b);
UOp *t_max(UOp *a, UOp *b); UOp *t_min(UOp *a, UOp *b); UOp *t_neg(UOp *x); UOp *t_pow(UOp *a, UOp *b);
UOp *t_addc(UOp *x, double c); UOp *t_mulc(UOp *x, double c);      /* with a constant of x's dtype */
UOp *t_lt(UOp *a, UOp *b); UOp *t_eq(UOp *a, UOp *b); UOp *t_ne(UOp *a, UOp *b);
UOp *t_not(UOp *c); UOp *t_and(UOp *a, UOp *b); UOp *t_or(UOp *a, UOp *b);
UOp *t_sqrt(UOp *x); UOp *t_recip(UOp *x); UOp *t_rsqrt(UOp *x);
/* integer tensors become f32 (NumPy's true division and such), floats stay */
UOp *t_float(UOp *x);
/* movement; identities return x */
UOp *t_reshape(UOp *x, const Shape *s);
UOp *t_reshapev(UOp *x, int rank, UOp *const *dim);
UOp *t_expandv(UOp *x, int rank, UOp *const *dim);
UOp *t_permute(UOp *x, const int *axes);
UOp *t_transpose(UOp *x, int a, int b);
UOp *t_pad(UOp *x, UOp *(*pairs)[2]);        /* zeros */
UOp *t_pad_value(UOp *x, UOp *(*pairs)[2], UOp *value);
UOp *t_shrink(UOp *x, UOp *(*bounds)[2]);
UOp *t_flip(UOp *x, int n, const int *axes);
UOp *t_pad_axis(UOp *x, int axis, UOp *before, UOp *after);
UOp *t_shrink_axis(UOp *x, int axis, UOp *start, UOp *stop);
UOp *t_expand_axis(UOp *x, int axis, UOp *size);          /* an axis of size 1 */
UOp *t_split_axis(UOp *x, int axis, UOp *outer, UOp *inner);
UOp *t_merge_axes(UOp *x, int axis, int n);
UOp *t_move_axis(UOp *x, int from, int to);               /* the other axes keep their order */
UOp *t_unsqueeze(UOp *x, int axis);
UOp *t_squeeze(UOp *x, int axis);
/* start, stop and step of one axis, step not 0 and known, already clipped: start ≤ stop for step > 0 */
UOp *t_slice(UOp *x, int axis, UOp *start, UOp *stop, int64_t step);
/* the same with bounds as NumPy reads them: NULL, negative, beyond the ends (fn_shape.c) */
UOp *t_slice_bounded(UOp *x, int axis, UOp *start, UOp *stop, int64_t step);
UOp *t_slice_bound(UOp *v, UOp *n);                       /* one bound as NumPy reads it, within 0 … n */
/* The same where a bound is data, an integer scalar; a size, or neither, where it is not. */
typedef struct { UOp *size, *data; } SliceBound;
UOp *t_slice_data(UOp *x, int axis, SliceBound start, SliceBound stop, int64_t step);   /* fn_data.c */
/* keepdims false drops the axes */
UOp *t_reduce(Op op, UOp *x, int n, const int *axes, bool keepdims);
UOp *t_sum(UOp *x, int axis, bool keepdims);
UOp *t_mean(UOp *x, int n, const int *axes, bool keepdims);
UOp *t_count(UOp *x, int n, const int *axes);             /* elements along the axes, as a size */
UOp *t_scan(Op op, UOp *x, int axis);
UOp *t_sort(UOp *x, int axis, bool descending);          /* i64 argsort */
UOp *t_arange(DType dt, UOp *n);
UOp *t_iota(DType dt, const Shape *s, int axis);          /* index along axis, size 1 elsewhere */
UOp *t_full(const Shape *s, UOp *scalar);
UOp *t_gather(UOp *x, int k, UOp *const *idx);
UOp *t_scatter(UOp *x, int k, UOp *const *idx, UOp *v, const char *how);
/* elements of x along axis at idx (one index tensor of idx.shape[d] == x.shape[d] for d ≠ axis): NumPy take_along_axis */
UOp *t_take_along(UOp *x, UOp *idx, int axis);
void t_along_indices(UOp *x, UOp *idx, int axis, UOp **out);   /* idx at axis, places of the others */
UOp *t_wrap_index(UOp *i, UOp *n);                        /* i, or i + n where it is negative (fn_index.c) */
UOp *t_take(UOp *x, UOp *i, int axis);                    /* the axes of i take the place of axis; i is wrapped */
UOp *t_take_inside(UOp *x, UOp *i, int axis);             /* the same, i within the axis */
UOp *t_concat(size_t n, UOp *const *x, int axis);         /* linear in the size of the result */
UOp *t_matmul(UOp *a, UOp *b);                            /* NumPy's, batched */
UOp *t_einsum(const char *spec, size_t n, UOp *const *x);
/* i64, k along axis: the places of its k greatest (least) in falling (rising) order, equal ones by place (fn_topk.c) */
UOp *t_top_places(UOp *x, int axis, UOp *k, bool largest);
UOp *t_softmax(UOp *x, int axis);
/* windows of the last nd axes: [..., o1..ond, k1..knd], by movement ops only; dilation and stride by axis */
UOp *t_windows(UOp *x, int nd, const int64_t *k, const int64_t *stride, const int64_t *dilation);
static inline UOp *t_dim(UOp *x, int i) { return x->shape->dim[i < 0 ? x->shape->rank + i : i]; }
static inline int t_rank(UOp *x) { return x->shape->rank; }

/* ---- data_sizes.c, bound_sizes.c: sizes that are data ---------------------------------------------------------- */

/* The value of an i64 scalar, 0 … most (the caller sees to that), as a size that may stand in any shape. bound_sizes
 * takes it out of the graph again. */
UOp *size_of_data(UOp *count, UOp *most);
bool size_is_data(UOp *size);                /* such a size is part of it */
/* The greatest it can be: each size of data at its most (or at 0, where that is more). */
UOp *size_most(UOp *size);
UOp *size_value(UOp *size);                  /* size_tensor, with the counts themselves for sizes of data */
size_t data_sizes(UOp *const **var, UOp *const **count);     /* all of the document, a count before what it shapes */
/* A size's count is another node now. */
void data_size_moved(size_t k, UOp *count);
void data_sizes_reset(void);
/* Pass: buffers of their most instead of sizes that are data; what lies beyond is left out of folds, sorts and
 * indices. meta.counts and meta.trims tell run what to cut from the outputs (common/README.md). */
Graph *bound_sizes(Graph *g);

/* fn_data.c: the places of x where it is not 0, i64 [rank, count]; parts of x along axis */
UOp *t_nonzero_places(UOp *x);
UOp *t_compress(UOp *x, UOp *mask, int axis);
/* distinct parts of x along axis in rising order, or that of their first places: the parts; those places; for each part
 * of x the number of its like; how many there are of each */
void t_unique(UOp *x, int axis, bool sorted, UOp **out);

/* ---- approx.c: functions of the reals from the primitives, in x's own precision; integers become f32 --------- */

UOp *t_exp(UOp *x); UOp *t_expm1(UOp *x); UOp *t_log(UOp *x); UOp *t_log1p(UOp *x);
UOp *t_tanh(UOp *x); UOp *t_sinh(UOp *x); UOp *t_cosh(UOp *x); UOp *t_sigmoid(UOp *x); UOp *t_softplus(UOp *x);
UOp *t_cos(UOp *x); UOp *t_tan(UOp *x);
UOp *t_asin(UOp *x); UOp *t_acos(UOp *x); UOp *t_atan(UOp *x); UOp *t_atan2(UOp *y, UOp *x); UOp *t_hypot(UOp *x, UOp *y);
UOp *t_asinh(UOp *x); UOp *t_acosh(UOp *x); UOp *t_atanh(UOp *x); UOp *t_erf(UOp *x);
UOp *t_gelu(UOp *x);
UOp *t_floor(UOp *x); UOp *t_ceil(UOp *x); UOp *t_round(UOp *x);  /* half to even; integers stay */
UOp *t_abs(UOp *x); UOp *t_sign(UOp *x); UOp *t_signbit(UOp *x);
/* divide.c: C's fmod and Python's % and // for floats of one dtype; the quotient is exact below
 * 2^33 (f32), 2^50 (f64) */
UOp *t_fmod(UOp *a, UOp *b); UOp *t_mod(UOp *a, UOp *b); UOp *t_floordiv(UOp *a, UOp *b);

/* ---- fn_conv.c: what windows over the last axes need -------------------------------------------------------- */

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
/* ---- fn_pool.c: windows over the last nd axes of x[n,c,...], and what they are folded to --------------------------- */

typedef struct { int nd; int64_t k[MAX_SPACE], stride[MAX_SPACE], dilation[MAX_SPACE], pad[MAX_SPACE][2]; } Window;
/* x padded by pad with value (NULL: zeros) and cut: [n,c,o...,k...]; then those folded: [n,c,o...] */
UOp *space_windows(const Window *w, UOp *x, int64_t (*pad)[2], UOp *value);
UOp *space_fold(const Window *w, Op op, UOp *x);
void pool_ceil(Window *w, UOp *x);           /* pads so that a last window may hang over the end */
/* x[n,c,...] with w->stride places between its elements, each giving f[c,o/g,k...] times itself; then cut by w->pad, and
 * more places behind */
UOp *conv_transposed(const char *who, UOp *x, UOp *f, const Window *w, const int64_t *more, int64_t groups);
UOp *pool_mean(const Window *w, UOp *x, bool ceil, bool with_padding);    /* x is of floats */

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

/* ---- read_mp.c, read_text.c: a file to a graph ---------------------------------------------------------- */

Graph *read_tensor(Graph *doc);              /* level tensor (or graph) document → level graph */
Graph *read_text(const char *text, size_t n, const char *file);
#endif
