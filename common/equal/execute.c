/* Runs a document of any level by the interpreter, in whatever arithmetic is set. Each buffer has
 * memory of its own, or its place in the workspace where the document has planned that; what
 * nothing was written to holds noise, another in each run. */
#include <stdlib.h>
#include "document/document.h"
#include "io/io.h"
#include "equal/parts.h"

const Named *named_find(const NamedList *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->at[i].name, name))
			return &l->at[i];
	return NULL;
}

static void named_put(NamedList *l, Named n)
{
	Named *old = (Named *)named_find(l, n.name);

	if (!old) {
		vec_push(l, n);
		return;
	}
	array_free(&old->at);
	*old = n;
}

/* ---- contents */

Array empty_array(const Run *r, const UOp *u)
{
	int64_t dim[MAX_RANK];

	for (int i = 0; i < u->shape->rank; i++)
		if (!ix_eval(u->shape->dim[i], &r->env, &dim[i]) || dim[i] < 0)
			die(MALFORMED, "node %u BUFFER (%s): its size cannot be computed", u->id,
				buffer_name(u));
	return array_new(u->dtype, u->shape->rank, dim);
}

/* The data of a const or state BUFFER, as elements of the current arithmetic; of degree 0. */
static Array given_content(Run *r, UOp *u)
{
	Array made = empty_array(r, u), raw;

	if (!val_get(u->arg, "data") && !val_get(u->arg, "file"))
		return made;
	raw = constant_content(u, NULL);
	if (over_field() && dtype_float(u->dtype))
		field_words(u->dtype, raw.data, (size_t)array_count(&raw), made.data);
	else if (!arithmetic || !dtype_float(u->dtype))
		memcpy(made.data, raw.data, made.bytes);
	return made;
}

void run_noise(const Run *r, Array *a)
{
	const int size = element_size(a->dtype);

	for (int64_t i = 0, n = array_count(a); i < n; i++) {
		uint64_t word = equal_mix(r->draw->seed ^ PKEY(r->e), (uint64_t)i);
		if (a->dtype == DT_BOOL)
			word &= 1;
		if (arithmetic && dtype_float(a->dtype))
			word = over_field() ? field_random(word) : 0;
		memcpy((char *)a->data + i * size, &word, size);
	}
}

static Array state_content(Run *r, UOp *u)
{
	const Named *s = named_find(&r->e->state, buffer_name(u));

	if (s)
		return s->at;
	named_put(&r->e->state, (Named){buffer_name(u), given_content(r, u), u, 0});
	return named_find(&r->e->state, buffer_name(u))->at;
}

Array run_content(Run *r, UOp *u)
{
	Array a;

	if (buffer_is(u, "state"))
		return state_content(r, u);
	if (buffer_is(u, "const")) {
		a = given_content(r, u);
	} else {
		a = empty_array(r, u);
		if (buffer_is(u, "input"))
			sample_input(r->draw, u, &a);
		else
			run_noise(r, &a);
	}
	vec_push(&r->own, a);
	return a;
}

/* ---- level graph */

static Array content(UOp *u, void *ctx) { return run_content(ctx, u); }

static void run_graph(Run *r)
{
	UOp *sink = r->g->sink;
	Nodes all = walk(sink);
	VEC(UOp *) roots = {0};
	Array *out;

	for (size_t i = 0; i < sink_outputs(sink); i++)
		vec_push(&roots, sink->src[i]);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_ASSIGN)
			vec_push(&roots, all.at[i]);
	out = xcalloc(roots.n + 1, sizeof *out);
	interp_graph(roots.n, roots.at, sink, &r->env, content, r, out);
	for (size_t i = 0; i < roots.n; i++) {
		bool assigned = i >= sink_outputs(sink);
		const char *name = assigned ? buffer_name(roots.at[i]->src[0]) :
					      sink_output_name(sink, i);
		named_put(assigned ? &r->e->state : &r->e->out,
			(Named){name, out[i], roots.at[i], 0});
	}
	free(out);
	vec_free(&roots);
}

/* ---- levels after graph */

/* A planned temporary's place. Its offset is in bytes of its dtype; no word is longer than eight
 * times an element. */
static void *in_workspace(Run *r, const UOp *u)
{
	enum { LONGER = 8 };
	const Val *offset = val_get(u->arg, "offset"), *size = val_get(r->g->meta, "workspace");

	if (!buffer_is(u, "temp") || !offset || offset->kind != VAL_INT || !size ||
		size->kind != VAL_ARRAY || !size->n || size->a[0]->kind != VAL_INT)
		return NULL;
	if (!r->workspace)
		r->workspace = xcalloc((size_t)size->a[0]->i + 64, LONGER);
	return r->workspace + LONGER * offset->i;
}

static void place_buffers(Run *r)
{
	Nodes all = walk(r->g->sink);

	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		if (u->op != OP_BUFFER)
			continue;
		Array *a = arena_alloc(sizeof *a);
		*a = run_content(r, u);
		if (in_workspace(r, u))
			a->data = in_workspace(r, u);
		map_put(&r->at, PKEY(u), a);
	}
}

