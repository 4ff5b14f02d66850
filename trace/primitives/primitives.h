/* Ops of level graph as functions: broadcasting, movement, functions of the reals.  Sections follow
 * the files. */
#ifndef TRACE_PRIMITIVES_PRIMITIVES_H
#define TRACE_PRIMITIVES_PRIMITIVES_H
#include "shape/regions.h"

/* ---- tensor.c, movement.c: broadcasting, the primitive ops as functions; nodes of level graph */

/* NumPy's result type for two tensor dtypes, within the contract's dtypes (bf16 with f16 gives
 * f32). */
DType dtype_promote(DType a, DType b);
/* Settings of the current reader. */
typedef struct {
	bool wide;              /* fractions default to f64: in programs in C */
	bool sizes_agree;       /* sizes of a broadcast may be equal but different
				 * expressions: run checks them */
	const char *stem;       /* prefix for names of buffers of data; NULL: literal */
} Reading;
extern Reading reading;
/* The default dtype of a fraction, and of an integer that becomes one. */
static inline DType float_dtype(void) { return reading.wide ? DT_F64 : DT_F32; }
UOp *size_tensor(UOp *size);                     /* i64 scalar; the size may be negative */
UOp *t_cast(UOp *x, DType dt);               /* x itself if it has that dtype */
UOp *t_num(DType dt, double v);              /* scalar CONST */
UOp *t_size(DType dt, UOp *size);            /* a size as a scalar value, symbolic ones too */
/* An axis that has this size, if its own is another expression, one of them with a variable, and
 * the reader lets such sizes agree: an EXPAND, which asks for that, and run checks it. */
UOp *t_agree(UOp *x, int axis, UOp *size);
UOp *t_as_one(UOp *x, int axis);             /* x with an axis that run finds to be 1, as 1 */
UOp *t_expand_to(UOp *x, const Shape *s);    /* broadcasts x to s, or dies */
/* elementwise with broadcasting and promotion; a scalar CONST stays a scalar */
UOp *t_op1(Op op, UOp *x);
UOp *t_op2(Op op, UOp *a, UOp *b);
UOp *t_where(UOp *c, UOp *a, UOp *b);
UOp *t_mulacc(UOp *a, UOp *b, UOp *c);       /* a·b + c, rounded once or twice */
UOp *t_add(UOp *a, UOp *b);
UOp *t_sub(UOp *a, UOp *b);
UOp *t_mul(UOp *a, UOp *b);
UOp *t_div(UOp *a, UOp *b);
UOp *t_max(UOp *a, UOp *b);
UOp *t_min(UOp *a, UOp *b);
UOp *t_neg(UOp *x);
UOp *t_pow(UOp *a, UOp *b);
/* with a constant of x's dtype */
UOp *t_addc(UOp *x, double c); UOp *t_mulc(UOp *x, double c);
UOp *t_lt(UOp *a, UOp *b); UOp *t_eq(UOp *a, UOp *b); UOp *t_ne(UOp *a, UOp *b);
UOp *t_not(UOp *c); UOp *t_and(UOp *a, UOp *b); UOp *t_or(UOp *a, UOp *b);
UOp *t_sqrt(UOp *x); UOp *t_recip(UOp *x); UOp *t_rsqrt(UOp *x);
/* integer tensors become f32 (as in NumPy's true division), floats are returned as they are */
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
UOp *t_along(UOp *p, int axis, int rank);                 /* p[n] along axis: [n,1,...] */
/* One axis from start to stop by step, a known number other than 0; the bounds are clipped: start ≤
 * stop for step > 0. */
UOp *t_slice(UOp *x, int axis, UOp *start, UOp *stop, int64_t step);
/* the same with unclipped bounds as NumPy reads them: NULL, negative, beyond the ends
 * (library/shape.c). Numbers that the algebra cannot compare with the axis are clipped, or assumed
 * to be inside. */
