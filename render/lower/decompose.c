/* Ops written with others, by the rules of decompose.rules:
 *
 *     MULACC(x, y, z)  →  x * y + z             MOD(x, y)  →  WHERE(y == 0, 0, x - IDIV(x, y) * y)
 *
 * The target's row says which ops it lacks. */
#include "target/target.h"
#include "lower/lower.h"
#include "lower/math_parts.h"
#include "rules/rule.h"

/* ---- functions and guards of the rules */

/* An expansion keeps the name of its op in a note, which `prove` reads. */
static UOp *named(Op op, UOp *expansion)
{
	node_note(expansion, VMAP(val_str("of"), val_str(op_name(op))));
	return expansion;
}

#define UNARY(OP, name) \
	static UOp *name(UOp *x) { return named(OP, math_##name(x)); }
#define POWER(name) \
	static UOp *name(UOp *u) { return named(OP_POW, math_##name(u->src[0], u->src[1])); }
UNARY(OP_EXP2, exp2_f32)
UNARY(OP_EXP2, exp2_f64)
UNARY(OP_LOG2, log2_f32)
UNARY(OP_LOG2, log2_f64)
UNARY(OP_SIN, sin_f32)
UNARY(OP_SIN, sin_f64)
POWER(pow_f32)
POWER(pow_f64)

static const RuleFunction functions[] = {
	{"exp2_f32", exp2_f32}, {"exp2_f64", exp2_f64}, {"log2_f32", log2_f32},
	{"log2_f64", log2_f64}, {"sin_f32", sin_f32}, {"sin_f64", sin_f64},
	{"pow_f32", pow_f32}, {"pow_f64", pow_f64}, {0},
};

static bool lacks(UOp *const *x) { return target_lacks(target, x[0]->op); }
static bool vectors(UOp *const *x) { return target->vector && !target->gpu; }

static bool doubles(UOp *const *x) { return vectors(x) && target->vector > 8; }

static const CondRow conditions[] = {
	{"lacks", 1, lacks}, {"vectors", 1, vectors}, {"doubles", 1, doubles}, {0}};
const RuleNames decompose_names = {.functions = functions, .conditions = conditions};

/* ---- kernels */

static _Noreturn void no_op(Op op)
{
	die(UNSUPPORTED, "%s: target %s has no such op, and none to write it with", op_name(op),
		target->name);
}

static void check_f64(const KernelUse *use)
{
	for (uint32_t i = 1; i < use->call->nsrc; i++)
		if (use->call->src[i]->dtype == DT_F64)
			die(UNSUPPORTED, "buffer %s: target %s has no f64",
				buffer_name(use->call->src[i]), target->name);
	Nodes all = walk_brief(use->kernel);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->dtype == DT_F64)
			die(UNSUPPORTED, "node %u %s: target %s has no f64", all.at[i]->id,
				op_name(all.at[i]->op), target->name);
}

static UOp *kernel_decompose(const KernelUse *use)
{
	Rules *rules = rules_open("decompose", &decompose_names);
	const UOp *endless;
	if (!target->f64)
		check_f64(use);
	UOp *kernel = rewrite_try(use->kernel, rules, &endless);
	if (!kernel)
		no_op(endless->op);
	Nodes all = walk_brief(kernel);
	for (size_t i = 0; i < all.n; i++)
		if (op_elementwise(all.at[i]->op) && target_lacks(target, all.at[i]->op))
			no_op(all.at[i]->op);
	return kernel;
}

Graph *lower_decompose(Graph *g) { return kernels_map(g, kernel_decompose); }
