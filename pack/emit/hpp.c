/* NAME.hpp: the same functions in C++17, by references to arrays that know their shapes.
 *
 *     using IN0_t = Buffer<float, 64, 8>;   using OUT0_t = …   struct WS_t {…};
 *     int call(const IN0_t &x, OUT0_t &y, WS_t &ws);
 *
 * Where a size is symbolic, views take the place of buffers: sizes come from their shapes. */
#include "emit/emit.h"

enum { COLUMNS = 100 };

static bool is_static(const Buffer *b)
{
	int64_t n;

	return shape_static(b->u->shape, &n);
}

/* Whether all that f takes and gives has known sizes, and its workspace begins without them. */
static bool all_static(const Module *m, const Function *f)
{
	for (size_t i = 0; i < f->inputs + f->outputs; i++)
		if (!is_static(&f->buffer.at[i]))
			return false;
	return f->fixed && !init_takes_args(m, f);
}

static const char *std_type(DType d)
{
	const char *t = type_name(d);

	return strchr(t, '_') ? arena_printf("std::%s", t) : t;
}

/* ---- types */

/* "IN0_t", "OUT2_t" */
static const char *alias_of(const Function *f, size_t i)
{
	return i < f->inputs ? arena_printf("IN%zu_t", i) : arena_printf("OUT%zu_t", i - f->inputs);
}

static void put_alias(Buf *out, const Function *f, size_t i, bool whole)
{
	const Buffer *b = &f->buffer.at[i];
	const Shape *s = b->u->shape;
	int64_t n;

	buf_printf(out, "using %s = ", alias_of(f, i));
	if (whole) {
		buf_printf(out, "Buffer<%s", std_type(b->u->dtype));
		for (int k = 0; k < s->rank && ix_is_const(s->dim[k], &n); k++)
			buf_printf(out, ", %lld", (long long)n);
		buf_printf(out, ">;  /* %s */\n", b->member);
	} else {
		buf_printf(out, "View<%s%s, %d>;  /* %s: %s */\n",
			b->place == PLACE_INPUT ? "const " : "", std_type(b->u->dtype), s->rank,
			b->member, emit_shape(b));
	}
}

/* ---- sparse outputs */

static void put_numbers(Buf *out, const char *type, const char *name, const Val *bytes)
{
	size_t n = bytes && bytes->kind == VAL_BIN ? bytes->n / 4 : 0, column = COLUMNS;
	int32_t v;

	buf_printf(out, "\tstatic constexpr %s %s[] = {", type, name);
	for (size_t i = 0; i < n; i++) {
		memcpy(&v, bytes->s + 4 * i, 4);
		const char *text = arena_printf("%d,", (int)v);
		buf_printf(out, "%s%s", column + strlen(text) + 1 > COLUMNS - 16 ? "\n\t\t" : " ",
			text);
		column = column + strlen(text) + 1 > COLUMNS - 16 ? strlen(text) :
								    column + strlen(text) + 1;
	}
	buf_printf(out, n ? "\n\t};\n" : "0};\n");
}

/* meta.sparse of the output: trace/README.md */
static void put_pattern(Buf *out, const Function *f, size_t i)
{
	const Buffer *b = &f->buffer.at[i];
	const Val *all = val_get(f->g->meta, "sparse"), *p = val_get(all, buffer_name(b->u));
	const Val *shape = val_get(p, "shape"), *rows = val_get(p, "indices");
	const Val *colours = val_get(p, "colours");

	if (!p || !shape || shape->kind != VAL_ARRAY || shape->n != 2)
		return;
	buf_printf(out,
		"/* %s is a sparse matrix: its values by columns (CSC). */\nstruct OUT%zu_pattern "
		"{\n"
		"\tstatic constexpr std::int64_t rows = %lld, columns = %lld, nonzeros = %lld;\n",
		b->member, i - f->inputs, (long long)shape->a[0]->i, (long long)shape->a[1]->i,
		(long long)(rows && rows->kind == VAL_BIN ? rows->n / 4 : 0));
	if (colours && colours->kind == VAL_INT)
		buf_printf(out, "\tstatic constexpr int colours = %lld;\n", (long long)colours->i);
	put_numbers(out, "std::int32_t", "indptr", val_get(p, "indptr"));
	put_numbers(out, "std::int32_t", "indices", rows);
	buf_printf(out, "};\n");
}

