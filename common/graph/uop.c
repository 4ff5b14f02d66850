/* Nodes: hash-consed, in one arena; tables of ops, dtypes and levels; constants. */
#include "graph/graph.h"
#include <math.h>
#include <stdlib.h>

#define LANES(NAME, text, bytes, kind, log) \
	[DT_##NAME + log * DT_LANES] = {text, bytes << log, kind},
const DTypeInfo dtype_info[DT_ALL] = {
#define DTYPE(NAME, text, bytes, kind, ctype, npy) [DT_##NAME] = {text, bytes, kind, #ctype, npy}, \
	LANES(NAME, text "x2", bytes, kind, 1) LANES(NAME, text "x4", bytes, kind, 2) \
	LANES(NAME, text "x8", bytes, kind, 3) LANES(NAME, text "x16", bytes, kind, 4) \
	LANES(NAME, text "x32", bytes, kind, 5) LANES(NAME, text "x64", bytes, kind, 6)
#include "graph/dtypes.def"
#undef DTYPE
	[DT_NONE] = {"none", 0, 0, "void", ""},
};

/* sets of levels, by their names in ops.def and levels.def */
enum { T = 1 << LV_TENSOR, G = 1 << LV_GRAPH, S = 1 << LV_SCHEDULE, L = 1 << LV_LOOPS,
	P = 1 << LV_PROGRAM };
enum { GRAPHS = T | G, KERNELS = S | L | P, LOOPS = L | P, ALL = GRAPHS | KERNELS };

const OpInfo op_info[OP_COUNT] = {
#define OP(NAME, ...) [OP_##NAME] = {#NAME, __VA_ARGS__},
#include "graph/ops.def"
#undef OP
};

const OpArg op_arg[OP_COUNT] = {
#define ARG(OP, ...) [OP_##OP] = {__VA_ARGS__},
#include "graph/levels.def"
};

const char *const level_name[LV_COUNT] = {
#define LEVEL(NAME, text, letter) [LV_##NAME] = text,
#include "graph/levels.def"
};

DType dtype_find(const char *name)
{
	for (int d = 0; d < DT_COUNT; d++)
		if (!strcmp(dtype_info[d].name, name))
			return d;
	return DT_NONE;
}

DType dtype_find_lanes(const char *name)
{
	for (int d = 0; d < DT_ALL; d++)
		if (d % DT_LANES < DT_COUNT && !strcmp(dtype_info[d].name, name))
			return d;
	return DT_NONE;
}

DType dtype_in_lanes(DType d, int lanes)
{
	int log = 0;
	while (1 << log < lanes)
		log++;
	return dtype_element(d) + log * DT_LANES;
}

int op_find(const char *name)
{
	static ARENA Map byname;
	if (!byname.n)
		for (int o = 0; o < OP_COUNT; o++)
			map_put(&byname, hash_bytes(op_name(o), strlen(op_name(o)), 7),
				(void *)&op_info[o]);
	const OpInfo *i = map_get(&byname, hash_bytes(name, strlen(name), 7));
	return i && !strcmp(i->name, name) ? (int)(i - op_info) : -1;
}

bool op_takes(Op o, DType d)
{
	d = dtype_element(d);
	switch (op_info[o].takes) {
	case TAKES_ANY: return d != DT_NONE;
	case TAKES_NUM: return d != DT_NONE && d != DT_BOOL;
	case TAKES_INT: return dtype_int(d);
	case TAKES_FLT: return dtype_float(d);
	case TAKES_INTB: return dtype_int(d) || d == DT_BOOL;
	case TAKES_I32: return d == DT_I32;
	case TAKES_I64: return d == DT_I64;
	case TAKES_U64: return d == DT_U64;
	default: return d == DT_NONE;
	}
}

DType op_gives(Op o, DType source, DType said)
{
	switch (op_info[o].gives) {
	case GIVES_SOURCE: return source;
	case GIVES_BOOL: return dtype_in_lanes(DT_BOOL, dtype_lanes(source));
	case GIVES_I64: return DT_I64;
	default: return said;
	}
}

int op_infix(const char *s, size_t n, size_t *length)
{
	int found = -1;
	*length = 0;
	for (int o = 0; o < OP_COUNT; o++) {
		const char *infix = op_info[o].infix;
		if (!n || !infix || *infix != *s)
			continue;
		size_t k = strlen(infix);
		if (k <= *length || k > n || memcmp(s, infix, k))
			continue;
		found = o;
		*length = k;
	}
	return found;
}

int64_t dtype_min(DType d)
{
	return dtype_info[d].kind != 'I' ? 0 : (int64_t)(~(uint64_t)0 << (8 * dtype_size(d) - 1));
}

uint64_t dtype_max(DType d)
{
	if (d == DT_BOOL)
		return 1;
	return ~(uint64_t)0 >> (64 - 8 * dtype_size(d) + (dtype_info[d].kind == 'I'));
}

/* ---- the table of nodes */

/* The nodes in order of creation, and their positions by hash: `at` is one more than the position.
 * The table stores the hash too: most lookups need nothing else, and growing it does not touch the
 * nodes. */
typedef struct { uint32_t hash, at; } HashSlot;
static ARENA struct { HashSlot *at; size_t cap; uint32_t created; } table;
static ARENA VEC(UOp *) tabled;

uint32_t node_limit(void) { return table.created; }

static uint32_t node_hash(Op op, DType dt, size_t nsrc, UOp *const *src, const Val *arg)
{
	uint64_t h = hash_mix(op * 31 + dt, arg->hash);
	for (size_t i = 0; i < nsrc; i++)
		h = hash_mix(h, src[i]->id + ((uint64_t)src[i]->hash << 32));
	return (uint32_t)(h ^ h >> 32);
}

static bool node_is(const UOp *u, Op op, DType dt, size_t nsrc, UOp *const *src, const Val *arg)
{
	return u->op == op && u->dtype == dt && u->nsrc == nsrc && u->arg == arg &&
		(!nsrc || !memcmp(u->src, src, nsrc * sizeof *src));
}

static void rehash(void)
{
	HashSlot *old = table.at;
	size_t cap = table.cap;
	table.cap = cap ? cap * 2 : 4096;
	table.at = arena_block(table.cap * sizeof *table.at);
	for (size_t i = 0; i < cap; i++) {
		if (!old[i].at)
			continue;
		size_t k = old[i].hash & (table.cap - 1);
		while (table.at[k].at)
			k = (k + 1) & (table.cap - 1);
		table.at[k] = old[i];
	}
	arena_release(old);
}

static UOp *node_alloc(Op op, DType dt, size_t nsrc, UOp *const *src, const Val *arg, uint32_t hash)
{
	UOp *u = arena_alloc(sizeof *u + nsrc * sizeof *src);
	u->id = table.created++;
	u->op = op;
	u->dtype = dt;
	u->nsrc = nsrc;
	u->hash = hash;
	u->arg = arg;
	u->note = VNIL;
	if (nsrc)
		memcpy(u->src, src, nsrc * sizeof *src);
	return u;
}

UOp *node_try(Op op, DType dt, size_t nsrc, UOp *const *src, const Val *arg, const char **err,
	int *status)
{
	if (op == OP_CONST) {
		arg = const_normal(dt, arg);
		if (!arg) {
			*status = MALFORMED;
			*err = arena_printf("the value does not fit %s", dtype_name(dt));
			return NULL;
		}
	}
	uint32_t hash = node_hash(op, dt, nsrc, src, arg);
	if (tabled.n * 2 >= table.cap)
		rehash();
	size_t k = hash & (table.cap - 1);
	for (; table.at[k].at; k = (k + 1) & (table.cap - 1))
		if (table.at[k].hash == hash &&
			node_is(tabled.at[table.at[k].at - 1], op, dt, nsrc, src, arg))
			return tabled.at[table.at[k].at - 1];
	const Shape *shape = NULL;
	*err = node_infer(op, dt, nsrc, src, arg, &shape, status);
	if (*err)
		return NULL;
	UOp *u = node_alloc(op, dt, nsrc, src, arg, hash);
	u->shape = shape;
	/* inference may have made nodes (sizes): find the slot again */
	if (tabled.n * 2 >= table.cap)
		rehash();
	for (k = hash & (table.cap - 1); table.at[k].at; k = (k + 1) & (table.cap - 1))
		;
	vec_push(&tabled, u);
	table.at[k] = (HashSlot){hash, tabled.n};
	return u;
}

UOp *node_new(Op op, DType dt, size_t nsrc, UOp *const *src, const Val *arg)
{
	const char *err = NULL;
	int status = MALFORMED;
	UOp *u = node_try(op, dt, nsrc, src, arg, &err, &status);
	if (!u)
		die(status, "%s: %s", op_name(op), err);
	return u;
}

UOp *node_plain(Op op, DType dt, size_t nsrc, UOp *const *src, const Val *arg, const Val *note)
{
	UOp *u = node_alloc(op, dt, nsrc, src, arg, 0);
	u->note = note ? note : VNIL;
	return u;
}

UOp *node_with(UOp *u, UOp *const *src)
{
	if (!u->nsrc || !memcmp(u->src, src, u->nsrc * sizeof *src))
		return u;
	return node_like(u, u->nsrc, src, u->arg);
}

UOp *node_like(const UOp *u, size_t nsrc, UOp *const *src, const Val *arg)
{
	UOp *n = node_new(u->op, u->dtype, nsrc, src, arg);
	node_note(n, u->note);
	return n;
}

void node_note(UOp *u, const Val *note)
{
	if (!note || note->kind != VAL_MAP || u->note == note)
		return;
	if (u->note == VNIL) {
		u->note = note;
		return;
	}
	for (size_t i = 0; i < note->n; i++) {
		const Val *key = note->a[2 * i];
		if (key->kind == VAL_STR && !val_get(u->note, key->s))
			u->note = val_set(u->note, key->s, note->a[2 * i + 1]);
	}
}

int64_t statement_id(const UOp *u)
{
	bool define = u->op == OP_DEFINE_REG || u->op == OP_DEFINE_LOCAL;
	return u->op == OP_LET ? u->arg->i : define ? u->arg->a[0]->i : -1;
}

const char *buffer_name(const UOp *u)
{
	const Val *v = val_get(u->arg, "name");
	return v && v->kind == VAL_STR ? v->s : "";
}

const char *buffer_role(const UOp *u)
{
	const Val *v = val_get(u->arg, "role");
	return v && v->kind == VAL_STR ? v->s : "";
}
