/* Makes a compiled document smaller: before any weight is touched, the sources of its programs and
 * the bodies of their kernels are dropped, and the memory that reading them took is freed.
 *
 *     PROGRAM(KERNEL(RANGE …, LET …, STORE …)) {src: "void E_4(…", object: "/…/cdef….so", …}
 *     →   PROGRAM(KERNEL(STORE(INDEX(PARAM 0, 0), 0), LET(LOAD(INDEX(PARAM 1, 0)))))
 *         {src: "", digest: "5f…", object: "/…/cdef….so", …}
 *
 * What is left of a kernel says which buffers it reads and writes and which size variables it uses;
 * what is left of a source is its digest, from which cache keys are made. */
#include "document/document.h"
#include "build/build.h"
#include <malloc.h>
#include <stdlib.h>

/* ---- programs */

typedef VEC(UOp *) Statements;

static UOp *let_of(const Statements *before, UOp *value)
{
	return NODE(OP_LET, value->dtype, val_int(before->n), value);
}

/* Adds a STORE for each PARAM that the kernel writes, and a LET for each other PARAM and for each
 * size variable. */
static void keep_touches(const Nodes *all, Statements *out)
{
	Map written = {0};

	for (size_t i = 0; i < all->n; i++)
		if (all->at[i]->op == OP_STORE && all->at[i]->src[0]->op == OP_INDEX)
			map_put(&written, all->at[i]->src[0]->src[0]->id + 1, all->at[i]);
	for (size_t i = 0; i < all->n; i++) {
		UOp *u = all->at[i];
		UOp *place = NULL;
		if (u->op == OP_PARAM)
			place = NODE(OP_INDEX, u->dtype, VNIL, u, ix_const(0));
		if (u->op == OP_VAR)
			vec_push(out, let_of(out, u));
		else if (place && map_get(&written, u->id + 1))
			vec_push(out, NODE(OP_STORE, DT_NONE, VNIL, place, const_num(u->dtype, 0)));
		else if (place)
			vec_push(out, let_of(out, NODE(OP_LOAD, u->dtype, VNIL, place)));
	}
	map_free(&written);
}

static UOp *kernel_stripped(UOp *kernel)
{
	Nodes all = walk(kernel);
	Statements kept = {0};

	if (kernel->op != OP_KERNEL)
		return kernel;
	keep_touches(&all, &kept);
	UOp *k = node_new(OP_KERNEL, DT_NONE, kept.n, kept.at, kernel->arg);
	node_note(k, kernel->note);
	vec_free(&kept);
	return k;
}

static UOp *program_stripped(UOp *u, void *programs)
{
	const Program *p = u->op == OP_PROGRAM ? map_get(programs, u->id + 1) : NULL;

	if (!p)
		return u;
	/* a GPU's object may be for another than is here, and is built again then */
	const Val *src = p->runtime == RUNTIME_CPU ? val_set(u->arg, "src", val_str("")) : u->arg;
	const Val *arg = val_set(src, "digest", val_str(p->digest));
	UOp *v = NODE(OP_PROGRAM, u->dtype, arg, kernel_stripped(u->src[0]));
	node_note(v, u->note);
	return v;
}

/* ---- copying the document into fresh memory */

typedef struct { Doc *d; Map place; uint64_t n; } Copy;

/* Small byte strings are copied, aligned, so that the document's pages around them can be dropped;
 * large ones stay where they are. */
static const Val *bytes_copied(const Val *v)
{
	enum { SMALL = 1 << 16 };
	return val_bin(v->n < SMALL ? memcpy(arena_alloc(v->n + 1), v->s, v->n) : v->s, v->n);
}

/* The reader limits the depth to 100. */
static const Val *val_copied(const Val *v)
{
	size_t n = v->kind == VAL_MAP ? 2 * v->n : v->kind == VAL_ARRAY ? v->n : 0;
	const Val **at, *r;

	switch (v->kind) {
	case VAL_NIL: return VNIL;
	case VAL_BOOL: return val_bool(v->b);
	case VAL_INT: return val_int(v->i);
	case VAL_UINT: return val_uint(v->u);
	case VAL_FLOAT: return val_float(v->f);
	case VAL_STR: return val_strn(v->s, v->n);
	case VAL_BIN: return bytes_copied(v);
	default: break;
	}
	at = xmalloc((n + 1) * sizeof *at);
	for (size_t i = 0; i < n; i++)
		at[i] = val_copied(v->a[i]);
	r = v->kind == VAL_MAP ? val_map(v->n, at) : val_array(v->n, at);
	free(at);
	return r;
}

static void copy_node(Copy *c, const UOp *u)
{
	const char *dtype = u->dtype == DT_NONE ? NULL : dtype_name(u->dtype), *err;
	uint64_t *src;
	int status;

	if (map_get(&c->place, u->id + 1))
		return;
	src = xmalloc((u->nsrc + 1) * sizeof *src);
	for (uint32_t i = 0; i < u->nsrc; i++)
		src[i] = (uintptr_t)map_get(&c->place, u->src[i]->id + 1) - 1;
	err = doc_node(c->d, op_name(u->op), strlen(op_name(u->op)), dtype,
		dtype ? strlen(dtype) : 0, u->nsrc, src, val_copied(u->arg), val_copied(u->note),
		&status);
	if (err)
		die(status, "%s", err);
	map_put(&c->place, u->id + 1, (void *)(uintptr_t)++c->n);
	free(src);
}

/* Copies the nodes that the sink reaches, and all inputs: an operand may name one that nobody
 * reads. */
static Graph *copied(const Graph *g, const Nodes *live)
{
	const char *err;
	Copy c = {.d = doc_begin(g->level, val_copied(g->vars), val_copied(g->meta), 0, &err)};

	for (size_t i = 0; i < g->all.n; i++)
		if (g->all.at[i]->op == OP_BUFFER && buffer_is(g->all.at[i], "input"))
			copy_node(&c, g->all.at[i]);
	for (size_t i = 0; i < live->n; i++)
		copy_node(&c, live->at[i]);
	map_free(&c.place);
	return doc_end(c.d, &err);
}

Graph *lean(Graph *g)
{
	Map compiled = {0};
	Programs p;
	Nodes live;
	void *old;

	if (g->level != LV_PROGRAM)
		return g;
	p = programs_of(g);
	for (size_t i = 0; i < p.n; i++)
		if (p.at[i].object && object_given(&p.at[i], true))
			map_put(&compiled, p.at[i].u->id + 1, &p.at[i]);
	if (compiled.n) {
		live = walk(walk_replace(g->sink, program_stripped, &compiled));
		old = arena_aside();
		g = copied(g, &live);
		arena_drop(old);
		malloc_trim(0);
	}
	map_free(&compiled);
	return g;
}
