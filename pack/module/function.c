/* A document of level program becomes a function of a module: which buffers it has and where they
 * are, which sizes, kernels and constants.
 *
 *     input, output   → pointers of the caller's        const      → an array of the module
 *     state           → a struct of the caller's        temp       → a place in the workspace */
#include "module/module.h"

Buffer *function_buffer(const Function *f, const UOp *u)
{
	size_t k = (size_t)(uintptr_t)map_get(&f->slot, PKEY(u));

	CHECK(k);
	return &f->buffer.at[k - 1];
}

/* ---- sizes */

/* The least of the limits of v, which has bounds of its own. */
static int64_t limited(const ModuleOptions *o, const UOp *v)
{
	int64_t max = v->arg->a[2]->i;

	for (size_t i = 0; i < o->limit.n; i++)
		if (!strcmp(o->limit.at[i].name, v->arg->a[0]->s) && o->limit.at[i].max < max)
			max = o->limit.at[i].max;
	return max;
}

static void add_size(const Module *m, Function *f, Map *ids, UOp *var, bool bound, bool turn)
{
	const Val *name = var->arg->a[0];

	if (map_get(&f->sized, PKEY(name)))
		return;
	vec_push(&f->size, ((SizeVar){
		.name = name->s,
		.id = identifier_new(ids, &m->ids, name->s),
		.member = turn ? NULL : identifier_new(&f->members, NULL, name->s),
		.var = var,
		.max = var->arg->a[2]->i,
		.bound = bound,
		.turn = turn,
	}));
	map_put(&f->sized, PKEY(name), (void *)(uintptr_t)f->size.n);
}

/* Those of the caller's first, in the document's order. */
static void add_sizes(const Module *m, Function *f, Map *ids, Nodes all)
{
	const Val *vars = f->g->vars;
	const char *err;

	for (size_t i = 0; vars && vars->kind == VAL_MAP && i < vars->n; i++)
		add_size(m, f, ids, vars_find(vars->a[2 * i]->s, vars->a[2 * i]->n), false, false);
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		if (u->op == OP_BIND && list_step(u))
			add_size(m, f, ids, vars_find(u->arg->a[0]->s, u->arg->a[0]->n), true,
				false);
	}
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		const Val *turn = u->op == OP_LOOP && list_step(u) ? val_get(u->arg, "turn") : NULL;
		if (!turn)
			continue;
		add_size(m, f, ids, vars_find(turn->s, turn->n), true, true);
		SizeVar *s = &f->size.at[(uintptr_t)map_get(&f->sized, PKEY(turn)) - 1];
		if (!s->limit && val_get(u->arg, "limit") == val_bool(true))
			s->limit = identifier_new(ids, NULL, arena_printf("%s_limit", s->id));
	}
	/* what a BIND's size may be at most, as its last source says */
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		if (u->op != OP_BIND || !list_step(u))
			continue;
		size_t k = (size_t)(uintptr_t)map_get(&f->sized, PKEY(u->arg->a[0]));
		UOp *most = size_from_val(u->arg->a[2], &err);
		SizeVar *s = &f->size.at[k - 1];
		s->most = !s->most || !most ? most : ix_max(s->most, most);
	}
}

/* Takes each size down to its limits. */
static void limit_sizes(Function *f, const ModuleOptions *o)
{
	for (size_t i = 0; i < f->size.n; i++) {
		SizeVar *s = &f->size.at[i];
		if (s->turn)
			continue;
		s->max = limited(o, s->var);
		if (s->bound && s->max < s->var->arg->a[2]->i)
			s->most = ix_const(s->max);
	}
}

/* Whether f has a size of that name; else near gets those that it has. */
static bool has_limited(const Function *f, const Limit *l, Nearest *near)
{
	bool found = false;

	for (size_t i = 0; i < f->size.n; i++) {
		const SizeVar *s = &f->size.at[i];
		if (s->turn)
			continue;
		if (s->max < s->var->arg->a[1]->i)
			die(USAGE, "--max: %s is at least %lld", s->name,
				(long long)s->var->arg->a[1]->i);
		found |= !strcmp(s->name, l->name);
		nearest_try(near, s->name);
	}
	return found;
}

void limits_check(const Module *m, const ModuleOptions *o)
{
	for (size_t k = 0; k < o->limit.n; k++) {
		Nearest near = {.word = o->limit.at[k].name};
		bool found = false;
		for (size_t i = 0; i < m->function.n; i++)
			found |= has_limited(m->function.at[i], &o->limit.at[k], &near);
		if (!found)
			die(USAGE, "--max: no size is called '%.80s'%s", near.word,
				nearest_hint(&near));
	}
}

/* u for the greatest values of what is bound within the call, as an expression of the caller's
 * sizes; sizes of memory grow with each of them, or else what is bound is checked against it. */