/* ---- functions */

static const char *further_parameters(const Module *m)
{
	return arena_printf("%s%s", m->weights == WEIGHTS_FILE ? ", const void *weights" : "",
		m->threads == THREADS_NONE ? "" :
			arena_printf(", const %s_threads *threads = nullptr", m->name));
}

/* The input that tells size s: "x.shape[1]"; NULL when none does. */
static const char *place_of_size(const Function *f, const SizeVar *s)
{
	for (size_t i = 0; i < f->inputs; i++) {
		const Buffer *b = &f->buffer.at[i];
		for (int k = 0; k < b->u->shape->rank; k++)
			if (b->u->shape->dim[k] == s->var)
				return arena_printf("%s.shape[%d]", b->member, k);
	}
	return NULL;
}

/* The structure of arguments, filled. */
static void put_args(Buf *out, const Module *m, const Function *f)
{
	buf_printf(out, "\t::%s_args args{};\n", f->prefix);
	for (size_t i = 0; i < f->size.n; i++) {
		const SizeVar *s = &f->size.at[i];
		const char *at = s->bound ? NULL : place_of_size(f, s);
		if (!s->bound)
			buf_printf(out, "\targs.%s = %s;\n", s->member, at ? at : s->member);
	}
	for (size_t i = 0; i < f->inputs + f->outputs; i++)
		buf_printf(out, "\targs.%s = %s.data;\n", f->buffer.at[i].member,
			f->buffer.at[i].member);
	if (m->weights == WEIGHTS_FILE)
		buf_printf(out, "\targs.weights = weights;\n");
}

static void put_parameters(Buf *out, const Function *f)
{
	const char *comma = "";

	for (size_t i = 0; i < f->size.n; i++) {
		const SizeVar *s = &f->size.at[i];
		if (s->bound || place_of_size(f, s))
			continue;
		buf_printf(out, "%sstd::int64_t %s", comma, s->member);
		comma = ", ";
	}
	for (size_t i = 0; i < f->inputs + f->outputs; i++, comma = ", ")
		buf_printf(out, "%s%s%s &%s", comma, i < f->inputs ? "const " : "", alias_of(f, i),
			f->buffer.at[i].member);
	if (f->states)
		buf_printf(out, "%sSTATE_t &state", comma);
}

/* Sizes of views agree with those that were taken, which the function itself checks, and outputs'
 * shapes become what they are. */
static void put_shapes(Emit *e, bool before)
{
	const Function *f = e->f;

	for (size_t i = 0; i < f->inputs + f->outputs; i++) {
		const Buffer *b = &f->buffer.at[i];
		bool input = i < f->inputs;
		for (int k = 0; k < b->u->shape->rank; k++) {
			UOp *dim = b->u->shape->dim[k];
			if (input != before)
				continue;
			buf_printf(e->out,
				input ? "\tif (%s.shape[%d] != " : "\t%s.shape[%d] = ", b->member,
				k);
			emit_size(e, dim, emit_args_name);
			buf_printf(e->out, input ? ")\n\t\treturn %s_SIZE;\n" : ";\n", e->m->name);
		}
	}
}

