/* The walk over a model: each node's inputs are looked up by name, its operator's function
 * expands it, and its outputs get their names.  Names live in scopes: the model's, one for each
 * body of control flow (which sees the graph around it), one for each call of a local function
 * (which does not).
 *
 *     node {MatMul, input: [x, w], output: [y]}   →   scope: y = t_matmul(x, w), with a note */
#include "base/progress.h"
#include "onnx/proto.h"
#include <setjmp.h>
#include <stdlib.h>
#ifdef HAVE_ONNX

static ARENA const Onnx__ModelProto *model;
static ARENA Map functions;           /* by "domain:name" */
static ARENA uint64_t expanded;

/* ---- domains, operators, functions */

const char *onnx_domain(const Onnx__NodeProto *n)
{
	return !n->domain || !strcmp(n->domain, "ai.onnx") ? "" : n->domain;
}

int onnx_opset(size_t n, Onnx__OperatorSetIdProto *const *opset, const char *domain)
{
	for (size_t i = 0; i < n; i++) {
		const char *d = opset[i]->domain && strcmp(opset[i]->domain, "ai.onnx") ?
			opset[i]->domain :
			"";
		if (!strcmp(d, domain))
			return opset[i]->version < 1 || opset[i]->version > INT32_MAX ?
				INT32_MAX :
				opset[i]->version;
	}
	return 0;
}

static const Val *op_key(const char *domain, const char *name)
{
	return val_str(arena_printf("%s:%s", domain, name));
}

const Onnx__FunctionProto *onnx_function(const char *domain, const char *name)
{
	return functions.n ? map_get(&functions, PKEY(op_key(domain, name))) : NULL;
}

void onnx_collect_functions(const Onnx__ModelProto *m)
{
	map_free(&functions);
	for (size_t i = 0; i < m->n_functions; i++) {
		Onnx__FunctionProto *f = m->functions[i];
		const char *domain = !f->domain || !strcmp(f->domain, "ai.onnx") ? "" : f->domain;
		if (!f->name)
			die(MALFORMED, "a function has no name");
		const Val *key = op_key(domain, f->name);
		if (map_get(&functions, PKEY(key)))
			die(MALFORMED, "function %.80s is there twice", f->name);
		map_put(&functions, PKEY(key), f);
	}
}

/* ---- scopes */

void onnx_bind(OnnxScope *s, const char *name, OnnxValue v)
{
	const Val *key = val_str(name);
	if (!*name)
		return;
	if (map_get(&s->values, PKEY(key)))
		die(MALFORMED, "two values have the name '%.100s'", name);
	OnnxValue *at = arena_alloc(sizeof *at);
	*at = v;
	map_put(&s->values, PKEY(key), at);
}

/* An initializer becomes a node when it is first used. */
static OnnxValue *make_initializer(OnnxScope *s, const char *name, const Onnx__TensorProto *t)
{
	const char *where = process.where;
	process.where = arena_printf("%.300s: initializer %.200s", onnx_file, name);
	onnx_bind(s, name, onnx_tensor(t, name));
	process.where = where;
	return map_get(&s->values, PKEY(val_str(name)));
}

/* A value of the graph around a branch where a size is known to be another. */
static const OnnxValue *with_size(const OnnxValue *v, UOp *size, UOp *is)
{
	if (v->kind != ONNX_TENSOR)
		return v;
	OnnxValue *r = arena_alloc(sizeof *r);
	*r = *v;
	for (int d = 0; d < t_rank(v->u); d++)
		r->u = t_agree(r->u, d, substitute(t_dim(v->u, d), 1, &size, &is));
	return r;
}

const OnnxValue *onnx_lookup(OnnxScope *s, const char *name)
{
	const Val *key = val_str(name);
	if (!s)
		return NULL;
	const OnnxValue *v = map_get(&s->values, PKEY(key));
	const Onnx__TensorProto *t = v ? NULL : map_get(&s->initializers, PKEY(key));
	if (v || t)
		return v ? v : make_initializer(s, name, t);
	v = onnx_lookup(s->outer, name);
	return v && s->size ? with_size(v, s->size, s->is) : v;
}

/* ---- one node */