static UOp *greatest(const Function *f, UOp *u)
{
	for (int round = 0; round < 16 && size_is_bound(u); round++)
		for (size_t i = 0; i < f->size.n; i++) {
			const SizeVar *s = &f->size.at[i];
			if (s->bound && s->most)
				u = substitute(u, 1, (UOp *[]){s->var}, (UOp *[]){s->most});
		}
	if (size_is_bound(u))
		die(UNSUPPORTED, "a size depends on itself: there is no greatest one");
	for (size_t i = 0; i < f->size.n; i++) {
		const SizeVar *s = &f->size.at[i];
		const Val *of = s->var->arg;
		if (!s->bound && s->max < of->a[2]->i)
			u = substitute(u, 1, (UOp *[]){s->var},
				(UOp *[]){ix_var(s->name, of->a[1]->i, s->max)});
	}
	return u;
}

void function_sizes(const Function *f)
{
	vars_unbind();
	vars_declare(f->g->vars);
	for (size_t i = 0; i < f->size.n; i++) {
		const UOp *var = f->size.at[i].var;
		if (f->size.at[i].bound)
			vars_bind(var->arg->a[0]->s, var->arg->a[1]->i, var->arg->a[2]->i);
	}
}

/* ---- buffers */

static Place place_of(const UOp *u, bool *keeps)
{
	*keeps = buffer_is(u, "prepared");
	return buffer_is(u, "input") ? PLACE_INPUT : buffer_is(u, "output") ? PLACE_OUTPUT :
		buffer_is(u, "const") ? PLACE_CONST : buffer_is(u, "state") ? PLACE_STATE :
		PLACE_TEMP;
}

static bool is_zero(const Array *a)
{
	const char *p = a->data;

	return !a->bytes || (!*p && !memcmp(p, p + 1, a->bytes - 1));
}

/* A constant's array has the name that it has in the module, its place on a GPU one of its own. */
static void add_content(Module *m, Map *ids, Buffer *b, bool gpu)
{
	if (!shape_static(b->u->shape, &(int64_t){0}))
		die(UNSUPPORTED, "%s: a constant or state whose size is symbolic",
			buffer_name(b->u));
	Array a = constant_content(b->u, NULL);
	if (b->place == PLACE_STATE && is_zero(&a)) {
		b->constant = NO_CONSTANT;
		return;
	}
	b->constant = module_constant(m, ids, b->place == PLACE_CONST ? buffer_name(b->u) :
		arena_printf("%s_first", b->id), &a);
	if (b->place != PLACE_CONST)
		return;
	b->id = m->constant.at[b->constant].id;
	map_put(ids, hash_bytes(b->id, strlen(b->id), 0), (void *)b->id);
	if (gpu)
		b->id = identifier_new(ids, &m->ids, buffer_name(b->u));
}

/* A constant that is stored narrow, and widened into the workspace once. */
static void add_narrow(Module *m, const Map *ids, Buffer *b, DType to)
{
	Array a = constant_content(b->u, NULL), narrow = constant_narrow(&a, to);

	b->place = PLACE_TEMP;
	b->keeps = true;
	b->constant = module_constant(
		m, ids, arena_printf("%s_%s", buffer_name(b->u), dtype_name(to)), &narrow);
}

static void add_buffer(Module *m, Function *f, Map *ids, UOp *u)
{
	Buffer b = {.u = u, .constant = NO_CONSTANT};

	if (map_get(&f->slot, PKEY(u)))
		return;
	b.place = place_of(u, &b.keeps);
	if (f->narrow && constant_narrows(u))
		add_narrow(m, ids, &b, f->narrow);
	f->widens |= b.place == PLACE_TEMP && b.constant != NO_CONSTANT;
	if (b.place != PLACE_CONST)
		b.id = identifier_new(ids, &m->ids, buffer_name(u));
	b.member = map_get(&f->member, PKEY(u));
	b.bytes = ix_mul(shape_count(u->shape), ix_const(dtype_size(u->dtype)));
	b.bound = size_is_bound(b.bytes);
	b.room = greatest(f, b.bytes);
	if (b.place == PLACE_CONST || b.place == PLACE_STATE)
		add_content(m, ids, &b, f->target);
	f->states |= b.place == PLACE_STATE;
	f->inputs += b.place == PLACE_INPUT;
	f->outputs += b.place == PLACE_OUTPUT;
	vec_push(&f->buffer, b);
	map_put(&f->slot, PKEY(u), (void *)(uintptr_t)f->buffer.n);
}

/* The BUFFER of that role and name; NULL when none is left. */
static UOp *buffer_named(Nodes all, const char *role, const Val *name)
{
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_BUFFER && buffer_is(all.at[i], role) &&
				val_get(all.at[i]->arg, "name") == name)
			return all.at[i];
	return NULL;
}

