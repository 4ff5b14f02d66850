/* One C-like printer for all dialects: statements here, expressions in expr.c.
 *
 *     void r_64_32(float *restrict y, const float *restrict a)
 *     {
 *         for (long r0 = 0; r0 < 64; r0++) {
 *             float acc0 = 0.0f;
 *             …
 *
 * Languages differ in a row of spellings (Dialect); each op has the contract's meaning in all of
 * them. */
#include "index/ix.h"
#include "shape/shape.h"
#include "target/target.h"
#include "print/print.h"
#include <stdarg.h>
#include <stdlib.h>

void print_line(Printer *p, const char *fmt, ...)
{
	va_list ap;
	for (int i = 0; i < p->indent; i++)
		buf_add(p->out, "\t", 1);
	va_start(ap, fmt);
	buf_vprintf(p->out, fmt, ap);
	va_end(ap);
	buf_add(p->out, "\n", 1);
}

static const char *type(const Printer *p, DType d) { return p->d->type[d]; }
/* the type of a buffer's elements: a bool is a byte there */
static const char *stored_type(const Printer *p, DType d)
{
	return type(p, d == DT_BOOL ? DT_U8 : d);
}

static const char *expr(Printer *p, UOp *u)
{
	return expr_text(p, u).s;
}

/* ---- statements */

static void print_let(Printer *p, UOp *u)
{
	const char *value = expr(p, u->src[0]), *name = arena_printf("v%d", p->lets++);
	print_line(p, "const %s %s = %s;", value_type(p, u), name, value);
	name_put(p, u, name);
}

/* acc += x, where the store has that form and the arithmetic is C's own */
static const char *updating(const Printer *p, const UOp *store)
{
	const UOp *v = store->src[1];
	bool plain = dtype_float(v->dtype) ?
		dtype_size(v->dtype) >= 4 :
		p->d->wraps && dtype_int(v->dtype) && dtype_size(v->dtype) >= 4;
	if (!plain || v->nsrc < 2 || !loads_place(v->src[0], store))
		return NULL;
	bool sum = op_info[v->op].c == C_SUM && op_info[v->op].commutes;
	return sum ? arena_printf("%s=", op_info[v->op].c_text) : NULL;
}

/* acc = mulacc(a, b, acc), for a sum with the term a*b */
static const char *summing(Printer *p, UOp *store)
{
	const UOp *term = store->src[1]->src[1];
	const char *fn = store->src[1]->op == OP_ADD && term->op == OP_MUL ?
		helper_mulacc(&p->helpers, term->dtype) :
		NULL;
	if (!fn)
		return NULL;
	const char *a = expr(p, term->src[0]), *b = expr(p, term->src[1]);
	return arena_printf("%s(%s, %s, %s)", fn, a, b, expr_place(p, store->src[0]));
}

static const char *exchange(Printer *p, UOp *u)
{
	if (!p->d->exchange)
		die(UNSUPPORTED, "node %u EXCHANGE: target %s has none", u->id, p->d->target);
	return arena_printf(p->d->exchange, expr(p, u->src[0]), (int)u->arg->i);
}

static void print_store(Printer *p, UOp *u)
{
	p->gate = u->nsrc > 2 ? u->src[2] : NULL;
	if (p->gate) {
		print_line(p, "if (%s) {", expr(p, u->src[2]));
		p->indent++;
	}
	const char *op = updating(p, u);
	expr(p, u->src[0]);
	const char *sum = op ? summing(p, u) : NULL;
	const char *value = sum ? sum : u->src[1]->op == OP_EXCHANGE ? exchange(p, u->src[1]) :
		expr(p, op ? u->src[1]->src[1] : u->src[1]);
	print_line(p, "%s %s %s;", expr_place(p, u->src[0]), op && !sum ? op : "=", value);
	if (p->gate) {
		p->indent--;
		print_line(p, "}");
	}
	p->gate = NULL;
}

static const char *range_name(const Printer *p, const UOp *u)
{
	int axis = range_axis(u);
	for (size_t i = 0; i < p->open.n; i++)
		if (range_axis(p->open.at[i]) == axis)
			return arena_printf("r%dx%zu", axis, p->open.n);
	return arena_printf("r%d", axis);
}