static const char *where_is(const OnnxCall *c)
{
	return arena_printf("%.300s: node %s%.200s (%.80s-%d)", onnx_file, c->scope->path,
		onnx_node_name(c), onnx_op(c), c->version);
}

static void take_inputs(OnnxCall *c)
{
	c->in = arena_alloc((c->node->n_input + 1) * sizeof *c->in);
	for (size_t i = 0; i < c->node->n_input; i++) {
		const char *name = c->node->input[i];
		const OnnxValue *v = *name ? onnx_lookup(c->scope, name) : NULL;
		if (*name && !v)
			die(MALFORMED, "its input '%.100s' is made by no node before it", name);
		if (v)
			c->in[i] = *v;
	}
	onnx_share_words(c);
}

static void note_outputs(OnnxCall *c, uint32_t start)
{
	const Val *loc = val_str(arena_printf("%s%.200s", c->scope->path, onnx_node_name(c)));
	for (size_t i = 0; i < c->n_out; i++) {
		if (c->out[i].kind != ONNX_TENSOR || c->out[i].u->id < start)
			continue;
		Value v = v_tensor(c->out[i].u);
		note_nodes(&v, start, VMAP(val_str("name"), loc, val_str("loc"), loc));
	}
}

static void give_outputs(OnnxCall *c)
{
	for (size_t i = 0; i < c->n_out; i++) {
		if (!*c->node->output[i])
			continue;
		if (c->out[i].kind == ONNX_ABSENT)
			die(UNSUPPORTED, "its output %zu ('%.100s') is not supported", i,
				c->node->output[i]);
		onnx_bind(c->scope, c->node->output[i], c->out[i]);
	}
}

static void expand_function(OnnxCall *c, const Onnx__FunctionProto *f)
{
	const char *path = arena_printf("%.400s%.100s/", c->scope->path, onnx_node_name(c));
	OnnxScope s = {.caller = c,
		.n_opset = f->n_opset_import,
		.opset = f->opset_import,
		.path = path,
		.depth = c->scope->depth + 1};
	Onnx__GraphProto body = {.n_node = f->n_node, .node = f->node};
	if (s.depth > ONNX_DEPTH)
		die(MALFORMED, "functions nest more than %d deep", ONNX_DEPTH);
	for (size_t i = 0; i < f->n_input; i++)
		onnx_bind(&s, f->input[i], i < c->node->n_input ? c->in[i] : (OnnxValue){0});
	onnx_expand_graph(&s, &body);
	for (size_t i = 0; i < f->n_output && i < c->n_out; i++) {
		const OnnxValue *v = onnx_lookup(&s, f->output[i]);
		if (!v)
			die(MALFORMED, "output '%.100s' of function %.80s is made by no node",
				f->output[i], f->name);
		c->out[i] = *v;
	}
	map_free(&s.values);
}

/* Whether it is an If whose branches differ in rank; then: which of them to take. */
static bool expand_node(OnnxScope *s, const Onnx__NodeProto *n, bool then)
{
	const char *where = process.where, *domain = onnx_domain(n);
	OnnxCall c = {.node = n, .scope = s, .version = onnx_opset(s->n_opset, s->opset, domain),
		.n_out = n->n_output, .then = then};
	uint32_t start = node_limit();
	process.where = where_is(&c);
	if (++expanded > ONNX_EXPANDED)
		die(UNSUPPORTED, "loops unroll to more than %d nodes", ONNX_EXPANDED);
	take_inputs(&c);
	c.out = arena_alloc((c.n_out + 1) * sizeof *c.out);
	const Onnx__FunctionProto *f = onnx_function(domain, n->op_type);
	const OnnxOp *op = f ? NULL : onnx_op_find(domain, n->op_type, c.version);
	if (f)
		expand_function(&c, f);
	else if (op->fn)
		op->fn(&c);
	else
		onnx_expand_row(&c, op);
	note_outputs(&c, start);
	give_outputs(&c);
	process.where = where;
	return c.chose;
}

/* ---- a graph */

enum { CHOICES = 6 };           /* open at a time: each may double the work */
typedef struct { OnnxScope *s; const Onnx__GraphProto *g; size_t from; } Rest;
static ARENA int choices;

