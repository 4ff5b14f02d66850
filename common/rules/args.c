/* Args in rules: the array in [ ] after an op is its arg.
 *
 *     SCAN[f, axis](x): n -> SCAN[f, axis + 1](x)    RESHAPE[*shape](x): n -> RESHAPE[n, *shape](x)
 *
 * A value is an integer, a string, true, false, a variable or an array of values; the last may be *
 * and a variable, which stands for the rest of the array. On the right side an integer may be added
 * to a variable: to its number, or to each number of its list; and a node that is a size may be
 * used as that size. */
#include "rules/parser.h"
#include <ctype.h>
#include <stdlib.h>

enum { MAX_ITEMS = 8 };
typedef enum { ARG_LITERAL, ARG_VAR, ARG_ARRAY } ArgKind;
struct ArgEx {
	ArgKind kind;
	Val literal;
	int var;
	int64_t add;
	bool rest;              /* *variable */
	int n;
	ArgEx *item[MAX_ITEMS];
};

/* ---- text */

static int64_t integer(RuleParser *p)
{
	char text[24], *stop;
	size_t n = 0;
	while (p->at < p->end && n < sizeof text - 1 &&
		(isalnum((unsigned char)*p->at) || (!n && *p->at == '-')))
		text[n++] = *p->at++;
	text[n] = 0;
	int64_t i = strtoll(text, &stop, 0);
	if (!n || *stop)
		parse_bad(p, "not an integer");
	return i;
}

static Val string(RuleParser *p)
{
	const char *from = p->at, *stop = memchr(from, '"', p->end - from);
	if (!stop)
		parse_bad(p, "expected \"");
	char *s = xcalloc(1, stop - from + 1);
	memcpy(s, from, stop - from);
	p->at = stop + 1;
	return (Val){.kind = VAL_STR, .n = stop - from, .s = s};
}

/* A variable; on the right side, possibly with a number added to it. */
static void variable(RuleParser *p, ArgEx *e, const char *name)
{
	if (!islower((unsigned char)*name))
		parse_bad(p, "expected a value: an integer, a string or a variable");
	e->kind = ARG_VAR;
	e->var = parse_variable(p, name, true);
	if (p->right && parse_eat(p, "+")) {
		parse_eat(p, " ");
		e->add = integer(p);
	}
}

static ArgEx *value(RuleParser *p)
{
	ArgEx *e = xcalloc(1, sizeof *e);
	if (parse_eat(p, "["))
		return arg_parse(p);
	if (parse_eat(p, "\"")) {
		e->literal = string(p);
		return e;
	}
	e->rest = parse_eat(p, "*");
	if (!e->rest && p->at < p->end && (isdigit((unsigned char)*p->at) || *p->at == '-')) {
		e->literal = (Val){.kind = VAL_INT, .i = integer(p)};
		return e;
	}
	const char *w = parse_word(p);
	if (!e->rest && (!strcmp(w, "true") || !strcmp(w, "false")))
		e->literal = (Val){.kind = VAL_BOOL, .b = *w == 't'};
	else
		variable(p, e, w);
	return e;
}

ArgEx *arg_parse(RuleParser *p)
{
	ArgEx *e = xcalloc(1, sizeof *e);
	e->kind = ARG_ARRAY;
	if (++p->depth > NESTING)
		parse_bad(p, "nested too deep");
	while (!parse_eat(p, "]")) {
		if (e->n && !parse_eat(p, ","))
			parse_bad(p, "expected , or ]");
		if (e->n == MAX_ITEMS)
			parse_bad(p, "too many values");
		if (!p->right && e->n && e->item[e->n - 1]->rest)
			parse_bad(p, "nothing stands behind the rest of an array");
		e->item[e->n++] = value(p);
	}
	p->depth--;
	return e;
}

/* ---- matching an arg */

static bool literal_is(const Val *want, const Val *v)
{
	if (want->kind != v->kind)
		return false;
	switch (want->kind) {
	case VAL_BOOL: return want->b == v->b;
	case VAL_INT: return want->i == v->i;
	default: return val_is_str(v, want->s);
	}
}

static bool bind(Bound *b, const Val *v)
{
	if (!b->value)
		b->value = v;
	return b->value == v;
}

bool arg_match(const ArgEx *e, const Val *arg, Bound *env)
{
	if (e->kind == ARG_LITERAL)
		return literal_is(&e->literal, arg);
	if (e->kind == ARG_VAR)
		return bind(&env[e->var], arg);
	if (arg->kind != VAL_ARRAY)
		return false;
	bool rest = e->n && e->item[e->n - 1]->rest;
	size_t n = e->n - rest;
	if (rest ? arg->n < n : arg->n != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!arg_match(e->item[i], arg->a[i], env))
			return false;
	return !rest || bind(&env[e->item[n]->var], val_array(arg->n - n, arg->a + n));
}

/* ---- building an arg */

static const Val *added(const Val *v, int64_t add)
{
	int64_t sum;
	if (v->kind != VAL_INT || !add_ok(v->i, add, &sum))
		die(MALFORMED, "+ %lld: not to an integer", (long long)add);
	return val_int(sum);
}

static const Val *variable_value(const ArgEx *e, const Bound *env)
{
	const Val *v = env[e->var].value;
	if (!v)
		v = size_to_val(env[e->var].node);
	if (!e->add)
		return v;
	if (v->kind != VAL_ARRAY)
		return added(v, e->add);
	const Val **item = arena_alloc((v->n + 1) * sizeof *item);
	for (size_t i = 0; i < v->n; i++)
		item[i] = added(v->a[i], e->add);
	return val_array(v->n, item);
}

static const Val *literal_value(const Val *v)
{
	switch (v->kind) {
	case VAL_BOOL: return val_bool(v->b);
	case VAL_INT: return val_int(v->i);
	default: return val_strn(v->s, v->n);
	}
}

const Val *arg_build(const ArgEx *e, const Bound *env)
{
	VEC(const Val *) items = {0};
	if (e->kind != ARG_ARRAY)
		return e->kind == ARG_LITERAL ? literal_value(&e->literal) : variable_value(e, env);
	for (int i = 0; i < e->n; i++) {
		const Val *v = arg_build(e->item[i], env);
		if (e->item[i]->rest && v->kind != VAL_ARRAY)
			die(MALFORMED, "* stands before what is no array");
		for (size_t k = 0; e->item[i]->rest && k < v->n; k++)
			vec_push(&items, v->a[k]);
		if (!e->item[i]->rest)
			vec_push(&items, v);
	}
	const Val *r = val_array(items.n, items.at);
	vec_free(&items);
	return r;
}