Array *buffer_at(const Run *r, const UOp *u) { return map_get(&r->at, PKEY(u)); }

void note_write(const Run *r, const UOp *call, uint32_t number, const UOp *buffer)
{
	const Array *a = buffer_at(r, buffer);

	vec_push(&r->e->writes, ((Write){buffer_name(buffer), call, number,
		hash_bytes(a->data, a->bytes, 0)}));
}

/* Each buffer must be as large as its PARAM says, since the interpreter goes by that. */
static void check_params(Run *r, const UOp *call, UOp *kernel)
{
	Nodes all = walk(kernel);

	for (size_t i = 0; i < all.n; i++) {
		if (all.at[i]->op != OP_PARAM)
			continue;
		int64_t slot = param_slot(all.at[i]);
		Array want = empty_array(r, all.at[i]);
		if (slot < 0 || slot + 1 >= call->nsrc ||
			buffer_at(r, call->src[slot + 1])->bytes < want.bytes)
			die(MALFORMED, "node %u CALL: slot %lld is larger than its buffer",
				call->id, (long long)slot);
		array_free(&want);
	}
}

static void run_call(Run *r, UOp *call, uint32_t number)
{
	UOp *kernel = call->src[0]->op == OP_PROGRAM ? call->src[0]->src[0] : call->src[0];
	void **buf = xcalloc(call->nsrc + 1, sizeof *buf);
	uint64_t written;

	if (kernel->op != OP_KERNEL)
		die(UNSUPPORTED, "node %u %s: a user-written kernel cannot be interpreted",
			kernel->id, op_name(kernel->op));
	check_params(r, call, kernel);
	for (uint32_t k = 1; k < call->nsrc; k++)
		buf[k - 1] = buffer_at(r, call->src[k])->data;
	(r->g->level == LV_SCHEDULE ? interp_kernel : interp_loops)(
		kernel, &r->env, call->nsrc - 1, buf, NULL);
	free(buf);
	written = call_writes(call);
	for (uint32_t k = 1; k < call->nsrc && k <= 64; k++)
		if (written >> (k - 1) & 1)
			note_write(r, call, number, call->src[k]);
}

static void run_copy(Run *r, const UOp *copy, uint32_t number)
{
	Array *to = buffer_at(r, copy->src[0]), *from = buffer_at(r, copy->src[1]);

	if (to->bytes != from->bytes)
		die(MALFORMED, "node %u MEMCPY: from %zu to %zu bytes", copy->id, from->bytes,
			to->bytes);
	memcpy(to->data, from->data, to->bytes);
	note_write(r, copy, number, copy->src[0]);
}

/* The outputs' arrays change hands; who wrote them last is known from the writes. */
static void take_outputs(Run *r)
{
	Nodes all = walk(r->g->sink);

	for (size_t i = 0; i < all.n; i++) {
		const UOp *u = all.at[i];
		const Array *a = u->op == OP_BUFFER ? buffer_at(r, u) : NULL;
		if (!a || !buffer_is(u, "output"))
			continue;
		Named n = {buffer_name(u), array_new(a->dtype, a->rank, a->dim), u, 0};
		memcpy(n.at.data, a->data, a->bytes);
		for (size_t k = 0; k < r->e->writes.n; k++)
			if (!strcmp(r->e->writes.at[k].buffer, n.name)) {
				n.by = r->e->writes.at[k].by;
				n.call = r->e->writes.at[k].call;
			}
		named_put(&r->e->out, n);
	}
}

void run_entry(Run *r, UOp *entry, uint32_t number)
{
	if (entry->op == OP_MEMCPY)
		run_copy(r, entry, number);
	else
		run_call(r, entry, number);
}

static void run_calls(Run *r)
{
	UOp *sink = r->g->sink;

	place_buffers(r);
	for (uint32_t i = 0; i < sink->nsrc; i++)
		run_entry(r, sink->src[i], i);
	take_outputs(r);
}

/* ---- all of them */

static void run(Run *r)
{
	if (r->g->level <= LV_GRAPH) {
		run_graph(r);
	} else if (steps_listed(r->g)) {
		run_list(r);
		take_outputs(r);
	} else {
		run_calls(r);
	}
}

void execute(const Graph *g, const VarEnv *env, const Draw *d, Execution *e)
{
	Run r = {.g = g, .env = *env, .draw = d, .e = e};

	e->writes.n = 0;
	e->stopped = NULL;
	if (is_stepped(g))
		run_followed(run, &r);
	else
		run(&r);
	if (steps_listed(g))
		list_free(&r);
	for (size_t i = 0; i < r.own.n; i++)
		array_free(&r.own.at[i]);
	vec_free(&r.own);
	map_free(&r.at);
	free(r.workspace);
}

void execution_free(Execution *e)
{
	for (size_t i = 0; i < e->out.n; i++)
		array_free(&e->out.at[i].at);
	for (size_t i = 0; i < e->state.n; i++)
		array_free(&e->state.at[i].at);
	vec_free(&e->out);
	vec_free(&e->state);
	vec_free(&e->writes);
	vec_free(&e->steps);
}