/* Nothing has been made by the nodes from `from` on. */
static void forget(const Rest *r, size_t from)
{
	for (size_t i = from; i < r->g->n_node; i++)
		for (size_t k = 0; k < r->g->node[i]->n_output; k++)
			map_put(&r->s->values, PKEY(val_str(r->g->node[i]->output[k])), NULL);
}

static void expand_rest(void *ctx)
{
	Rest *r = ctx;
	Progress progress = progress_start("nodes", r->g->n_node, true);
	for (size_t i = r->from; i < r->g->n_node; i++) {
		progress_step(&progress, i);
		const Onnx__NodeProto *n = r->g->node[i];
		Rest rest = {r->s, r->g, i + 1};
		OnnxRefusal why, other;
		StepsMark begun = steps_mark();
		if (!expand_node(r->s, n, false) || choices == CHOICES)
			continue;
		int open = ++choices;
		bool done = onnx_try(expand_rest, &rest, &why);
		if (!done) {
			steps_drop(begun);
			forget(r, i);
			choices = open;
			expand_node(r->s, n, true);
			done = onnx_try(expand_rest, &rest, &other);
		}
		choices = open - 1;
		if (!done)
			onnx_refuse(&why);
		return;
	}
	progress_end(&progress);
}

void onnx_expand_graph(OnnxScope *s, const Onnx__GraphProto *g)
{
	for (size_t i = 0; i < g->n_initializer; i++)
		if (g->initializer[i]->name && *g->initializer[i]->name)
			map_put(&s->initializers, PKEY(val_str(g->initializer[i]->name)),
				g->initializer[i]);
	if (g->n_sparse_initializer)
		die(UNSUPPORTED, "sparse initializers are not supported");
	expand_rest(&(Rest){s, g, 0});
}

/* ---- bodies of control flow */

static const Onnx__GraphProto *body_of(OnnxCall *c, const char *name)
{
	const Onnx__AttributeProto *a = onnx_attr(c, name);
	if (!a || !a->g)
		onnx_fail(c, MALFORMED, "its graph %.80s is missing", name);
	return a->g;
}

int onnx_body_inputs(OnnxCall *c, const char *name) { return body_of(c, name)->n_input; }
int onnx_body_outputs(OnnxCall *c, const char *name) { return body_of(c, name)->n_output; }

int onnx_body(OnnxCall *c, const char *name, size_t n, const OnnxValue *in, OnnxValue *out, int max)
{
	const Onnx__GraphProto *g = body_of(c, name);
	OnnxScope s = {.outer = c->scope, .n_opset = c->scope->n_opset, .opset = c->scope->opset,
		.size = c->size, .is = c->is, .path = c->scope->path,
		.depth = c->scope->depth + 1};
	if (s.depth > ONNX_DEPTH)
		die(MALFORMED, "graphs nest more than %d deep", ONNX_DEPTH);
	if (g->n_input > n || g->n_output > (size_t)max)
		onnx_fail(c, MALFORMED,
			"its graph %.80s has %zu inputs and %zu outputs, not %zu and %d", name,
			g->n_input, g->n_output, n, max);
	for (size_t i = 0; i < g->n_input; i++)
		onnx_bind(&s, g->input[i]->name ? g->input[i]->name : "", in[i]);
	onnx_expand_graph(&s, g);
	for (size_t i = 0; i < g->n_output; i++) {
		const OnnxValue *v = onnx_lookup(&s, g->output[i]->name ? g->output[i]->name : "");
		if (!v)
			onnx_fail(c, MALFORMED, "output %zu of its graph %.80s is made by no node",
				i, name);
		out[i] = *v;
	}
	map_free(&s.values);
	map_free(&s.initializers);
	return g->n_output;
}

/* ---- attempts */

typedef struct Attempt Attempt;
struct Attempt {
	jmp_buf back;
	OnnxRefusal why;
	void (*outer)(int, const char *, const char *);
};
static ARENA Attempt *attempt;        /* the innermost */

static void hear(int status, const char *where, const char *text)
{
	Attempt *a = attempt;
	a->why = (OnnxRefusal){status, arena_strdup(where), arena_strdup(text)};
	if (status == UNSUPPORTED || status == MALFORMED)
		longjmp(a->back, 1);
	if (a->outer)
		a->outer(status, where, text);
}

