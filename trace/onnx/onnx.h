/* trace: the ONNX front end.  A node of the model is expanded by the C function of its row in
 * operators.def:
 *
 *     ONNX_OP(Neg, 1, 28, "a primitive")
 *     void onnx_Neg(OnnxCall *c) { onnx_set(c, 0, t_neg(onnx_in(c, 0))); }
 *
 * Sections follow the files.  Nothing here needs protobuf: the functions of operators build without
 * it. */
#ifndef ONNX_H
#define ONNX_H
#include "interp/interp.h"
#include "library/library.h"

/* TensorProto.DataType: the numbers of attributes such as Cast's `to`. */
enum {
	ONNX_UNDEFINED,
	ONNX_FLOAT,
	ONNX_UINT8,
	ONNX_INT8,
	ONNX_UINT16,
	ONNX_INT16,
	ONNX_INT32,
	ONNX_INT64,
	ONNX_STRING,
	ONNX_BOOL,
	ONNX_FLOAT16,
	ONNX_DOUBLE,
	ONNX_UINT32,
	ONNX_UINT64,
	ONNX_COMPLEX64,
	ONNX_COMPLEX128,
	ONNX_BFLOAT16,
	ONNX_FLOAT8E4M3FN,
	ONNX_FLOAT8E4M3FNUZ,
	ONNX_FLOAT8E5M2,
	ONNX_FLOAT8E5M2FNUZ,
	ONNX_UINT4,
	ONNX_INT4,
	ONNX_FLOAT4E2M1,
	ONNX_FLOAT8E8M0,
	ONNX_UINT2,
	ONNX_INT2,
	ONNX_TYPES
};

/* The value of a name in the model. A tensor of a type without a dtype in the graph is carried by a
 * wider one, element by element: float8 and float4 as u8 codes, int4 and int2 as i8 values,
 * uint4 and uint2 as u8 values; `type` says so. */
typedef struct OnnxValue OnnxValue;
struct OnnxValue {
	enum { ONNX_ABSENT, ONNX_TENSOR, ONNX_SEQUENCE, ONNX_EMPTY_OPTIONAL } kind;
	int type;               /* of the tensor, or of the sequence's elements */
	/* TENSOR; of a SEQUENCE those elements, along a new first axis, whose number is not known,
	 * or NULL */
	UOp *u;
	OnnxValue *at; size_t n; /* SEQUENCE: tensors, which come after those in u */
	/* of type ONNX_STRING: what u's codes stand for; of others: names of columns, or NULL */
	const Val *words;
};

/* One node that is being expanded. Every getter dies with the node's name when the model is
 * wrong. */
typedef struct OnnxCall OnnxCall;

/* ---- call.c: an operator's access to its node ------------------------------------------------ */

const char *onnx_op(const OnnxCall *c);             /* "Conv" */
int onnx_version(const OnnxCall *c);                 /* opset version of its domain */
const char *onnx_node_name(const OnnxCall *c);
int onnx_nin(const OnnxCall *c);                     /* inputs listed, absent ones included */
int onnx_nout(const OnnxCall *c);                    /* the number of outputs listed */
bool onnx_has(const OnnxCall *c, int k);             /* input k is present */
bool onnx_wants(const OnnxCall *c, int k);           /* output k has a name */
/* input k, a tensor; MALFORMED when it is missing */
UOp *onnx_in(OnnxCall *c, int k);
UOp *onnx_in_or(OnnxCall *c, int k, UOp *other);     /* other (may be NULL) when it is absent */
/* ONNX_FLOAT …, of a tensor or a sequence's elements */
int onnx_type(OnnxCall *c, int k);
/* also sequences and empty optionals; kind ONNX_ABSENT */
const OnnxValue *onnx_value(OnnxCall *c, int k);
/* Sets output k. Its type is that of u's dtype; but if an input has a narrow type and u has its
 * carrier's dtype, that input's type. */
