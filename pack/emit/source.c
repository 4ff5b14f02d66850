/* NAME.c: constants, kernels and functions. */
#include "emit/emit.h"

/* Text that may stand in a comment. */
static const char *comment_text(const char *s)
{
	char *r = arena_strdup(s);

	for (char *p = r; *p; p++)
		if ((*p == '*' && p[1] == '/') || (*p == '/' && p[1] == '*') ||
			(unsigned char)*p < 32)
			*p = '_';
	return r;
}

/* ---- the workspace */

/* The place of region r: a number, or the sum of those before. */
static void put_offset(Emit *e, size_t r)
{
	const Region *at = &e->f->region.at[r];

	if (at->offset >= 0)
		buf_printf(e->out, "%lld", (long long)at->offset);
	else
		buf_printf(e->out, "at_%zu", r);
}

/* Where each region begins, when sizes are symbolic. */
static void put_regions(Emit *e)
{
	const Function *f = e->f;

	for (size_t i = 0; !f->fixed && i < f->region.n; i++) {
		buf_printf(e->out, "\tconst int64_t at_%zu = ", i);
		if (i) {
			buf_printf(e->out, "at_%zu + ", i - 1);
			emit_size(e, f->region.at[i - 1].bytes, NULL);
		} else {
			buf_printf(e->out, "0");
		}
		buf_printf(e->out, ";\n");
	}
}

static void put_ws_bytes(Emit *e)
{
	const Function *f = e->f;

	buf_printf(e->out, "int64_t %s_ws_bytes(const %s_args *args)\n{\n\treturn ", f->prefix,
		f->prefix);
	for (size_t i = 0; i < f->region.n; i++) {
		buf_printf(e->out, i ? " +\n\t\t" : "");
		emit_size(e, f->region.at[i].bytes, emit_member);
	}
	buf_printf(e->out, f->region.n ? ";\n}\n\n" : "(void)args, 0;\n}\n\n");
}

/* ---- what a body of C begins with */

/* The buffers that entries of a list use, below its steps too. */
typedef struct { Map used; } Uses;

static void find_uses(Uses *s, const UOp *list, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		const UOp *u = list->src[i];
		for (uint32_t k = 0; k < u->nsrc; k++)
			if (u->src[k]->op == OP_REGION)
				find_uses(s, u->src[k], 0, u->src[k]->nsrc);
			else if (u->src[k]->op == OP_BUFFER)
				map_put(&s->used, PKEY(u->src[k]), u->src[k]);
	}
}

static bool is_swapped(const Function *f, const UOp *u)
{
	Nodes all = walk(f->g->sink);

	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_SWAP && (all.at[i]->src[0] == u || all.at[i]->src[1] == u))
			return true;
	return false;
}

static void put_pointer(Emit *e, const Buffer *b)
{
	const char *type = type_name(b->u->dtype);
	bool moves = b->place == PLACE_TEMP && is_swapped(e->f, b->u);

	if (e->f->target)
		emit_place(e, b);
	else if (b->place == PLACE_INPUT)
		emit_line(e, "const %s *const %s = args->%s;", type, b->id, b->member);
	else if (b->place == PLACE_OUTPUT)
		emit_line(e, "%s *const %s = args->%s;", type, b->id, b->member);
	else if (b->place == PLACE_STATE)
		emit_line(e, "%s *const %s = state->%s;", type, b->id, b->member);
	else if (b->place == PLACE_CONST)
		emit_weight_place(e, b);
	else {
		buf_printf(e->out, "\t%s *%s%s = (%s *)(void *)(base + ", type,
			moves ? "" : "const ", b->id, type);
		put_offset(e, b->region);
		buf_printf(e->out, ");\n");
	}
}

