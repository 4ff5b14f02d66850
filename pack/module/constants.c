/* Constants of a module, each distinct content once; and what is prepared from them, computed now.
 *
 *     CALL p1 w       p1 prepared         →   p1 const, with what the interpreter computed;
 *     CALL t3 x p1                            w is gone unless another call reads it */
#include "module/module.h"

size_t module_constant(Module *m, const Map *taken, const char *id, const Array *at)
{
	uint64_t key = hash_bytes(at->data, at->bytes, 1 + at->dtype);

	/* equal hashes are compared, the next one is tried */
	for (;; key++) {
		size_t k = (size_t)(uintptr_t)map_get(&m->constants, key);
		const Constant *c = k ? &m->constant.at[k - 1] : NULL;
		if (!c)
			break;
		if (c->at.dtype == at->dtype && c->at.bytes == at->bytes &&
				!memcmp(c->at.data, at->data, at->bytes))
			return k - 1;
	}
	vec_push(&m->constant, ((Constant){identifier_new(&m->ids, taken, id), *at, id, -1}));
	map_put(&m->constants, key, (void *)(uintptr_t)m->constant.n);
	return m->constant.n - 1;
}

typedef struct { Map at; Array *array; size_t n; } Made;

/* The content of a const buffer, or the memory of a prepared one. */
static Array *made_array(Made *d, UOp *u)
{
	Array *a = map_get(&d->at, PKEY(u));

	if (a)
		return a;
	a = arena_alloc(sizeof *a);
	if (buffer_is(u, "const")) {
		*a = constant_content(u, NULL);
	} else {
		a->dtype = u->dtype;
		a->rank = u->shape->rank;
		for (int i = 0; i < a->rank; i++)
			a->dim[i] = shape_dim(u->shape, i);
		*a = array_new(a->dtype, a->rank, a->dim);
	}
	map_put(&d->at, PKEY(u), a);
	return a;
}

static void make_now(Made *d, const UOp *call)
{
	const VarEnv none = {0};
	void *buf[call->nsrc];

	if (call->op == OP_MEMCPY) {
		Array *to = made_array(d, call->src[0]), *from = made_array(d, call->src[1]);
		memcpy(to->data, from->data, to->bytes);
		return;
	}
	for (uint32_t k = 1; k < call->nsrc; k++)
		buf[k - 1] = made_array(d, call->src[k])->data;
	interp_loops(call->src[0]->src[0], &none, call->nsrc - 1, buf, NULL);
}

const Graph *prepare_now(const Graph *g)
{
	Made d = {0};
	NodeList from = {0}, to = {0}, rest = {0};
	uint32_t n = 0;

	for (; n < g->sink->nsrc && call_prepares(g->sink->src[n]); n++)
		make_now(&d, g->sink->src[n]);
	if (!n)
		return g;
	for (uint32_t i = n; i < g->sink->nsrc; i++)
		vec_push(&rest, g->sink->src[i]);
	UOp *sink = node_like(g->sink, rest.n, rest.at, g->sink->arg);
	Nodes all = walk(sink);
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		if (u->op != OP_BUFFER || !buffer_is(u, "prepared"))
			continue;
		const Array *a = made_array(&d, u);
		const Val *arg = val_set(val_set(u->arg, "role", val_str("const")), "data",
			val_bin(a->data, a->bytes));
		vec_push(&from, u);
		vec_push(&to, node_like(u, 0, NULL, arg));
	}
	Graph *r = arena_alloc(sizeof *r);
	*r = *g;
	r->all = (Nodes){0};
	r->sink = substitute(sink, from.n, from.at, to.at);
	map_free(&d.at);
	vec_free(&from);
	vec_free(&to);
	vec_free(&rest);
	return r;
}
