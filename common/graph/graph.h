/* The graph: nodes, constants, the one walker, documents. Sections follow the files. */
#ifndef COMMON_GRAPH_GRAPH_H
#define COMMON_GRAPH_GRAPH_H
#include "graph/ops.h"

/* ---- uop.c: nodes */

typedef struct UOp UOp;
typedef struct { int rank; uint64_t hash; UOp *dim[]; } Shape;   /* interned: compare with == */
enum { MAX_RANK = 16 };
/* The loops that form slices (`slice` in a KERNEL's arg), and the calls that share them, at most */
enum { MAX_SLICE_AXES = 8, MAX_SLICE_CALLS = 16 };

struct UOp {
	uint32_t id;            /* order of creation: a source's id is less than its users' */
	uint16_t op;            /* Op */
	uint8_t dtype;          /* DType; DT_NONE for nodes without a value */
	uint8_t infer_err;      /* raw nodes only: the checks failed */
	uint32_t nsrc;
	uint32_t hash;
	const Val *arg;         /* VNIL when the node has none */
	const Val *note;        /* map or VNIL; not part of the node's identity */
	const Shape *shape;     /* derived; NULL for a node that has no value (STORE, SINK, …) */
	UOp *src[];
};

/* intern_shape.c: the shape with these sizes; the scalar's. */
const Shape *shape_new(int rank, UOp *const *dim);
const Shape *shape_scalar(void);
/* The node; equal nodes are one node. Shape and dtype rules are checked: if one is broken, dies
 * with MALFORMED and the reason (a caller that knows the place sets process.where, or uses
 * node_try). */
UOp *node_new(Op op, DType dt, size_t nsrc, UOp *const *src, const Val *arg);
/* The same with a message instead of dying: returns NULL and sets *err (in the arena). *status gets
 * MALFORMED or UNSUPPORTED. */
UOp *node_try(Op op, DType dt, size_t nsrc, UOp *const *src, const Val *arg, const char **err,
	int *status);
/* NODE(OP_ADD, DT_F32, VNIL, a, b) */
#define NODE(op, dt, arg, ...) \
	node_new(op, dt, sizeof((UOp *[]){__VA_ARGS__}) / sizeof(UOp *), (UOp *[]){__VA_ARGS__}, \
		arg)
#define LEAF(op, dt, arg) node_new(op, dt, 0, NULL, arg)
/* shape/infer.c: derives shape and checks a node about to be made. Returns NULL when it is valid,
 * else the reason. */
const char *node_infer(Op op, DType dt, size_t nsrc, UOp *const *src, const Val *arg,
	const Shape **out, int *status);
/* For documents that are read raw: a node of its own, never merged, not checked and without a
 * shape. */
UOp *node_plain(Op op, DType dt, size_t nsrc, UOp *const *src, const Val *arg, const Val *note);
/* a node like u with other sources (u itself when they are the same); keeps u's note */
UOp *node_with(UOp *u, UOp *const *src);
/* the same with any number of sources, and an arg */
UOp *node_like(const UOp *u, size_t nsrc, UOp *const *src, const Val *arg);
/* puts a note on a node that has none yet; merges missing keys when it has one */
void node_note(UOp *u, const Val *note);
/* one more than the greatest id: the size for side tables indexed by id */
uint32_t node_limit(void);
/* A side table, at[id]: declared ARENA it is kept between uses; on the stack it belongs to one pass
 * (table_free). table_fit makes it large enough for all nodes there are; new entries are zero. */
#define TABLE(T) struct { T *at; size_t cap; uint32_t round; }
#define table_fit(t) \
	((t)->cap < node_limit() ? \
		table_grow((void **)&(t)->at, &(t)->cap, sizeof *(t)->at) : (void)0)
/* The same, and increments round, which is never 0: entries that hold a round's number are valid
 * only in that round, so nothing is cleared between uses. */
#define table_round(t) \
	(table_fit(t), (t)->round = table_next((t)->at, (t)->cap * sizeof *(t)->at, (t)->round))
#define table_free(t) (owned_free((t), (t)->at), (t)->at = NULL, (t)->cap = 0)
void table_grow(void **at, size_t *cap, size_t size);
uint32_t table_next(void *at, size_t bytes, uint32_t round);
/* What stands for nodes, since the last table_round: a Map of nodes that is cheap to empty. */
typedef TABLE(struct { UOp *is; uint32_t round; }) Stands;
static inline UOp *stands_for(const Stands *s, const UOp *u)
{
	return u->id < s->cap && s->at[u->id].round == s->round ? s->at[u->id].is : NULL;
}
static inline void stands_put(Stands *s, const UOp *u, UOp *is)
{
	if (u->id >= s->cap)
		table_fit(s);
	s->at[u->id].is = is;
	s->at[u->id].round = s->round;
}

/* CONST helpers. const_num makes a constant of any dtype from a double (exactly representable or
 * rounded); const_int from an int64 (must fit integers); const_bits from the element's own bytes.
 */
