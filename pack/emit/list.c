/* A list of calls, copies and steps as statements of C.
 *
 *     CALL r_64 y x w          →   r_64(y, x, w, n, 0, (n + 7) / 8);
 *     BIND t ["T", 0, "n"]     →   T = t[0]; if (T < 0 || T > n) return NAME_DATA;
 *     SWAP a b                 →   swap pointers
 *     LOOP, IF                 →   for, if
 *
 * On a GPU (device.c) buffers are places in its memory, and all of them exchange those. */
#include "emit/emit.h"
#include <stdarg.h>

void emit_line(Emit *e, const char *fmt, ...)
{
	va_list ap;

	for (int i = 0; i < e->tabs; i++)
		buf_add(e->out, "\t", 1);
	va_start(ap, fmt);
	buf_vprintf(e->out, fmt, ap);
	va_end(ap);
	buf_add(e->out, "\n", 1);
}

void emit_start(Emit *e)
{
	for (int i = 0; i < e->tabs; i++)
		buf_add(e->out, "\t", 1);
}

static const char *id_of(const Emit *e, const UOp *u) { return function_buffer(e->f, u)->id; }

/* The number that u is. */
static const char *number_of(const Emit *e, const UOp *u)
{
	return e->f->target ? arena_printf("%s_read(device, %s, %d)", e->m->name, id_of(e, u),
		(int)dtype_size(u->dtype)) : arena_printf("%s[0]", id_of(e, u));
}

/* ---- calls and copies */

/* The next kernel may store other types where this one's were, which compilers that inline both
 * and go by types would take for other memory. */
static void emit_barrier(Emit *e)
{
	if (e->f->retyped)
		emit_line(e, "%s_BARRIER;", e->m->name);
}

static void emit_call(Emit *e, const UOp *call)
{
	const UOp *program = call->src[0];
	const Val *vars = val_get(program->arg, "vars"),
		  *grid = val_get(program->arg, "global_size");

	if (e->f->target) {
		emit_launch(e, call);
		return;
	}
	const Kernel *k = module_kernel(e->m, program);
	if (grid && grid->kind == VAL_ARRAY && grid->n && e->m->threads != THREADS_NONE) {
		emit_shared_call(e, call, k);
		emit_barrier(e);
		return;
	}
	emit_start(e);
	buf_printf(e->out, "%s(", k->id);
	for (uint32_t i = 1; i < call->nsrc; i++)
		buf_printf(e->out, "%s%s", i > 1 ? ", " : "", id_of(e, call->src[i]));
	for (size_t i = 0; vars && vars->kind == VAL_ARRAY && i < vars->n; i++) {
		buf_printf(e->out, ", ");
		emit_size_val(e, vars->a[i]);
	}
	if (grid && grid->kind == VAL_ARRAY && grid->n) {
		buf_printf(e->out, ", 0, ");
		emit_size_val(e, grid->a[0]);
	}
	buf_printf(e->out, k->scratch ? ", scratch);\n" : ");\n");
	emit_barrier(e);
}

static void emit_bytes(Emit *e, const UOp *u)
{
	if (!e->f->target)
		buf_printf(e->out, "(size_t)");
	UOp *bytes = function_buffer(e->f, u)->bytes;
	bool paren = !ix_is_const(bytes, &(int64_t){0});
	buf_printf(e->out, paren ? "(" : "");
	emit_size(e, bytes, NULL);
	buf_printf(e->out, paren ? ")" : "");
}

static void emit_copy(Emit *e, const UOp *to, const UOp *from)
{
	emit_start(e);
	if (e->f->target)
		buf_printf(e->out, "%s_copy(device, %s, 0, %s, ", e->m->name, id_of(e, to),
			id_of(e, from));
	else
		buf_printf(e->out, "memcpy(%s, %s, ", id_of(e, to), id_of(e, from));
	emit_bytes(e, from);
	buf_printf(e->out, ");\n");
}

/* ---- steps */