UOp *t_slice_bounded(UOp *x, int axis, UOp *start, UOp *stop, int64_t step, bool clip);
UOp *t_slice_bound(UOp *v, UOp *n);                       /* NumPy's clipping, to 0 … n */
/* The same with bounds that may be data: an integer scalar in data, else a size in size, or
 * neither. */
typedef struct { UOp *size, *data; } SliceBound;
UOp *t_slice_data(
	UOp *x, int axis, SliceBound start, SliceBound stop, int64_t step); /* library/data.c */
/* keepdims false drops the axes */
UOp *t_reduce(Op op, UOp *x, int n, const int *axes, bool keepdims);
UOp *t_sum(UOp *x, int axis, bool keepdims);
UOp *t_mean(UOp *x, int n, const int *axes, bool keepdims);
UOp *t_count(UOp *x, int n, const int *axes);             /* elements along the axes */
UOp *t_scan(Op op, UOp *x, int axis);
UOp *t_sort(UOp *x, int axis, bool descending);          /* i64 argsort */
UOp *t_arange(DType dt, UOp *n);
UOp *t_iota(DType dt, const Shape *s, int axis);          /* index along axis, size 1 elsewhere */
UOp *t_full(const Shape *s, UOp *scalar);
UOp *t_gather(UOp *x, int k, UOp *const *idx);
UOp *t_scatter(UOp *x, int k, UOp *const *idx, UOp *v, const char *how);
/* the elements of x along axis at idx, which has x's sizes along the other axes: NumPy's
 * take_along_axis */
UOp *t_take_along(UOp *x, UOp *idx, int axis);
/* indices for all axes of x: idx along axis, each element's own place along the others */
void t_along_indices(UOp *x, UOp *idx, int axis, UOp **out);
UOp *t_wrap_index(UOp *i, UOp *n); /* i, or i + n where it is negative (library/index.c) */
/* the axes of i take the place of axis; i is wrapped */
UOp *t_take(UOp *x, UOp *i, int axis);
UOp *t_take_inside(UOp *x, UOp *i, int axis);             /* i is within the axis */
UOp *t_concat(size_t n, UOp *const *x, int axis);         /* linear in the size of the result */
UOp *t_matmul(UOp *a, UOp *b);                            /* NumPy's, batched */
UOp *t_einsum(const char *spec, size_t n, UOp *const *x);
/* i64, k along axis: the places of the k largest (smallest) elements in descending (ascending)
 * order, ties by place (library/topk.c) */
UOp *t_top_places(UOp *x, int axis, UOp *k, bool largest);
UOp *t_softmax(UOp *x, int axis);
/* windows over the last nd axes: [..., o1..ond, k1..knd], by movement ops only; dilation and stride
 * per axis */
UOp *t_windows(UOp *x, int nd, const int64_t *k, const int64_t *stride, const int64_t *dilation);
static inline UOp *t_dim(UOp *x, int i) { return x->shape->dim[i < 0 ? x->shape->rank + i : i]; }
static inline int t_rank(UOp *x) { return x->shape->rank; }

/* ---- steps.c: sizes, loops and branches that are data (contract: BIND TURN CARRY LOOP IF PICK) */

/* What the document at hand has of them, for readers of documents; and its SINK, with the BINDs
 * that the outputs need: a TURN that only another one has would stand behind its LOOP. size_checks() of other
 * sizes are forgotten. */
Steps *steps_made(void);
/* To be told of all steps of a graph that was read whole; of a TURN, CARRY or BIND just made. */
void steps_known(const UOp *sink);
UOp *step_made(UOp *u);
UOp *steps_sink(size_t n, UOp *const *output, const Val *arg);
/* The size variable that an i64 scalar binds, a constant or a size when it is one; the same value
 * has the same variable. Its name is stem, or stem_1, stem_2, … least and most bound it (run:
 * status 4 outside); most is also what proofs and packed programs go by. */