static void print_range(Printer *p, UOp *u)
{
	const char *size = expr_text(p, u->src[0]).s, *name = range_name(p, u),
		   *t = value_type(p, u);
	if (expr_text(p, u->src[0]).prec < PREC_ADD)
		size = arena_printf("(%s)", size);
	print_line(p, "for (%s %s = 0; %s < %s; %s++) {", t, name, name, size, name);
	name_put(p, u, name);
	vec_push(&p->open, u);
	p->indent++;
}

/* A single accumulator and its first value are printed on one line. */
static bool print_reg(Printer *p, UOp *u, UOp *next)
{
	const char *name = arena_printf("acc%d", p->regs++);
	int64_t n = storage_elements(u);
	bool starts = n == 1 && next && next->op == OP_STORE && next->src[0]->src[0] == u &&
		is_const(next->src[1]);
	name_put(p, u, name);
	if (vector_reg(p, u, name))
		return false;
	if (starts)
		print_line(p, "%s %s = %s;", type(p, u->dtype), name, expr(p, next->src[1]));
	else if (n == 1)
		print_line(p, "%s %s;", type(p, u->dtype), name);
	else
		print_line(p, "%s%s %s[%lld];", p->d->aligned, type(p, u->dtype), name,
			(long long)n);
	return starts;
}

static void print_local(Printer *p, UOp *u)
{
	bool shared = u->arg->n > 2 && val_is_str(u->arg->a[2], "local");
	const char *name = arena_printf("buf%d", p->bufs++);
	print_line(p, "%s%s %s[%lld];", shared ? p->d->local : p->d->aligned, type(p, u->dtype),
		name, (long long)storage_elements(u));
	name_put(p, u, name);
}

static void print_prefetch(Printer *p, UOp *u)
{
	if (!p->d->prefetch || u->src[0]->src[0]->op != OP_PARAM)
		return;
	expr_text(p, u->src[0]);
	print_line(p, "%s(&%s%s);", p->d->prefetch, expr_place(p, u->src[0]),
		val_is_str(u->arg, "store")  ? ", 1" :
			val_is_str(u->arg, "second") ? ", 0, 2" :
						       "");
}

/* ---- neighbours that are moved at once */

/* Is the place a multiple of n, plus the range? Registers' and groups' arrays are aligned. */
static bool moves_along(UOp *index, UOp *range, int64_t n)
{
	int64_t rest;
	UOp *base = index->nsrc == 2 ? ix_sub(ix_plain(index->src[1]), range) : NULL;
	Sum s;
	if (!base || ix_wild(base) || !ix_is_const(ix_mod(base, ix_const(n)), &rest) || rest)
		return false;
	sum_of(&s, index->src[1]);
	return sum_coef(&s, range) == 1;
}

/* The type of n elements side by side. */
static const char *move_type(Printer *p, DType d, int64_t n)
{
	const char *name = arena_printf("%sx%lld", dtype_name(d), (long long)n);
	if (!helper_have(&p->helpers, name))
		helper_put(&p->helpers, name, arena_printf("typedef struct %s{ %s at[%lld]; "
			"} %s;\n", arena_printf(p->d->move, (int)n * dtype_size(d)),
			stored_type(p, d), (long long)n, name));
	return name;
}

static const char *moved(Printer *p, UOp *index, UOp *range, const char *t)
{
	UOp *storage = index->src[0], *first = ix_sub(index->src[1], range);
	const char *space = storage->op == OP_PARAM ? p->d->pointer : "";
	UOp *place = NODE(OP_INDEX, index->dtype, VNIL, storage, first);
	expr_text(p, first);
	return arena_printf("*(%s%s *)&%s", space, t, expr_place(p, place));
}

/* The loop at i as one access, when it moves neighbours, all or none, between a register and a
 * buffer of a language that has such accesses (lower/wide.c); returns how many statements that
 * took, or 0. */