bool onnx_try(void (*fn)(void *), void *ctx, OnnxRefusal *why)
{
	Attempt here = {.outer = process.refused}, *outer = attempt;
	const char *where = process.where;
	StepsMark begun = steps_mark();
	bool done = !setjmp(here.back);
	if (done) {
		attempt = &here;
		process.refused = hear;
		fn(ctx);
	} else {
		steps_drop(begun);
		process.where = where;
		*why = here.why;
	}
	attempt = outer;
	process.refused = here.outer;
	return done;
}

void onnx_refuse(const OnnxRefusal *why)
{
	process.where = *why->where ? why->where : NULL;
	die(why->status, "%s", why->text);
}

/* ---- the model */

static const char *distinct(Map *taken, const char *stem)
{
	const char *name = stem;
	for (unsigned k = 1; map_get(taken, PKEY(val_str(name))); k++)
		name = arena_printf("%s_%u", stem, k);
	map_put(taken, PKEY(val_str(name)), (void *)name);
	return name;
}

/* The outputs of the SINK: one per output, and one per element of a sequence; groups says which
 * belong together. */
typedef struct {
	Map taken;
	VEC(UOp *) out;
	VEC(const Val *) names, groups;
	bool grouped;
	const Val *classes;
} Outputs;

static void put_output(Outputs *o, UOp *u, const char *stem)
{
	vec_push(&o->out, u);
	vec_push(&o->names, val_str(distinct(&o->taken, stem)));
}

static void add_output(Outputs *o, OnnxScope *s, const char *name)
{
	const OnnxValue *v = onnx_lookup(s, name);
	const char *clean = onnx_clean(name);
	if (!v)
		die(MALFORMED, "output '%.100s' is made by no node", name);
	if (v->kind == ONNX_TENSOR) {
		if (v->words)
			o->classes = val_set(o->classes, clean, v->words);
		put_output(o, v->u, clean);
		vec_push(&o->groups, VNIL);
		return;
	}
	if (v->kind == ONNX_SEQUENCE && v->u)
		die(UNSUPPORTED, "output '%.100s' is a sequence whose length is not known", name);
	o->grouped = true;
	vec_push(&o->groups, VARR(val_str(clean), v->kind == ONNX_SEQUENCE ? val_int(v->n) : VNIL));
	for (size_t i = 0; v->kind == ONNX_SEQUENCE && i < v->n; i++) {
		if (v->at[i].kind != ONNX_TENSOR)
			die(UNSUPPORTED,
				"output '%.100s' is a sequence of other things than tensors", name);
		put_output(o, v->at[i].u, arena_printf("%s_%zu", clean, i));
	}
}

static void make_sink(Graph *g, OnnxScope *s, const Onnx__GraphProto *p)
{
	Outputs o = {.classes = VNIL};
	for (size_t i = 0; i < p->n_output; i++)
		add_output(&o, s, p->output[i]->name ? p->output[i]->name : "");
	g->sink = steps_sink(o.out.n, o.out.at,
		VMAP(val_str("names"), val_array(o.names.n, o.names.at)));
	if (o.grouped)
		g->meta = val_set(g->meta, "output_groups", val_array(o.groups.n, o.groups.at));
	if (o.classes != VNIL)
		g->meta = val_set(g->meta, "classes", o.classes);
	map_free(&o.taken);
	vec_free(&o.out);
	vec_free(&o.names);
	vec_free(&o.groups);
}

Graph *read_onnx(const char *file)
{
	process.where = file;
	buffers_reset();
	reading.sizes_agree = true;
	model = onnx_read(file);
	onnx_advise();
	onnx_check_support(model);
	OnnxScope s = {.n_opset = model->n_opset_import, .opset = model->opset_import, .path = ""};
	onnx_make_inputs(&s, model->graph);
	onnx_expand_graph(&s, model->graph);
	onnx_check_options();
	Graph *g = arena_alloc(sizeof *g);
	*g = (Graph){.level = LV_GRAPH, .vars = onnx_vars(), .meta = onnx_inputs_meta(VNIL)};
	make_sink(g, &s, model->graph);
	map_free(&s.values);
	map_free(&s.initializers);
	process.where = NULL;
	return g;
}
#endif
