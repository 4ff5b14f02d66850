/* The operations on floats of a call, counted in the loops of its kernels. */
#include "footprint/footprint.h"

enum { DEEPEST = 64 };

/* A kernel, statement by statement. An expression counts where the first statement that has it
 * stands. */
typedef struct { CallWork work; Map seen; double times; } Count;

static double most_of(UOp *size)
{
	int64_t low, most;

	ix_bounds(size, &low, &most);
	return most > 0 ? (double)most : 0;
}

static bool is_product(const UOp *u) { return u->op == OP_MUL && dtype_float(u->dtype); }

static void count_node(Count *c, const UOp *u)
{
	bool sum = u->op == OP_ADD || u->op == OP_SUB;

	if (!dtype_float(u->dtype) || !op_elementwise(u->op) || u->op == OP_CAST ||
			u->op == OP_BITCAST || u->op == OP_WHERE)
		return;
	if (u->op == OP_MULACC) {
		c->work.multiply_adds += c->times;
	} else if (sum && (is_product(u->src[0]) || is_product(u->src[1]))) {
		c->work.multiply_adds += c->times;
		c->work.others -= c->times;     /* that product */
	} else {
		c->work.others += c->times;
	}
}

static void count_expression(Count *c, UOp *u)
{
	NodeList todo = {0};

	vec_push(&todo, u);
	while (todo.n) {
		UOp *at = todo.at[--todo.n];
		if (at->op == OP_RANGE || map_get(&c->seen, PKEY(at)))
			continue;
		map_put(&c->seen, PKEY(at), at);
		count_node(c, at);
		for (uint32_t k = 0; k < at->nsrc; k++)
			vec_push(&todo, at->src[k]);
	}
	vec_free(&todo);
}

static double grid_of(const UOp *kernel)
{
	const Val *sizes = val_get(kernel->arg, "global_size");
	const char *err;
	double n = 1;

	for (size_t i = 0; sizes && sizes->kind == VAL_ARRAY && i < sizes->n; i++) {
		UOp *size = size_from_val(sizes->a[i], &err);
		n *= size ? most_of(size) : 1;
	}
	return n;
}

static void add_kernel(CallWork *w, const UOp *kernel)
{
	Count c = {.times = grid_of(kernel)};
	double around[DEEPEST];
	int depth = 0;

	for (uint32_t i = 0; i < kernel->nsrc; i++) {
		UOp *u = kernel->src[i];
		if (u->op == OP_RANGE && depth < DEEPEST) {
			around[depth++] = c.times;
			c.times *= most_of(u->src[0]);
		} else if (u->op == OP_ENDRANGE && depth > 0) {
			c.times = around[--depth];
		} else {
			count_expression(&c, u);
		}
	}
	w->multiply_adds += c.work.multiply_adds;
	w->others += c.work.others;
	map_free(&c.seen);
}

static void add_list(CallWork *w, const UOp *list, size_t from)
{
	for (size_t i = from; i < list->nsrc; i++) {
		const UOp *u = list->src[i];
		const UOp *program = u->op == OP_CALL ? u->src[0] : NULL;
		w->turns |= u->op == OP_LOOP;
		if (program && program->nsrc && program->src[0]->op == OP_KERNEL)
			add_kernel(w, program->src[0]);
		for (uint32_t k = 0; k < u->nsrc; k++)
			if (u->src[k]->op == OP_REGION)
				add_list(w, u->src[k], 0);
	}
}

CallWork function_work(const Function *f)
{
	CallWork w = {0};

	add_list(&w, f->g->sink, f->prepares);
	return w;
}
