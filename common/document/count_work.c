/* The arithmetic and the memory traffic of one run of a compiled kernel, from its statements: each
 * is run as often as the loops around it and the grid say.
 *
 *     RANGE 8, RANGE 64 vector, STORE(…, MULACC(LOAD, LOAD, LOAD))   →   2·8·64 operations
 *
 * Integers of 64 bits are indices, and bools are conditions: they count as nothing, nor do casts. A
 * load counts as often as it stands, so what stays in registers or a cache counts as traffic too;
 * whoever asks knows how large the buffers are. */
#include "document/document.h"

static double value_of(UOp *size, const VarEnv *env)
{
	int64_t v, least;

	if (!ix_eval(size, env, &v))
		ix_bounds(size, &least, &v);
	return v > 0 ? (double)v : 0;
}

static double sizes_product(const Val *sizes, const VarEnv *env)
{
	double p = 1;

	for (size_t i = 0; sizes && sizes->kind == VAL_ARRAY && i < sizes->n; i++) {
		const char *err;
		UOp *size = size_from_val(sizes->a[i], &err);
		p *= size ? value_of(size, env) : 1;
	}
	return p;
}

static double operations_of(const UOp *u)
{
	if (!op_elementwise(u->op) || u->op == OP_CAST || u->op == OP_BITCAST || u->op == OP_WHERE)
		return 0;
	DType d = dtype_element(u->dtype);
	if (d == DT_I64 || d == DT_U64 || d == DT_BOOL)
		return 0;
	return (u->op == OP_MULACC ? 2 : 1) * dtype_lanes(u->dtype);
}

/* The array of an INDEX is a buffer of the call. */
static bool outside(const UOp *index)
{
	return index->op == OP_INDEX && index->src[0]->op == OP_PARAM;
}

/* One run of a statement: what it evaluates itself, up to the values that LETs hold. */
static KernelWork statement_work(const UOp *statement)
{
	VEC(const UOp *) todo = {0};
	KernelWork w = {0};
	Map seen = {0};

	vec_push(&todo, statement);
	if (statement->op == OP_STORE && outside(statement->src[0]))
		w.bytes += dtype_size(statement->src[1]->dtype);
	while (todo.n) {
		const UOp *u = todo.at[--todo.n];
		w.operations += operations_of(u);
		if (u->op == OP_LOAD && outside(u->src[0]))
			w.bytes += dtype_size(u->dtype);
		for (uint32_t i = 0; i < u->nsrc; i++)
			if (u->src[i]->op != OP_LET && !map_get(&seen, PKEY(u->src[i]))) {
				map_put(&seen, PKEY(u->src[i]), u->src[i]);
				vec_push(&todo, u->src[i]);
			}
	}
	vec_free(&todo);
	map_free(&seen);
	return w;
}

KernelWork count_work(UOp *kernel, const VarEnv *env)
{
	double around[65] = {sizes_product(val_get(kernel->arg, "global_size"), env) *
		sizes_product(val_get(kernel->arg, "local_size"), env)};
	KernelWork w = {0};
	int depth = 0;

	for (uint32_t i = 0; i < kernel->nsrc; i++) {
		const UOp *u = kernel->src[i];
		if (u->op == OP_RANGE && depth < 64) {
			around[depth + 1] = around[depth] * value_of(u->src[0], env);
			depth++;
		} else if (u->op == OP_ENDRANGE && depth > 0) {
			depth--;
		} else if (u->op == OP_STORE || u->op == OP_LET) {
			KernelWork once = statement_work(u);
			w.operations += once.operations * around[depth];
			w.bytes += once.bytes * around[depth];
		}
	}
	return w;
}