/* Whether all sizes that v mentions are known. */
static bool is_known(const Emit *e, const Val *v)
{
	const char *err = NULL;
	UOp *u = size_from_val(v, &err);
	Nodes all = u ? walk(u) : (Nodes){0};

	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_VAR && !map_get(&e->known, PKEY(all.at[i]->arg->a[0])))
			return false;
	return u != NULL;
}

void emit_checks(Emit *e)
{
	size_t left = 0;

	for (size_t i = 0; i < e->checks.n; i++) {
		const Val *row = e->checks.at[i];
		bool equal = val_is_str(row->a[0], "eq");
		if (!is_known(e, row->a[1]) || !is_known(e, row->a[2])) {
			e->checks.at[left++] = row;
			continue;
		}
		emit_start(e);
		buf_printf(e->out, "if (");
		emit_size_val(e, row->a[1]);
		buf_printf(e->out, equal ? " != " : " > ");
		emit_size_val(e, row->a[2]);
		buf_printf(e->out, ")\n");
		e->tabs++;
		emit_line(e, "return %s_SIZE;", e->m->name);
		e->tabs--;
	}
	e->checks.n = left;
}

/* What is bound fits the memory that was set aside, where that is not plain from its bounds. */
static void emit_room(Emit *e, const Val *name)
{
	for (size_t i = 0; i < e->f->buffer.n; i++) {
		const Buffer *b = &e->f->buffer.at[i];
		bool mentions = false;
		Nodes in = b->bound && b->place == PLACE_TEMP ? walk(b->bytes) : (Nodes){0};
		for (size_t k = 0; k < in.n; k++)
			mentions |= in.at[k]->op == OP_VAR && in.at[k]->arg->a[0] == name;
		if (!mentions || !is_known(e, size_to_val(b->bytes)) ||
			ix_prove_le(b->bytes, b->room))
			continue;
		emit_start(e);
		buf_printf(e->out, "if (");
		emit_size(e, b->bytes, NULL);
		buf_printf(e->out, " > ");
		emit_size(e, b->room, NULL);
		buf_printf(e->out, ")\n");
		e->tabs++;
		emit_line(e, "return %s_SIZE;", e->m->name);
		e->tabs--;
	}
}

static void emit_bind(Emit *e, const UOp *u)
{
	const Val *name = u->arg->a[0];
	const SizeVar *s = &e->f->size.at[(uintptr_t)map_get(&e->f->sized, PKEY(name)) - 1];

	map_put(&e->known, PKEY(name), (void *)s);
	emit_line(e, "%s = %s;", s->id, number_of(e, u->src[0]));
	emit_start(e);
	buf_printf(e->out, "if (%s < ", s->id);
	emit_size_val(e, u->arg->a[1]);
	buf_printf(e->out, " || %s > ", s->id);
	emit_size_val(e, u->arg->a[2]);
	if (s->max < s->var->arg->a[2]->i)
		buf_printf(e->out, " || %s > %lld", s->id, (long long)s->max);
	buf_printf(e->out, ")\n");
	e->tabs++;
	emit_line(e, "return %s_SIZE;", e->m->name);
	e->tabs--;
	emit_room(e, name);
	emit_checks(e);
}

/* Stacks that a loop's own region extends are empty when it begins. */
static void emit_stacks(Emit *e, const UOp *region)
{
	for (uint32_t i = 0; i < region->nsrc; i++) {
		const UOp *u = region->src[i];
		if (u->op == OP_APPEND)
			emit_line(e, "%s = 0;", function_buffer(e->f, u->src[0])->count);
		for (uint32_t k = 0; list_step(u) && u->op == OP_IF && k < u->nsrc; k++)
			if (u->src[k]->op == OP_REGION)
				emit_stacks(e, u->src[k]);
	}
}

static void emit_region(Emit *e, const UOp *region)
{
	const Val *rows = val_get(region->arg, "checks");
	size_t before = e->checks.n;

	for (size_t i = 0; rows && rows->kind == VAL_ARRAY && i < rows->n; i++)
		vec_push(&e->checks, rows->a[i]);
	e->tabs++;
	emit_checks(e);
	emit_list(e, region, 0, region->nsrc);
	e->tabs--;
	e->checks.n = e->checks.n < before ? e->checks.n : before;
}