void onnx_set(OnnxCall *c, int k, UOp *u);
void onnx_set_typed(OnnxCall *c, int k, UOp *u, int type);   /* with an explicit type */
void onnx_set_value(OnnxCall *c, int k, OnnxValue v);
/* Dies: "node NAME (Conv-11): MESSAGE". */
_Noreturn void onnx_fail(const OnnxCall *c, int status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Calls a function of the tensor library that returns a tensor: onnx_lib("softmax", 1,
 * (Value[]){v_tensor(x)}, 1, (const char *[]){"axis"}, (Value[]){v_int(1)}). */
UOp *onnx_lib(const char *fn, size_t n, const Value *pos, size_t nkw, const char *const *kw,
	const Value *kwval);

/* attributes; the default is returned when the node has none of that name */
bool onnx_attr_has(const OnnxCall *c, const char *name);
int64_t onnx_attr_int(const OnnxCall *c, const char *name, int64_t otherwise);
double onnx_attr_float(const OnnxCall *c, const char *name, double otherwise);
const char *onnx_attr_str(const OnnxCall *c, const char *name, const char *otherwise);
/* An attribute of any kind: NUMBER, STR, or a LIST of numbers; MALFORMED for other kinds. */
Value onnx_attr_value(const OnnxCall *c, const char *name);
/* Lists: returns the count, at most max elements in out (more: MALFORMED); -1 when there is no such
 * attribute. */
int onnx_attr_ints(const OnnxCall *c, const char *name, int64_t *out, int max);
int onnx_attr_floats(const OnnxCall *c, const char *name, double *out, int max);
int onnx_attr_strs(const OnnxCall *c, const char *name, const char **out, int max);
/* A list of any length, in the arena; NULL and *n 0 when there is none. */
const int64_t *onnx_attr_int_list(const OnnxCall *c, const char *name, size_t *n);
const double *onnx_attr_float_list(const OnnxCall *c, const char *name, size_t *n);
/* NULL when there is none; type may be NULL */
UOp *onnx_attr_tensor(OnnxCall *c, const char *name, int *type);
/* An axis attribute, negative ones counted from the end; MALFORMED outside -rank … rank-1. */
int onnx_attr_axis(const OnnxCall *c, const char *name, int64_t otherwise, int rank);
/* Makes a list of axes distinct and counted from 0, checked; v may come from a known input too. */
int onnx_axes(const OnnxCall *c, int n, const int64_t *v, int rank, int *axes);
/* The axes given by attribute `axes` (older versions) or by known input k (newer): the count, or -1
 * when neither is present. */
int onnx_axes_given(OnnxCall *c, const char *attr, int k, int rank, int *axes);

/* dtypes */
/* the carrier's; DT_NONE for strings, complex and unknown ones */
DType onnx_dtype(int type);
int onnx_type_of(DType dt);
bool onnx_narrow(int type);                          /* has no dtype: see OnnxValue */
const char *onnx_type_name(int type);

/* ---- words.c: tensors of texts whose words are known while tracing */

/* the words of input k, an array; NULL when it has none */
const Val *onnx_words(OnnxCall *c, int k);
void onnx_set_words(OnnxCall *c, int k, UOp *codes, const Val *words);
/* NULL when there is none, or no texts */
const Val *onnx_attr_words(const OnnxCall *c, const char *name);
/* where each of these words is among others, -1 for those that are not there */
const int64_t *onnx_word_places(const Val *words, const Val *among);

/* ---- narrow.c: values of the narrow types */

/* the f32 values of a carrier; x itself when type is not narrow */
UOp *onnx_widen(UOp *x, int type);
/* The carrier of x's values, rounded half to even (integers: the low bits). saturate: floats
 * overflow to the largest number, not to an infinity or NaN; round_mode (up, down, nearest) is for
 * float8e8m0 only. */
UOp *onnx_narrowed(UOp *x, int type, bool saturate, const char *round_mode);

/* ---- const.c: values known while tracing ----------------------------------------------------- */

/* Input k's value, for operators whose output shape depends on it: folded from constants, sizes,
 * --shapes-from and --const. Dies with UNSUPPORTED, naming the input, when it is not known. The
 * data is in C order, of the tensor's dtype, in the arena. */
Array onnx_known(OnnxCall *c, int k);
bool onnx_try_known(OnnxCall *c, int k, Array *a);   /* false when it is not known */
bool onnx_known_tensor(UOp *u, Array *a);            /* the same for any tensor */
/* Integers of any integer dtype and rank, flattened: returns the count (more than max:
 * MALFORMED). */
int onnx_known_ints(OnnxCall *c, int k, int64_t *out, int max);
int64_t onnx_known_int(OnnxCall *c, int k);          /* one element */
int onnx_known_floats(OnnxCall *c, int k, double *out, int max);
/* Integers that may be size expressions, as index nodes; at most MAX_RANK of them. */
int onnx_known_sizes(OnnxCall *c, int k, UOp **dim);
/* The same, at most max of them, of integers of which those that are not known are bound when the
 * data gives them (0 or more). */
int onnx_bound_sizes(OnnxCall *c, int k, int max, UOp **dim);
UOp *onnx_element(UOp *u, int64_t i);                /* element i of a flat tensor, as a scalar */
/* flat; any integer tensor; false: not known */
bool onnx_try_sizes(UOp *u, size_t max, UOp **dim, size_t *n);
/* A number that may be a fraction of a size: what it is per; NULL: not known. */
UOp *onnx_try_fraction(UOp *u, int64_t *per);
/* The fraction p/q of the least q that is v when rounded to dt; false: there is none. */
bool onnx_fraction(double v, DType dt, int64_t *p, int64_t *q);
/* The reverse: sizes as an i64 [n] tensor, as Shape returns them. */
UOp *onnx_sizes(int n, UOp *const *dim);

/* ---- advice.c: the end of a refusal: the options that would help, "" for none */

const char *onnx_value_advice(UOp *u);               /* a value that must be known */
const char *onnx_size_advice(UOp *size);             /* a size that must be a number */

/* ---- operators/sequence.c */

/* All elements of a sequence along a new first axis; they have to be of one shape, and one at
 * least. */
UOp *onnx_stacked(OnnxCall *c, const OnnxValue *sequence);

/* ---- turns.c: a body that runs turn after turn, as in Loop, Scan and SequenceMap */

typedef struct OnnxTurns OnnxTurns;
struct OnnxTurns {
	OnnxCall *c;
	const void *own;        /* the operator's */
	/* Expands the body: from the turn's number, i64 scalar, and the states those of the next
	 * turn, and behind them the values to stack. Returns whether another turn follows, a bool
	 * scalar, or NULL: it always does. */
	UOp *(*body)(
		const OnnxTurns *t, UOp *turn, const OnnxValue *state, OnnxValue *out);
	/* at most so many turns: a size, and as an i64 scalar; or that alone; or neither */
	UOp *length, *limit;
	UOp *start;             /* whether there is a first turn; NULL: there is */
	int states, values;
	const OnnxValue *state;
};
/* The states after the last turn, and behind them the values, stacked along a new first axis. */
void onnx_turns(const OnnxTurns *t, OnnxValue *out);
/* 1, 0, or -1 when it is not known; *size is then 1 or 0 as an expression of sizes, or NULL. */
int onnx_known_condition(UOp *cond, UOp **size);
/* a size, not below 0, as an i64 scalar: SIZE or a CONST */
UOp *onnx_size_node(UOp *size);
/* A bool of one element as a scalar. */
UOp *onnx_condition(const OnnxCall *c, UOp *u);

/* ---- graph.c: bodies of control flow (control.c) */

/* Expands something that may fail. Returns false when it does because it does not fit or is not
 * supported, and says why; what it made is garbage then. */
typedef struct { int status; const char *where, *text; } OnnxRefusal;
bool onnx_try(void (*fn)(void *), void *ctx, OnnxRefusal *why);
_Noreturn void onnx_refuse(const OnnxRefusal *why);

/* Expands the graph attribute `name` with its inputs bound to in; it sees the names of the outer
 * graph. Its outputs, at most max, go to out. Returns the count. */
int onnx_body(
	OnnxCall *c, const char *name, size_t n, const OnnxValue *in, OnnxValue *out, int max);
int onnx_body_inputs(OnnxCall *c, const char *name);
int onnx_body_outputs(OnnxCall *c, const char *name);

/* ---- reader.c, graph.c: the model */

/* ---- options.c: the options for a model's inputs */

bool file_is_onnx(const char *file);
/* Dies with USAGE when one of the options is given, for an input that is no model. */
void onnx_options_idle(void);
/* --shapes-from takes any number of words, so that a list of inputs can be passed as it is: the
 * words behind it of the form @K=FILE or NAME=FILE are taken out of argv. Returns the new argc. */
int take_shapes_from(int argc, char **argv);
#define ONNX_OPTIONS \
	{0, "shapes-from", "INPUT=FILE", "ONNX: the value of an input, for shapes that need it: " \
		"@K=FILE.npy or NAME=FILE.npy; several may follow", &onnx_opt.shapes_from, \
		.many = true}, \
	{0, "const", "NAME=FILE", "ONNX: make an input a constant, FILE.npy", &onnx_opt.consts, \
		.many = true}, \
	{0, "set", "SIZE=N", "ONNX: replace a size of the model by N", &onnx_opt.sets, .many = true}


typedef VEC(const char *) OnnxWords;
typedef struct {
	OnnxWords shapes_from;          /* "@K=FILE.npy", "NAME=FILE.npy" */
	OnnxWords consts;               /* "NAME=FILE.npy" */
	OnnxWords sets;                 /* "dim=8" */
} OnnxOptions;
extern OnnxOptions onnx_opt;
Graph *read_onnx(const char *file);
/* info.c: as lines for people, format and operators to out; inputs and outputs as the file has
 * them, and missing operators, to ends. Returns whether none is missing. */
bool onnx_describe(const char *file, Buf *out, Buf *ends);
/* why a model was not traced, and the command that would help */
void onnx_describe_refusal(Buf *out, const char *file, const char *where, const char *text);

/* ---- function.c: a model as a function of the text language */

typedef struct OnnxModel OnnxModel;
OnnxModel *onnx_open(const char *path);
/* The outputs for these inputs: a tensor, or a list of tensors with their names. Positional
 * arguments are the model's inputs in order, lists flattened. */
Value onnx_apply(OnnxModel *m, size_t n, const Value *pos, size_t nkw, const char *const *kw,
	const Value *kwval);

/* ---- operators.def: the operators */

/* An operator is expanded by fn, or, if that is NULL, by call with the values of params
 * (rows.c). */
typedef struct {
	const char *domain, *name;
	int first, last;
	void (*fn)(OnnxCall *c);
	const char *params, *call;
} OnnxOp;
/* the row for this version of the opset, or NULL */
const OnnxOp *onnx_op_find(const char *domain, const char *name, int version);
void onnx_expand_row(OnnxCall *c, const OnnxOp *op);
#define ONNX_OWN(name, params) Value onnx_own_##name(Args *a);
#define ONNX_OP_AS(domain, name, function, first, last, how) void onnx_##function(OnnxCall *c);
#include "onnx/operators.def"
#endif