static void add_named(
	Module *m, Function *f, Map *ids, Nodes all, const char *role, const Val *names)
{
	for (size_t i = 0; names && names->kind == VAL_ARRAY && i < names->n; i++) {
		UOp *u = buffer_named(all, role, names->a[i]);
		if (u)
			add_buffer(m, f, ids, u);
	}
}

static void name_member(Function *f, UOp *u)
{
	if (!map_get(&f->member, PKEY(u)))
		map_put(&f->member, PKEY(u),
			(void *)identifier_new(&f->members, NULL, buffer_name(u)));
}

/* What the caller knows things by: its own names before those that sizes have. */
static void name_members(Function *f, Nodes all)
{
	static const char *const roles[] = {"input", "output", "state"};
	const Val *names[] = {
		val_get(f->g->meta, "inputs"), val_get(f->g->sink->arg, "names"), NULL};

	identifier_new(&f->members, NULL, "weights");
	for (size_t r = 0; r < 3; r++) {
		const Val *in = names[r];
		for (size_t i = 0; in && in->kind == VAL_ARRAY && i < in->n; i++) {
			UOp *u = buffer_named(all, roles[r], in->a[i]);
			if (u)
				name_member(f, u);
		}
		for (size_t i = 0; i < all.n; i++)
			if (all.at[i]->op == OP_BUFFER && buffer_is(all.at[i], roles[r]))
				name_member(f, all.at[i]);
	}
}

/* Inputs and outputs in the document's order, then the others. */
static void add_buffers(Module *m, Function *f, Map *ids, Nodes all)
{
	add_named(m, f, ids, all, "input", val_get(f->g->meta, "inputs"));
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_BUFFER && buffer_is(all.at[i], "input"))
			add_buffer(m, f, ids, all.at[i]);
	add_named(m, f, ids, all, "output", val_get(f->g->sink->arg, "names"));
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_BUFFER)
			add_buffer(m, f, ids, all.at[i]);
}

/* Buffers that APPEND extends have a count. */
static void add_counts(Function *f, Map *ids, Nodes all)
{
	for (size_t i = 0; i < all.n; i++) {
		Buffer *b = all.at[i]->op == OP_APPEND ? function_buffer(f, all.at[i]->src[0]) :
							 NULL;
		if (b && !b->count)
			b->count = identifier_new(ids, NULL, arena_printf("%s_n", b->id));
	}
}

static void mark_returned(Function *f)
{
	for (size_t i = 0; i < f->buffer.n; i++) {
		const Buffer *b = &f->buffer.at[i];
		for (int k = 0; b->place == PLACE_OUTPUT && k < b->u->shape->rank; k++) {
			Nodes in = walk(b->u->shape->dim[k]);
			for (size_t j = 0; j < in.n; j++) {
				const UOp *v = in.at[j];
				if (v->op == OP_VAR && var_is_bound(v))
					f->size.at[(uintptr_t)map_get(&f->sized,
						PKEY(v->arg->a[0])) - 1].returned = true;
			}
		}
	}
}

/* ---- the whole */

static const char *program_target(const UOp *program)
{
	const Val *target = val_get(program->arg, "target");

	return target && target->kind == VAL_STR ? target->s : "";
}

static bool is_gpu(const char *target)
{
	return !strcmp(target, "opencl") || !strcmp(target, "cuda") || !strcmp(target, "metal");
}

const char *document_target(const Graph *g)
{
	Nodes all = walk(g->sink);

	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_PROGRAM && is_gpu(program_target(all.at[i])))
			return program_target(all.at[i]);
	return NULL;
}

static void check_program(const UOp *program, const char *target)
{
	const Val *at = val_get(program->arg, "runtime");
	const char *is = program_target(program);
	bool cpu = !is_gpu(is) && !val_get(program->arg, "local_size") &&
		(!at || val_is_str(at, "cpu"));

	if (target ? strcmp(is, target) : !cpu)
		die(UNSUPPORTED, "kernel %s is for %s, not for %s as others are",
			val_get(program->arg, "name")->s, *is ? is : "another device",
			target ? target : "a CPU");
}

/* Of temporaries: a vector's bytes where kernels have vectors, or arrays there. */
static int64_t align_of(Nodes all, int64_t scratch)
{
	enum { LEAST = 16, VECTOR = 64 };

	if (scratch)
		return VECTOR;
	for (size_t i = 0; i < all.n; i++)
		if (dtype_lanes(all.at[i]->dtype) > 1 || (all.at[i]->op == OP_RANGE &&
			val_is_str(all.at[i]->arg->a[1], "vector")))
			return VECTOR;
	return LEAST;
}