static void put_call(Buf *out, const Module *m, const Function *f, bool whole)
{
	const char *state = f->states ? "&state, " : "", *threads =
		m->threads == THREADS_NONE ? "" : ", threads";
	Emit e = {.out = out, .m = m, .f = f};

	buf_printf(out, "inline int call(");
	put_parameters(out, f);
	buf_printf(out, "%s%s%s)\n{\n", f->inputs + f->outputs || f->states ? ", " : "",
		whole ? "WS_t &ws" : "void *ws", further_parameters(m));
	put_args(out, m, f);
	if (!whole)
		put_shapes(&e, true);
	if (whole) {
		buf_printf(out, "\treturn ::%s_call(&args, %s%s%s);\n}\n", f->prefix, state,
			"ws.bytes", threads);
		return;
	}
	buf_printf(out,
		"\tconst int error = ::%s_call(&args, %sws%s);\n\tif (error)\n\t\treturn error;\n",
		f->prefix, state, threads);
	put_shapes(&e, false);
	buf_printf(out, "\treturn ::%s_OK;\n}\n", m->name);
}

/* The workspace of a function whose sizes are known; else its size, and how it begins. */
static void put_workspace(Buf *out, const Module *m, const Function *f, bool whole)
{
	bool args = init_takes_args(m, f);

	if (f->states)
		buf_printf(out,
			"using STATE_t = ::%s_state;\n"
			"inline void init_state(STATE_t &state) { ::%s_init_state(&state); }\n",
			f->prefix, f->prefix);
	if (whole) {
		buf_printf(out,
			"struct WS_t {\n\talignas(%s_WS_ALIGN) unsigned char bytes[%s_WS_BYTES ? "
			"%s_WS_BYTES%s : 1];\n};\n",
			f->prefix, f->prefix, f->prefix, m->threads == THREADS_NONE || !f->scratch ?
			"" : arena_printf(" + (%s_THREADS - 1) * %s_THREAD_BYTES", m->name,
				f->prefix));
		buf_printf(out, "inline int init_ws(WS_t &ws) { return ::%s_init_ws(ws.bytes); }\n",
			f->prefix);
		return;
	}
	const char *bytes = f->fixed ? arena_printf("%s_WS_BYTES", f->prefix) :
		arena_printf("::%s_ws_bytes(&args)", f->prefix);
	buf_printf(out, "inline std::int64_t ws_bytes(const ::%s_args &%s) { return %s; }\n",
		f->prefix, f->fixed ? "" : "args", bytes);
	buf_printf(out, "inline int init_ws(const ::%s_args &%s, void *ws) { return "
		"::%s_init_ws(%sws); }\n", f->prefix, args ? "args" : "", f->prefix,
		args ? "&args, " : "");
}

static void put_function(Buf *out, const Module *m, const Function *f)
{
	bool whole = all_static(m, f);

	function_sizes(f);
	if (f->name)
		buf_printf(out, "\nnamespace %s {\n", f->name);
	buf_printf(out, "\n");
	for (size_t i = 0; i < f->inputs + f->outputs; i++)
		put_alias(out, f, i, whole);
	for (size_t i = f->inputs; i < f->inputs + f->outputs; i++)
		put_pattern(out, f, i);
	put_workspace(out, m, f, whole);
	put_call(out, m, f, whole);
	if (f->name)
		buf_printf(out, "}\n");
}

void emit_hpp(Buf *out, const Module *m)
{
	Buf body = {0};

	buf_printf(out,
		"/* %s.hpp: made by sluice pack. This code is yours. C++17. */\n#pragma once\n"
		"#include \"%s.h\"\n#include <array>\n#include <cstddef>\n#include <cstdint>\n\n",
		m->name, m->name);
	if (m->threads != THREADS_NONE)
		buf_printf(out,
			"/* How many threads a WS_t has memory for. */\n#ifndef %s_THREADS\n"
			"#define %s_THREADS 16\n#endif\n\n", m->name, m->name);
	buf_printf(out, "namespace %s {\n", m->name);
	emit_template(out, m, "buffer");
	for (size_t i = 0; i < m->function.n; i++)
		put_function(&body, m, m->function.at[i]);
	buf_printf(out, "\n");
	emit_size_helpers(out, "inline", m->name, buf_str(&body));
	buf_add(out, buf_str(&body), body.n);
	buf_free(&body);
	buf_printf(out, "\n}\n");
}
