/* Ops that a target's language has no spelling for, written with others:
 *
 *     MULACC(a, b, c)  →  ADD(MUL(a, b), c)        MOD(a, b)  →  WHERE(b == 0, 0, a - IDIV(a, b)*b)
 *
 * Which ones is the target's own word (`lacks`). One row an op; what has no row cannot be done
 * without. */
#include "target/target.h"
#include "lower/lower.h"

static UOp *make(Op op, DType dt, size_t n, UOp *const *src);
#define MAKE(op, dt, ...) \
	make(op, dt, sizeof((UOp *[]){__VA_ARGS__}) / sizeof(UOp *), (UOp *[]){__VA_ARGS__})

static UOp *zero(DType dt) { return const_num(dt, 0); }

static UOp *recip(DType dt, UOp *const *s) { return MAKE(OP_FDIV, dt, const_num(dt, 1), s[0]); }
static UOp *mulacc(DType dt, UOp *const *s)
{
	return MAKE(OP_ADD, dt, MAKE(OP_MUL, dt, s[0], s[1]), s[2]);
}
static UOp *sub(DType dt, UOp *const *s) { return MAKE(OP_ADD, dt, s[0], MAKE(OP_NEG, dt, s[1])); }
static UOp *cmpne(DType dt, UOp *const *s)
{
	return MAKE(OP_XOR, DT_BOOL, MAKE(OP_CMPEQ, DT_BOOL, s[0], s[1]), const_num(DT_BOOL, 1));
}

static UOp *neg(DType dt, UOp *const *s)
{
	if (dtype_float(dt))
		return MAKE(OP_MUL, dt, s[0], const_num(dt, -1));
	return MAKE(OP_SUB, dt, zero(dt), s[0]);
}

/* the greater when sign is true, a NaN before all */
static UOp *extreme(DType dt, UOp *a, UOp *b, bool greater)
{
	UOp *first = greater ? MAKE(OP_CMPLT, DT_BOOL, b, a) : MAKE(OP_CMPLT, DT_BOOL, a, b);
	if (dtype_float(dt))
		first = MAKE(OP_OR, DT_BOOL, first, MAKE(OP_CMPNE, DT_BOOL, a, a));
	return MAKE(OP_WHERE, dt, first, a, b);
}
static UOp *max(DType dt, UOp *const *s) { return extreme(dt, s[0], s[1], true); }
static UOp *min(DType dt, UOp *const *s) { return extreme(dt, s[0], s[1], false); }

static UOp *mod(DType dt, UOp *const *s)
{
	UOp *r = MAKE(OP_SUB, dt, s[0], MAKE(OP_MUL, dt, MAKE(OP_IDIV, dt, s[0], s[1]), s[1]));
	return MAKE(OP_WHERE, dt, MAKE(OP_CMPEQ, DT_BOOL, s[1], zero(dt)), zero(dt), r);
}

/* true where truncation and floor differ: a remainder whose sign is not the divisor's */
static UOp *rounds_up(DType dt, UOp *r, UOp *b)
{
	UOp *signs = MAKE(OP_CMPNE, DT_BOOL, MAKE(OP_CMPLT, DT_BOOL, r, zero(dt)),
		MAKE(OP_CMPLT, DT_BOOL, b, zero(dt)));
	return MAKE(OP_AND, DT_BOOL, MAKE(OP_CMPNE, DT_BOOL, r, zero(dt)), signs);
}

static UOp *floordiv(DType dt, UOp *const *s)
{
	UOp *q = MAKE(OP_IDIV, dt, s[0], s[1]), *r = MAKE(OP_MOD, dt, s[0], s[1]);
	return MAKE(OP_WHERE, dt, rounds_up(dt, r, s[1]), MAKE(OP_SUB, dt, q, const_num(dt, 1)), q);
}

static UOp *floormod(DType dt, UOp *const *s)
{
	UOp *r = MAKE(OP_MOD, dt, s[0], s[1]);
	return MAKE(OP_WHERE, dt, rounds_up(dt, r, s[1]), MAKE(OP_ADD, dt, r, s[1]), r);
}