static void emit_loop(Emit *e, const UOp *u)
{
	const Val *turn = val_get(u->arg, "turn");
	const Val *limited = val_get(u->arg, "limit"), *when = val_get(u->arg, "while");
	bool limit = limited && limited->b, while_ = when && when->b;
	const SizeVar *s = &e->f->size.at[(uintptr_t)map_get(&e->f->sized, PKEY(turn)) - 1];
	const UOp *region = u->src[u->nsrc - 1];
	const char *t = s->id;

	map_put(&e->known, PKEY(turn), (void *)s);
	emit_stacks(e, region);
	if (limit)
		emit_line(e, "%s = %s;", s->limit, number_of(e, u->src[0]));
	emit_start(e);
	buf_printf(e->out, "for (%s = 0; ", t);
	if (limit)
		buf_printf(e->out, "%s < %s%s", t, s->limit, while_ ? " && " : "");
	if (while_)
		buf_printf(e->out, "(%s ? %s : %s)", t, number_of(e, u->src[limit + 1]),
			number_of(e, u->src[limit]));
	buf_printf(e->out, "; %s++) {\n", t);
	emit_region(e, region);
	emit_line(e, "}");
	const UOp *turns = u->src[u->nsrc - 2];
	if (e->f->target)
		emit_line(e, "%s_write(device, %s, %d, %s);", e->m->name, id_of(e, turns),
			(int)dtype_size(turns->dtype), t);
	else
		emit_line(e, "%s[0] = %s;", id_of(e, turns), t);
}

static void emit_if(Emit *e, const UOp *u)
{
	emit_line(e, "if (%s) {", number_of(e, u->src[0]));
	emit_region(e, u->src[1]);
	if (u->src[2]->nsrc) {
		emit_line(e, "} else {");
		emit_region(e, u->src[2]);
	}
	emit_line(e, "}");
}

/* Temporaries exchange their places, outputs, which are the caller's, their bytes. */
static void emit_swap(Emit *e, const UOp *u)
{
	const Buffer *a = function_buffer(e->f, u->src[0]), *b = function_buffer(e->f, u->src[1]);

	if (a->place == PLACE_TEMP || e->f->target) {
		emit_line(e, "{");
		emit_line(e, "\t%s *const other = %s;",
			e->f->target ? "void" : type_name(a->u->dtype), a->id);
		emit_line(e, "\t%s = %s;", a->id, b->id);
		emit_line(e, "\t%s = other;", b->id);
		emit_line(e, "}");
		return;
	}
	emit_start(e);
	buf_printf(e->out, "%s_swap(%s, %s, ", e->m->name, a->id, b->id);
	emit_bytes(e, a->u);
	buf_printf(e->out, ");\n");
}

static void emit_append(Emit *e, const UOp *u)
{
	const Buffer *a = function_buffer(e->f, u->src[0]), *b = function_buffer(e->f, u->src[1]);

	emit_start(e);
	if (e->f->target)
		buf_printf(e->out, "%s_copy(device, %s, %s * ", e->m->name, a->id, a->count);
	else
		buf_printf(e->out, "memcpy(%s + %s * ", a->id, a->count);
	emit_size(e, e->f->target ? b->bytes : shape_count(b->u->shape), NULL);
	buf_printf(e->out, ", %s, ", b->id);
	emit_bytes(e, b->u);
	buf_printf(e->out, ");\n");
	emit_line(e, "%s++;", a->count);
}

void emit_list(Emit *e, const UOp *list, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		const UOp *u = list->src[i];
		switch (u->op) {
		case OP_CALL: emit_call(e, u); break;
		case OP_MEMCPY:
		case OP_TAKE: emit_copy(e, u->src[0], u->src[1]); break;
		case OP_BIND: emit_bind(e, u); break;
		case OP_LOOP: emit_loop(e, u); break;
		case OP_IF: emit_if(e, u); break;
		case OP_SWAP: emit_swap(e, u); break;
		case OP_APPEND: emit_append(e, u); break;
		default: die(UNSUPPORTED, "a list with %s", op_name(u->op));
		}
	}
}