static uint32_t print_move(Printer *p, uint32_t i)
{
	UOp *range = p->kernel->src[i], *s = i + 2 < p->kernel->nsrc ? p->kernel->src[i + 1] : NULL;
	if (!p->d->move || !val_is_str(range->arg->a[1], "vector") || !s || s->op != OP_STORE ||
		p->kernel->src[i + 2]->op != OP_ENDRANGE || s->src[1]->op != OP_LOAD)
		return 0;
	UOp *to = s->src[0], *from = s->src[1]->src[0], *gate = s->nsrc > 2 ? s->src[2] : NULL;
	UOp *buffer = to->src[0]->op == OP_PARAM ? to : from, *reg = buffer == to ? from : to;
	int64_t n = ix_is_const(range->src[0], &n) ? n : 0;
	bool own = s->src[1]->nsrc == 1 || s->src[1]->src[1] == gate;
	own &= !gate || substitute(gate, 1, &range, (UOp *[]){ix_const(0)}) == gate;
	if (buffer->src[0]->op != OP_PARAM || reg->src[0]->op != OP_DEFINE_REG || !own || n < 2 ||
		n * dtype_size(to->dtype) > target->access || to->dtype == DT_BOOL || n & (n - 1) ||
		!moves_along(to, range, n) || !moves_along(from, range, n))
		return 0;
	p->texts->round++;
	const char *t = move_type(p, to->dtype, n), *test = gate ? expr(p, gate) : NULL;
	print_line(p, "%s%s%s%s = %s;", gate ? "if (" : "", gate ? test : "", gate ? ") " : "",
		moved(p, to, range, t), moved(p, from, range, arena_printf("const %s", t)));
	return 3;
}

/* Prints statement i; returns how many statements that took. */
static uint32_t print_statement(Printer *p, uint32_t i)
{
	UOp *u = p->kernel->src[i], *next = i + 1 < p->kernel->nsrc ? p->kernel->src[i + 1] : NULL;
	uint32_t moved_by = u->op == OP_RANGE ? print_move(p, i) : 0;
	if (moved_by)
		return moved_by;
	p->texts->round++;
	places_begin(p, i);
	places_declare(p, u);
	if (vector_statement(p, u))
		return 1;
	switch (u->op) {
	case OP_LET: print_let(p, u); break;
	case OP_STORE: print_store(p, u); break;
	case OP_RANGE: print_range(p, u); break;
	case OP_IF:
		print_line(p, "if (%s) {", expr(p, u->src[0]));
		p->indent++;
		break;
	case OP_ENDRANGE:
		p->open.n--;
		/* fall through */
	case OP_ENDIF:
		p->indent--;
		print_line(p, "}");
		break;
	case OP_DEFINE_REG: return 1 + print_reg(p, u, next);
	case OP_DEFINE_LOCAL: print_local(p, u); break;
	case OP_BARRIER: print_line(p, "%s", p->d->barrier); break;
	case OP_PREFETCH: print_prefetch(p, u); break;
	default: die(MALFORMED, "node %u %s: is no statement", u->id, op_name(u->op));
	}
	return 1;
}

/* ---- the function */

static const char *size_param(const Printer *p, const char *name, size_t at)
{
	if (p->d->attributes)
		return arena_printf("constant long &%s [[buffer(%zu)]]", name, at);
	return arena_printf("const %s %s", type(p, DT_I64), name);
}

void cstyle_head(Printer *p, Buf *out, const char *name)
{
	const char *comma = "";
	buf_printf(out, "%s %s(", p->d->kernel, name);
	for (int k = 0; k < p->slots; k++) {
		DType dt = p->call->src[1 + k]->dtype;
		bool input = !is_stored(p, k);
		buf_printf(out, "%s%s%s%s *%s%s%s", comma, p->d->pointer, input ? "const " : "",
			stored_type(p, dt), p->restricted ? p->d->restricted : "",
			p->restricted && *p->d->restricted ? " " : "", p->slot_name[k]);
		if (p->d->attributes)
			buf_printf(out, " [[buffer(%d)]]", k);
		comma = ", ";
	}
	for (size_t i = 0; i < p->vars.n; i++, comma = ", ")
		buf_printf(out, "%s%s", comma,
			size_param(p, p->var_name[i], p->slots + i));
	if (p->from)
		buf_printf(out, "%sconst %s %s, const %s %s", comma, type(p, DT_I64), p->from,
			type(p, DT_I64), p->to);
	else if (p->d->attributes)
		buf_printf(out, "%suint3 group_at [[threadgroup_position_in_grid]], "
			"uint3 item_at [[thread_position_in_threadgroup]]", comma);
	else if (!*comma)
		buf_printf(out, "void");
	buf_printf(out, ")\n{");
}