static UOp *u32(UOp *x, int shift)
{
	if (shift)
		x = MAKE(OP_SHR, DT_U64, x, const_int(DT_U64, shift));
	return MAKE(OP_CAST, DT_U32, x);
}

static UOp *rotate(UOp *x, int by)
{
	UOp *up = MAKE(OP_SHL, DT_U32, x, const_int(DT_U32, by));
	return MAKE(OP_OR, DT_U32, up, MAKE(OP_SHR, DT_U32, x, const_int(DT_U32, 32 - by)));
}

static UOp *threefry(DType dt, UOp *const *s)
{
	static const int by[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
	UOp *key[3] = {u32(s[1], 0), u32(s[1], 32)}, *x = u32(s[0], 0), *y = u32(s[0], 32);
	key[2] = MAKE(
		OP_XOR, DT_U32, MAKE(OP_XOR, DT_U32, key[0], key[1]), const_int(DT_U32, 0x1bd11bda));
	x = MAKE(OP_ADD, DT_U32, x, key[0]);
	y = MAKE(OP_ADD, DT_U32, y, key[1]);
	for (int i = 0; i < 5; i++) {
		for (int k = 0; k < 4; k++) {
			x = MAKE(OP_ADD, DT_U32, x, y);
			y = MAKE(OP_XOR, DT_U32, rotate(y, by[i % 2][k]), x);
		}
		x = MAKE(OP_ADD, DT_U32, x, key[(i + 1) % 3]);
		y = MAKE(
			OP_ADD, DT_U32, y, MAKE(OP_ADD, DT_U32, key[(i + 2) % 3], const_int(DT_U32, i + 1)));
	}
	UOp *high = MAKE(OP_SHL, DT_U64, MAKE(OP_CAST, DT_U64, y), const_int(DT_U64, 32));
	return MAKE(OP_OR, DT_U64, high, MAKE(OP_CAST, DT_U64, x));
}

static UOp *(*const rows[OP_COUNT])(DType dt, UOp *const *src) = {
	[OP_RECIP] = recip,
	[OP_MULACC] = mulacc,
	[OP_SUB] = sub,
	[OP_NEG] = neg,
	[OP_CMPNE] = cmpne,
	[OP_MAX] = max,
	[OP_MIN] = min,
	[OP_MOD] = mod,
	[OP_FLOORDIV] = floordiv,
	[OP_FLOORMOD] = floormod,
	[OP_THREEFRY] = threefry,
};

/* What a row writes may lack in turn: SUB by NEG, NEG by SUB would go round, so depth is bounded.
 */
static UOp *make(Op op, DType dt, size_t n, UOp *const *src)
{
	static int depth;
	if (!target_lacks(target, op))
		return node_new(op, dt, n, src, VNIL);
	if (!rows[op] || depth > 8)
		die(UNSUPPORTED, "%s: target %s has no such op, and none to write it with", op_name(op),
			target->name);
	depth++;
	UOp *u = rows[op](dt, src);
	depth--;
	return u;
}

static UOp *decompose(UOp *u, void *ctx)
{
	if (u->dtype == DT_F64 && !target->f64)
		die(UNSUPPORTED, "node %u %s: target %s has no f64", u->id, op_name(u->op), target->name);
	UOp *math = math_op(u);
	if (math)
		return walk_replace(math, decompose, NULL);
	/* a product and a sum that wrap are not one operation anywhere */
	if (u->op == OP_MULACC && !dtype_float(u->dtype))
		return mulacc(u->dtype, u->src);
	if (!op_elementwise(u->op) || !target_lacks(target, u->op))
		return u;
	return make(u->op, u->dtype, u->nsrc, u->src);
}

static UOp *kernel_decompose(const Use *use)
{
	for (uint32_t i = 1; i < use->call->nsrc && !target->f64; i++)
		if (use->call->src[i]->dtype == DT_F64)
			die(UNSUPPORTED, "buffer %s: target %s has no f64", buffer_name(use->call->src[i]),
				target->name);
	return walk_replace(use->kernel, decompose, NULL);
}

Graph *lower_decompose(Graph *g) { return kernels_map(g, kernel_decompose); }
