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

static UOp *pow_f32(UOp *u) { return math_pow_f32(u->src[0], u->src[1]); }
static UOp *pow_f64(UOp *u) { return math_pow_f64(u->src[0], u->src[1]); }

static const RuleFunction functions[] = {
	{"exp2_f32", math_exp2_f32}, {"exp2_f64", math_exp2_f64}, {"log2_f32", math_log2_f32},
	{"log2_f64", math_log2_f64}, {"sin_f32", math_sin_f32}, {"sin_f64", math_sin_f64},
	{"pow_f32", pow_f32}, {"pow_f64", pow_f64}, {0},
};

static bool lacks(UOp *const *x) { return target_lacks(target, x[0]->op); }
static bool vectors(UOp *const *x) { return target->vector && !target->gpu; }

static const CondRow conditions[] = {{"lacks", 1, lacks}, {"vectors", 1, vectors}, {0}};
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