/* Whether some constant comes from a file. */
static bool uses_file(const Emit *e, const Uses *s)
{
	for (size_t i = 0; i < e->f->buffer.n && e->m->weights == WEIGHTS_FILE; i++) {
		const Buffer *b = &e->f->buffer.at[i];
		if (b->constant != NO_CONSTANT && b->place != PLACE_STATE &&
			e->m->constant.at[b->constant].offset >= 0 && map_get(&s->used, PKEY(b->u)))
			return true;
	}
	return false;
}

static void put_guards(Emit *e)
{
	const Function *f = e->f;

	if (f->region.n && !f->target)
		emit_line(e, "if ((uintptr_t)ws %% %lld)\n\t\treturn %s_ALIGN;",
			(long long)f->align, e->m->name);
	else if (!f->target)
		emit_line(e, "(void)ws;");
	for (size_t i = 0; i < f->size.n; i++) {
		const SizeVar *v = &f->size.at[i];
		if (!v->bound)
			emit_line(e, "if (%s < %lld || %s > %lld)\n\t\treturn %s_SIZE;", v->id,
				(long long)v->var->arg->a[1]->i, v->id,
				(long long)v->max, e->m->name);
	}
	emit_checks(e);
}

static void put_scratch(Emit *e)
{
	buf_printf(e->out, "\tunsigned char *const scratch = base + ");
	put_offset(e, e->f->region.n - 1);
	buf_printf(e->out, ";\n");
	emit_line(e, "(void)scratch;");
}

/* Sizes, conditions on them, pointers: what the entries from … to-1 need. On a GPU conditions are
 * checked here, for what is copied there has these sizes. */
static void put_start(Emit *e, size_t from, size_t to)
{
	const Function *f = e->f;
	const Val *rows = val_get(f->g->meta, "checks");
	bool temps = false;
	Uses s = {0};

	find_uses(&s, f->g->sink, from, to);
	for (size_t i = 0; i < f->buffer.n && !from; i++)
		if (to == f->prepares && f->buffer.at[i].place == PLACE_TEMP &&
			f->buffer.at[i].constant != NO_CONSTANT)
			map_put(&s.used, PKEY(f->buffer.at[i].u), f->buffer.at[i].u);
	for (size_t i = 0; i < f->buffer.n; i++)
		temps |= f->buffer.at[i].place == PLACE_TEMP &&
			map_get(&s.used, PKEY(f->buffer.at[i].u));
	if ((temps || f->scratch) && !f->target)
		emit_line(e, "unsigned char *const base = (unsigned char *)ws;");
	for (size_t i = 0; i < f->size.n; i++) {
		const SizeVar *v = &f->size.at[i];
		if (v->bound || (to == f->prepares && f->fixed))
			continue;
		emit_line(e, "const int64_t %s = args->%s;", v->id, v->member);
		map_put(&e->known, PKEY(v->var->arg->a[0]), (void *)v);
	}
	for (size_t i = 0; rows && rows->kind == VAL_ARRAY && i < rows->n; i++)
		vec_push(&e->checks, rows->a[i]);
	if (f->target)
		put_guards(e);
	else
		put_regions(e);
	if (f->scratch)
		put_scratch(e);
	if (uses_file(e, &s))
		emit_line(e, "const unsigned char *const weights = "
			"(const unsigned char *)args->weights;");
	for (size_t i = 0; i < f->buffer.n; i++)
		if (map_get(&s.used, PKEY(f->buffer.at[i].u)))
			put_pointer(e, &f->buffer.at[i]);
	for (size_t i = 0; i < f->size.n && to > f->prepares; i++) {
		const SizeVar *v = &f->size.at[i];
		if (v->bound)
			emit_line(e, "int64_t %s = 0;", v->id);
		if (v->limit)
			emit_line(e, "int64_t %s = 0;", v->limit);
	}
	for (size_t i = 0; i < f->buffer.n; i++)
		if (f->buffer.at[i].count)
			emit_line(e, "int64_t %s = 0;", f->buffer.at[i].count);
	map_free(&s.used);
}

static void put_returned(Emit *e)
{
	for (size_t i = 0; i < e->f->size.n; i++)
		if (e->f->size.at[i].returned)
			emit_line(
				e, "args->%s = %s;", e->f->size.at[i].member, e->f->size.at[i].id);
}

