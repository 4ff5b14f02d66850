/* Sizes as C: what a document says as "(n+21)//22" is (n + 21) / 22 where nothing is negative. */
#include "emit/emit.h"

const char *emit_member(const SizeVar *s) { return arena_printf("args->%s", s->member); }

const char *emit_args_name(const SizeVar *s) { return arena_printf("args.%s", s->member); }

static const char *own_id(const SizeVar *s) { return s->id; }

static bool is_negative(UOp *u)
{
	int64_t low, high;

	ix_bounds(u, &low, &high);
	return low < 0;
}

/* name: of a function below, or NULL; infix: of an operator */
static void pair(Emit *e, UOp *u, const char *function, const char *infix,
	const char *(*name)(const SizeVar *))
{
	if (function)
		buf_printf(e->out, "%s_%s(", e->m->name, function);
	else
		buf_printf(e->out, "(");
	emit_size(e, u->src[0], name);
	buf_printf(e->out, "%s", function ? ", " : infix);
	emit_size(e, u->src[1], name);
	buf_printf(e->out, ")");
}

void emit_size(Emit *e, UOp *u, const char *(*name)(const SizeVar *))
{
	int64_t v;
	size_t k;

	if (!name)
		name = own_id;
	switch (u->op) {
	case OP_CONST:
		CHECK(ix_is_const(u, &v));
		buf_printf(e->out, v > INT32_MAX || v < INT32_MIN ? "INT64_C(%lld)" : "%lld",
			(long long)v);
		return;
	case OP_VAR:
		k = (size_t)(uintptr_t)map_get(&e->f->sized, PKEY(u->arg->a[0]));
		if (!k)
			die(MALFORMED, "the size %s is not known", u->arg->a[0]->s);
		buf_printf(e->out, "%s", name(&e->f->size.at[k - 1]));
		return;
	case OP_ADD: pair(e, u, NULL, " + ", name); return;
	case OP_MUL: pair(e, u, NULL, " * ", name); return;
	case OP_MAX: pair(e, u, "max", NULL, name); return;
	case OP_MIN: pair(e, u, "min", NULL, name); return;
	case OP_FLOORDIV:
		pair(e, u, is_negative(u->src[0]) ? "div" : NULL, " / ", name);
		return;
	case OP_FLOORMOD:
		pair(e, u, is_negative(u->src[0]) ? "mod" : NULL, " % ", name);
		return;
	default:
		die(UNSUPPORTED, "a size with %s", op_name(u->op));
	}
}

void emit_size_val(Emit *e, const Val *v)
{
	const char *err = NULL;
	UOp *u = size_from_val(v, &err);

	if (!u)
		die(MALFORMED, "%s", err ? err : "not a size");
	emit_size(e, u, NULL);
}

void emit_size_helpers(Buf *out, const char *storage, const char *prefix, const char *text)
{
	static const struct { const char *name, *body; } helper[] = {
		{"max", "return a > b ? a : b;"},
		{"min", "return a < b ? a : b;"},
		{"div", "return a / b - (a % b < 0);"},
		{"mod", "return a % b + (a % b < 0 ? b : 0);"},
	};

	for (size_t i = 0; i < sizeof helper / sizeof *helper; i++) {
		const char *name = arena_printf("%s_%s(", prefix, helper[i].name);
		if (strstr(text, name))
			buf_printf(out, "%s int64_t %sint64_t a, int64_t b)\n{\n\t%s\n}\n\n",
				storage, name, helper[i].body);
	}
}