UOp *const_num(DType dt, double v);
UOp *const_int(DType dt, int64_t v);
UOp *const_bits(DType dt, const void *bytes);
/* a CONST's arg in normal form for dt (see const.c), NULL when dt cannot hold it */
const Val *const_normal(DType dt, const Val *v);
/* the value of a CONST as the element's bytes (8 bytes, zero-filled) */
void const_get(const UOp *u, void *bytes8);
/* true and *v set when u is an integer (or bool) CONST that fits int64 */
bool const_is_int(const UOp *u, int64_t *v);
/* true and *v set when u is a float CONST */
bool const_is_float(const UOp *u, double *v);
/* true when u is the float CONST 0, not -0 */
bool const_is_zero(const UOp *u);
static inline bool is_const(const UOp *u) { return u->op == OP_CONST; }
/* The number of a LET, DEFINE_REG or DEFINE_LOCAL among those of its kernel; -1: u is none. */
int64_t statement_id(const UOp *u);
/* Whether it is a register that is a single vector. */
static inline bool reg_is_vector(const UOp *u) { return u->op == OP_DEFINE_REG && u->arg->n > 2; }
/* REDUCE identity of op (ADD MUL MAX MIN) for dt as a CONST */
UOp *const_identity(Op op, DType dt);
/* name of a BUFFER, its role, and so on: the value at a key of arg as text, "" when absent */
const char *buffer_name(const UOp *u);
const char *buffer_role(const UOp *u);
static inline bool buffer_is(const UOp *u, const char *role)
{
	return !strcmp(buffer_role(u), role);
}

/* ---- cast.c, halves.c: elements from one dtype to another */

/* n elements converted, as CAST does */
void interp_cast(DType to, void *out, DType from, const void *in, size_t n);
/* The value of an f16 or bf16 from its bits, and the bits nearest to a value (ties to even,
 * overflow to inf). */
float f16_value(uint16_t bits);
float bf16_value(uint16_t bits);
uint16_t f16_bits(double x);
uint16_t bf16_bits(double x);

typedef VEC(UOp *) NodeList;

/* ---- steps.c: what nodes hold besides what a document lists */

/* The number of outputs: the SINK's sources before the BINDs. */
size_t sink_outputs(const UOp *sink);
/* The name of output i: "out0" where the document gives none. */
const char *sink_output_name(const UOp *sink, size_t i);
/* A SINK of these outputs and BINDs (each whose name a node may mention). */
UOp *sink_new(size_t n, UOp *const *output, size_t nbinds, UOp *const *bind, const Val *arg);
/* The same with the BINDs of another SINK. */
UOp *sink_with(const UOp *sink, size_t n, UOp *const *output, const Val *arg);
/* A SINK's arg without the number of BINDs, as a document has it. */
const Val *sink_plain_arg(const Val *arg);
/* The sources that a LOOP's arg means, without the CARRYs; SIZE_MAX / 2 when they are too many. */
size_t loop_sources(const Val *arg);
/* The number of u's sources that a document lists. */
size_t node_sources(const UOp *u);
/* Whether u may be an entry of a list: in the SINK from level schedule on, or in a REGION. */
bool list_entry(const UOp *u);
/* Whether u is such an entry, and no call or copy. */
bool list_step(const UOp *u);
/* Adds the BINDs among the roots and behind their SINKs to a map from the name's Val. */
void binds_of(size_t nroots, UOp *const *roots, Map *binds);
/* The BINDs whose names u's arg mentions, each once. */
void mentions_of(const UOp *u, const Map *binds, NodeList *out);

/* ---- walk.c: the one walker */

typedef struct { UOp **at; size_t n; } Nodes;                /* in the arena */
/* Every node that root reaches, sources before users (root last). Linear; no recursion. A BIND of
 * the root (a SINK's, or a BIND among the roots) comes before the nodes that mention its name, and
 * is reached by them. */
Nodes walk(UOp *root);
Nodes walk_many(size_t n, UOp *const *roots);
/* The same, depth first: the order follows from the nodes alone, not from when they were made. */
Nodes walk_deep(UOp *root);
/* The same, valid only until the next walk of any kind or the next node is made: for short
 * looks. */
Nodes walk_brief(UOp *root);
/* The same, kept for the next time: for what many look through, as the kernels that were read. */
Nodes walk_kept(UOp *root);
/* Rebuilds what root reaches, sources first: fn gets each node with its sources already replaced
 * and returns its replacement (u itself for no change). Linear. */
UOp *walk_replace(UOp *root, UOp *(*fn)(UOp *u, void *ctx), void *ctx);
/* The same in memory of the caller's, across several roots: known gives what stands for a node,
 * NULL where it has not been made; made gets the node and what stands for its sources, and has to
 * make it known. Returns what stands for root. */
typedef struct {
	UOp *(*known)(void *ctx, UOp *u);
	void (*made)(void *ctx, UOp *u, UOp *const *src);
} Remaking;
UOp *walk_remake(UOp *root, const Remaking *r, void *ctx);

/* ---- graph: a document */

typedef struct {
	Level level;
	const Val *vars;        /* map name → [min, max], or VNIL */
	const Val *meta;        /* map or VNIL; carried through */
	UOp *sink;
	Nodes all;              /* every node as read, dead ones too; none for a graph made here */
	bool raw;               /* read with READ_RAW: only `all` is written, in its order */
} Graph;
#endif