/* ---- functions */

static void put_init_state(Emit *e)
{
	const Function *f = e->f;

	buf_printf(e->out, "void %s_init_state(%s_state *state)\n{\n", f->prefix, f->prefix);
	e->tabs = 1;
	for (size_t i = 0; i < f->buffer.n; i++) {
		const Buffer *b = &f->buffer.at[i];
		if (b->place == PLACE_STATE && b->constant == NO_CONSTANT)
			emit_line(
				e, "memset(state->%s, 0, sizeof state->%s);", b->member, b->member);
		else if (b->place == PLACE_STATE)
			emit_line(e, "memcpy(state->%s, %s, sizeof state->%s);", b->member,
				e->m->constant.at[b->constant].id, b->member);
	}
	buf_printf(e->out, "}\n\n");
}

/* Constants that are stored narrow, into their places. */
static void put_widening(Emit *e)
{
	for (size_t i = 0; i < e->f->buffer.n; i++) {
		const Buffer *b = &e->f->buffer.at[i];
		if (b->place != PLACE_TEMP || b->constant == NO_CONSTANT)
			continue;
		const Constant *c = &e->m->constant.at[b->constant];
		emit_line(e, "%s_widen(%s, %s, %lld, %d);", e->m->name, b->id,
			emit_constant_at(e->m, c), (long long)array_count(&c->at),
			c->at.dtype == DT_BF16);
	}
}

static void put_init_ws(Emit *e)
{
	const Function *f = e->f;

	buf_printf(e->out, "int %s_init_ws(%svoid *ws)\n{\n", f->prefix,
		init_takes_args(e->m, f) ? arena_printf("const %s_args *args, ", f->prefix) : "");
	e->tabs = 1;
	if (f->prepares || f->widens) {
		put_start(e, 0, f->prepares);
		e->checks.n = 0;
	} else if (init_takes_args(e->m, f)) {
		emit_line(e, "(void)args;");
	}
	if (f->region.n)
		emit_line(e, "if ((uintptr_t)ws %% %lld)\n\t\treturn %s_ALIGN;",
			(long long)f->align, e->m->name);
	else
		emit_line(e, "(void)ws;");
	put_widening(e);
	if (f->prepares && e->m->threads != THREADS_NONE)
		emit_line(e, "const %s_threads *const threads = NULL;\n\t(void)threads;",
			e->m->name);
	emit_list(e, f->g->sink, 0, f->prepares);
	emit_line(e, "return %s_OK;", e->m->name);
	buf_printf(e->out, "}\n\n");
}

static bool has_grid(const Function *f)
{
	Nodes all = walk(f->g->sink);

	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_PROGRAM && val_get(all.at[i]->arg, "global_size"))
			return true;
	return false;
}

static void put_call(Emit *e)
{
	const Function *f = e->f;

	buf_printf(e->out, "%s\n{\n", emit_call_head(e->m, f));
	e->tabs = 1;
	put_start(e, f->prepares, f->g->sink->nsrc);
	put_guards(e);
	if (e->m->threads != THREADS_NONE && !has_grid(f))
		emit_line(e, "(void)threads;");
	emit_list(e, f->g->sink, f->prepares, f->g->sink->nsrc);
	put_returned(e);
	emit_line(e, "return %s_OK;", e->m->name);
	buf_printf(e->out, "}\n");
}