/* The document as a function for target, without its name in the module. */
static Function *function_of(Module *m, Code *code, const Graph *g, const char *name,
	const ModuleOptions *o)
{
	Function *f = arena_alloc(sizeof *f);
	static const char *const reserved[] = {
		"args", "state", "ws", "base", "threads", "weights", "device"};
	Map ids = {0};

	f->name = name;
	f->target = code ? code->target : NULL;
	f->prefix = name ? arena_printf("%s_%s", m->name, name) : m->name;
	f->narrow = o->narrow;
	f->g = g = o->prepare && !code ? g : prepare_now(g);
	Nodes all = walk(g->sink);
	for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
		identifier_new(&ids, NULL, reserved[i]);
	for (size_t i = 0; i < all.n; i++) {
		if (all.at[i]->op != OP_PROGRAM)
			continue;
		check_program(all.at[i], f->target);
		if (code)
			module_add_code(m, code, all.at[i]);
		else
			module_add_kernel(m, all.at[i]);
	}
	f->scratch = code ? 0 : scratch_most(m, f);
	f->align = align_of(all, f->scratch);
	name_members(f, all);
	add_sizes(m, f, &ids, all);
	limit_sizes(f, o);
	add_buffers(m, f, &ids, all);
	add_counts(f, &ids, all);
	mark_returned(f);
	while (f->prepares < g->sink->nsrc && call_prepares(g->sink->src[f->prepares]))
		f->prepares++;
	workspace_plan(f);
	map_free(&ids);
	return f;
}

/* The function of that name, or NULL. */
static Function *function_named(const Module *m, const char *name)
{
	for (size_t i = 0; i < m->function.n; i++) {
		Function *f = m->function.at[i];
		if (f->name == name || (f->name && name && !strcmp(f->name, name)))
			return f;
	}
	return NULL;
}

Function *module_add(Module *m, const Graph *g, const char *name, const ModuleOptions *o)
{
	if (function_named(m, name))
		die(USAGE, "%s: two documents for the CPU", name ? name : m->name);
	Function *f = function_of(m, NULL, g, name, o);
	vec_push(&m->function, f);
	return f;
}

/* ---- for a GPU */

static Code *code_for(Module *m, const char *target)
{
	for (size_t i = 0; i < m->code.n; i++)
		if (!strcmp(m->code.at[i].target, target))
			return &m->code.at[i];
	vec_push(&m->code, ((Code){.target = target}));
	return &m->code.at[m->code.n - 1];
}

/* Whether a program has that in C, with the same type: inputs, outputs and states. */
static bool has_alike(const Function *f, const Buffer *b)
{
	for (size_t i = 0; i < f->buffer.n; i++) {
		const Buffer *o = &f->buffer.at[i];
		if (o->place == b->place && o->member && !strcmp(o->member, b->member))
			return o->u->dtype == b->u->dtype &&
				!strcmp(shape_text(o->u->shape), shape_text(b->u->shape));
	}
	return false;
}

/* Whether all that the caller of f gives and gets, o has. */
static const char *lacks(const Function *o, const Function *f)
{
	for (size_t i = 0; i < f->buffer.n; i++)
		if (f->buffer.at[i].member && !has_alike(o, &f->buffer.at[i]))
			return f->buffer.at[i].member;
	for (size_t i = 0; i < f->size.n; i++) {
		const SizeVar *s = &f->size.at[i], *same = NULL;
		for (size_t k = 0; k < o->size.n; k++)
			if (o->size.at[k].member && s->member &&
				!strcmp(o->size.at[k].member, s->member))
				same = &o->size.at[k];
		if ((!s->bound || s->returned) && (!same || same->max != s->max ||
			same->bound != s->bound || same->returned != s->returned))
			return s->name;
	}
	return NULL;
}

void module_add_variant(Module *m, const Graph *g, const char *name, const ModuleOptions *o)
{
	const char *target = document_target(g), *called = name ? name : m->name;
	Function *f = function_named(m, name);

	if (!strcmp(target, "metal"))
		die(UNSUPPORTED, "%s: it is for metal, not for a CPU, OpenCL or CUDA", called);
	if (!f)
		die(USAGE, "%s: it is only for %s: give the same for the CPU too, as -t clang,%s "
			"or FUNCTION=FILE for each target", called, target, target);
	for (size_t i = 0; i < f->variant.n; i++)
		if (!strcmp(f->variant.at[i]->target, target))
			die(USAGE, "%s: two documents for %s", called, target);
	Function *v = function_of(m, code_for(m, target), g, name, o);
	const char *wrong = lacks(f, v);
	if (wrong || (wrong = lacks(v, f)))
		die(MALFORMED, "%s: '%s' is another for %s than for the CPU", called, wrong,
			target);
	v->places = m->slots;
	m->slots += v->region.n + v->buffer.n;
	vec_push(&f->variant, v);
}