/* ---- grids */

/* opens the loop over items, if the kernel has a grid */
static void print_items(Printer *p, const Nodes *all)
{
	const char *name = p->from ? name_unique(&p->used, "gidx0") : NULL;
	UOp *item = name_item(p, all, name);
	const char *t = item ? value_type(p, item) : type(p, DT_I64);
	const char *cast = item && is_narrow(p, item) ? arena_printf("(%s)", t) : "";
	if (!name)
		return;
	print_line(p, "for (%s %s = %s%s; %s < %s%s; %s++) {", t, name, cast, p->from, name, cast,
		p->to, name);
	p->indent++;
}

/* the grid places that the kernel uses */
static void print_specials(Printer *p, const Nodes *all)
{
	for (size_t i = 0; i < all->n; i++) {
		UOp *u = all->at[i];
		if (u->op != OP_SPECIAL)
			continue;
		const char *s = u->arg->s;
		bool group = !strncmp(s, "gidx", 4), item = !strncmp(s, "lidx", 4);
		if (!(group || item) || u->arg->n != 5 || s[4] < '0' || s[4] > '2' ||
			!p->d->group_id[0])
			die(MALFORMED, "node %u SPECIAL: is no place in a grid of target %s", u->id,
				p->d->target);
		int d = s[4] - '0';
		const char *name = map_get(&p->used, PKEY(u->arg));
		if (!name) {
			name = name_unique(&p->used, s);
			print_line(p, "const %s %s = %s;", value_type(p, u), name,
				group ? p->d->group_id[d] : p->d->item_id[d]);
		}
		name_put(p, u, name);
	}
}

/* The function that run calls on a CPU: it takes buffers and size variables as two arrays, and the
 * range of items; a kernel without a grid is a single item. */
void cstyle_caller(Printer *p, const char *name)
{
	const char *comma = "", *unused[4], *t = type(p, DT_I64);
	size_t n = 0;
	if (!p->slots)
		unused[n++] = "bufs";
	if (!p->vars.n)
		unused[n++] = "vars";
	if (!p->from) {
		unused[n++] = "from";
		unused[n++] = "to";
	}
	buf_printf(p->out, "\n");
	print_line(p, "void %s_call(void *const *bufs, const %s *vars, %s from, %s to)", name, t,
		t, t);
	print_line(p, "{");
	for (size_t i = 0; i < n; i++)
		print_line(p, "\t(void)%s;", unused[i]);
	buf_printf(p->out, "\t%s(", name);
	for (int k = 0; k < p->slots; k++, comma = ", ")
		buf_printf(p->out, "%s(%s%s *)bufs[%d]", comma, is_stored(p, k) ? "" : "const ",
			stored_type(p, p->call->src[1 + k]->dtype), k);
	for (size_t i = 0; i < p->vars.n; i++, comma = ", ")
		buf_printf(p->out, "%svars[%zu]", comma, i);
	buf_printf(p->out, "%s);\n}\n", !p->from ? "" : *comma ? ", from, to" : "from, to");
}

/* The size variables that fit into the type of places, in that type. */
static void print_narrow_vars(Printer *p)
{
	for (size_t i = 0; i < p->vars.n; i++) {
		UOp *u = p->vars.at[i];
		const char *name, *t = value_type(p, u);
		if (!is_narrow(p, u))
			continue;
		name = name_unique(&p->used, arena_printf("%s_i32", p->var_name[i]));
		print_line(p, "const %s %s = (%s)%s;", t, name, t, p->var_name[i]);
		name_put(p, u, name);
	}
}

void cstyle_body(Printer *p, const Nodes *all)
{
	if (p->d->lanes)
		vectors_begin(p);
	p->indent = 1;
	print_narrow_vars(p);
	p->d->on_cpu ? print_items(p, all) : print_specials(p, all);
	for (uint32_t i = 0; i < p->kernel->nsrc;)
		i += print_statement(p, i);
	p->indent = 1;
	if (p->from)
		print_line(p, "}");
	vectors_fence(p);
	p->indent = 0;
	if (p->d->lanes)
		vectors_end(p);
}