/* The same on a GPU. */
static void put_variant(Buf *out, const Module *m, const Function *f)
{
	Emit e = {.out = out, .m = m, .f = f, .tabs = 1};
	Uses s = {0};

	function_sizes(f);
	buf_printf(out, "\nstatic int %s_on_%s(%s_device *device, %s_args *args%s)\n{\n",
		f->prefix, f->target, m->name, f->prefix,
		f->states ? arena_printf(", %s_state *state", f->prefix) : "");
	find_uses(&s, f->g->sink, f->prepares, f->g->sink->nsrc);
	put_start(&e, f->prepares, f->g->sink->nsrc);
	emit_list(&e, f->g->sink, f->prepares, f->g->sink->nsrc);
	for (size_t i = 0; i < f->buffer.n; i++)
		if (map_get(&s.used, PKEY(f->buffer.at[i].u)))
			emit_fetch(&e, &f->buffer.at[i]);
	put_returned(&e);
	emit_line(&e, "return %s_OK;", m->name);
	buf_printf(out, "}\n");
	map_free(&s.used);
}

static void put_function(Buf *out, const Module *m, const Function *f)
{
	Emit e = {.out = out, .m = m, .f = f};

	function_sizes(f);
	if (!f->fixed)
		put_ws_bytes(&e);
	if (f->states)
		put_init_state(&e);
	put_init_ws(&e);
	e = (Emit){.out = out, .m = m, .f = f};
	put_call(&e);
	for (size_t i = 0; i < f->variant.n; i++)
		put_variant(out, m, f->variant.at[i]);
	if (m->code.n)
		emit_call_on(out, m, f);
}

static void put_helpers(Buf *out, const Module *m, const char *text)
{
	if (strstr(text, arena_printf("%s_BARRIER", m->name)))
		emit_template(out, m, "barrier");
	emit_size_helpers(out, "static", m->name, text);
	if (strstr(text, arena_printf("%s_widen(", m->name)))
		emit_template(out, m, "widen");
	if (strstr(text, arena_printf("%s_swap(", m->name)))
		buf_printf(out, "static void %s_swap(void *a, void *b, size_t n)\n{\n"
			"\tunsigned char *p = (unsigned char *)a, *q = (unsigned char *)b;\n\n"
			"\tfor (size_t i = 0; i < n; i++) {\n\t\tconst unsigned char x = p[i];\n"
			"\t\tp[i] = q[i];\n\t\tq[i] = x;\n\t}\n}\n\n", m->name);
}

/* A kernel, and where threads may share its items its caller, which is static too. */
static void put_kernel(Buf *out, const Module *m, const Kernel *k)
{
	const Val *grid = val_get(k->program->arg, "global_size");

	buf_printf(out, "%s\n", k->src);
	if (m->threads != THREADS_NONE && grid && grid->kind == VAL_ARRAY && grid->n)
		buf_printf(out, "%s%s\n", strncmp(k->caller, "static ", 7) ? "static " : "",
			k->caller);
}

void emit_source(Buf *out, const Module *m)
{
	Buf body = {0};

	buf_printf(out, "/* %s.c: made by sluice pack. This code is yours. */\n", m->name);
	buf_printf(out, "#include \"%s.h\"\n#include <math.h>\n#include <string.h>\n\n",
		m->code.n ? arena_printf("%s_device", m->name) : m->name);
	buf_printf(out,
		"#ifdef __cplusplus\n#ifndef restrict\n#define restrict "
		"__restrict\n#endif\n#endif\n\n");
	emit_weights_source(out, m);
	for (size_t i = 0; i < m->constant.n; i++) {
		if (m->constant.at[i].offset >= 0)
			continue;
		buf_printf(out, "/* %s */\n", comment_text(m->constant.at[i].note));
		emit_constant(out, &m->constant.at[i]);
		buf_printf(out, "\n");
	}
	for (size_t i = 0; i < m->kernel.n; i++)
		put_kernel(out, m, &m->kernel.at[i]);
	emit_device_code(out, m);
	for (size_t i = 0; i < m->function.n; i++) {
		buf_printf(&body, i ? "\n" : "");
		put_function(&body, m, m->function.at[i]);
	}
	put_helpers(out, m, buf_str(&body));
	if (strstr(buf_str(&body), arena_printf("%s_share(", m->name)))
		emit_threads_source(out, m);
	buf_add(out, buf_str(&body), body.n);
	buf_free(&body);
}