UOp *t_bind(const char *stem, UOp *value, UOp *least, UOp *most);
/* The same for a number of one element of which nothing is known, one of n that are the sizes of
 * one tensor: at most 2^31-1, or so much that n can be multiplied, 2^28, 2^18, 2^14, … */
UOp *t_bind_open(const char *stem, UOp *value, int n);
/* The same with a BIND of its own, whose value may be bound already. */
UOp *t_bind_anew(const char *stem, UOp *value, const Val *least, const Val *most);

/* Whether a size contains one that is bound to a node with this id or a later one: one that was
 * made in a body or branch since. */
bool size_bound_since(UOp *size, uint32_t node);

/* A body or a branch is being made, until steps_leave. steps_drop also gives up what was bound and
 * asked of sizes since steps_enter or steps_mark: nothing may use the nodes made since. */
typedef struct { unsigned within; size_t binds, checks; } StepsMark;
StepsMark steps_mark(void);
StepsMark steps_enter(void);
void steps_leave(StepsMark from);
void steps_drop(StepsMark from);
bool steps_within(void);

/* A loop whose body is being made, until loop_end. turn: i64 scalar. */
typedef struct { int64_t id, states; UOp *turn; StepsMark begun; } TurnLoop;
TurnLoop loop_new(void);
/* The next state: init in the first turn, then what the turn before gave. grows: its shape, where
 * that changes, over sizes that the body binds; else NULL. */
UOp *loop_state(TurnLoop *l, UOp *init, const Shape *grows);
/* limit: i64 scalar or NULL. start and next: bool scalars, whether there is a first and a next
 * turn, or both NULL. state: what each state is in the next turn. value: what is stacked. */
typedef struct {
	UOp *limit, *start, *next;
	UOp *const *state;
	UOp *const *value;
	size_t values;
} LoopEnd;
UOp *loop_end(const TurnLoop *l, const LoopEnd *end);
/* Of a LOOP: state k after the last turn; value k of all turns along a new first axis; the number
 * of turns. shape: over sizes known outside, where it cannot be inferred, else NULL. */
UOp *loop_last(UOp *loop, int64_t k, const Shape *shape);
UOp *loop_stacked(UOp *loop, int64_t k, const Shape *shape);
UOp *loop_turns(UOp *loop);
/* n values of the branch that cond, a bool scalar, takes. */
UOp *if_new(UOp *cond, size_t n, UOp *const *then, UOp *const *other);
UOp *if_value(UOp *branch, int64_t k, const Shape *shape);

/* ---- approx.c: functions of the reals, in x's own precision; integers become f32 */

UOp *t_exp(UOp *x); UOp *t_expm1(UOp *x); UOp *t_log(UOp *x); UOp *t_log1p(UOp *x);
UOp *t_tanh(UOp *x);
UOp *t_sinh(UOp *x);
UOp *t_cosh(UOp *x);
UOp *t_sigmoid(UOp *x);
UOp *t_softplus(UOp *x);
UOp *t_cos(UOp *x); UOp *t_tan(UOp *x);
UOp *t_asin(UOp *x);
UOp *t_acos(UOp *x);
UOp *t_atan(UOp *x);
UOp *t_atan2(UOp *y, UOp *x);
UOp *t_hypot(UOp *x, UOp *y);
UOp *t_asinh(UOp *x); UOp *t_acosh(UOp *x); UOp *t_atanh(UOp *x); UOp *t_erf(UOp *x);
UOp *t_gelu(UOp *x);
UOp *t_floor(UOp *x); UOp *t_ceil(UOp *x); UOp *t_round(UOp *x);  /* half to even; integers stay */
UOp *t_abs(UOp *x); UOp *t_sign(UOp *x); UOp *t_signbit(UOp *x);
/* C's fmod and Python's % and // for floats of one dtype; the quotient is exact below 2^33 (f32) or
 * 2^50 (f64) */
UOp *t_fmod(UOp *a, UOp *b); UOp *t_mod(UOp *a, UOp *b); UOp *t_floordiv(UOp *a, UOp *b);
#endif
