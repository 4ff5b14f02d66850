/* Text of a .rules file → rules.
 *
 *     x * 0 -> 0   if exact(x)        pattern -> replacement [if condition(var), …]
 *
 * A lower-case name is a variable: it matches any node, the same node wherever it stands again. OP(…) and infix spellings
 * match that op (either order where it commutes), a number matches a constant of that value and sign, ANY any node. On the
 * right stand the same things, `self` (the node that matched), and function(self), a C function of rule_functions.c that
 * returns the replacement or declines. An op on the right takes its arg from self.
 *
 *     EXP2(x): g -> g * self * ln2    op of variables: g -> the part of each source, `none` for a source without
 *     REDUCE: reduce                  op: the name of a pair of functions of C
 *
 * is a derivative; a file holds rules or derivatives. */
#include "rules/rule.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

enum { NESTING = 50 };

typedef struct {
	const char *at, *end, *line, *file;
	int number, depth;
	Rule *rule;
	bool right;
	const RuleCallRow *calls;    /* of a file of derivatives, else NULL */
} Parser;

static _Noreturn void bad(Parser *p, const char *why)
{
	die(MALFORMED, "%s:%d:%d: %s", p->file, p->number, (int)(p->at - p->line) + 1, why);
}

static void skip(Parser *p)
{
	while (p->at < p->end && (*p->at == ' ' || *p->at == '\t'))
		p->at++;
}

static bool eat(Parser *p, const char *s)
{
	size_t n = strlen(s);
	skip(p);
	if ((size_t)(p->end - p->at) < n || memcmp(p->at, s, n))
		return false;
	p->at += n;
	return true;
}

static bool peek(Parser *p, const char *s)
{
	const char *at = p->at;
	bool yes = eat(p, s);
	p->at = at;
	return yes;
}

static Ex *ex_new(ExKind kind)
{
	Ex *e = xcalloc(1, sizeof *e);
	e->kind = kind;
	return e;
}

static const char *word(Parser *p)
{
	const char *from = p->at;
	while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '_'))
		p->at++;
	char *s = xcalloc(1, p->at - from + 1);
	memcpy(s, from, p->at - from);
	return s;
}

static Ex *expression(Parser *p);

static Ex *number(Parser *p, bool negative)
{
	char text[64], *stop;
	size_t n = 0;
	bool is_float = false;
	while (p->at < p->end && n < sizeof text - 1 && (isalnum((unsigned char)*p->at) || *p->at == '.')) {
		is_float |= *p->at == '.' || *p->at == 'e';
		text[n++] = *p->at++;
	}
	text[n] = 0;
	Ex *e = ex_new(EX_LITERAL);
	if (is_float) {
		double d = strtod(text, &stop);
		e->literal = val_float(negative ? -d : d);
	} else {
		long long i = strtoll(text, &stop, 0);
		e->literal = val_int(negative ? -i : i);
	}
	if (*stop)
		bad(p, "not a number");
	return e;
}

static int variable(Parser *p, const char *name)
{
	Rule *r = p->rule;
	for (int i = 0; i < r->nvars; i++)
		if (!strcmp(r->var[i], name))
			return i;
	if (p->right)
		bad(p, "the replacement has a variable that the pattern has not");
	if (r->nvars == MAX_VARS)
		bad(p, "too many variables");
	r->var[r->nvars] = name;
	return r->nvars++;
}

/* The function of that name, on the right side only. */
static bool function(Parser *p, Ex *e, const char *name)
{
	if (!p->right)
		return false;
	if (!p->calls)
		return (e->fn = rule_function(name)) != NULL;
	for (const RuleCallRow *c = p->calls; c->name; c++)
		if (!strcmp(c->name, name))
			e->call = c->fn;
	return e->call != NULL;
}

static Ex *call(Parser *p, const char *name)
{
	int op = op_find(name);
	Ex *e = ex_new(EX_OP);
	if (op < 0 && !function(p, e, name))
		bad(p, "no such op or function");
	e->kind = op < 0 ? EX_FUNCTION : EX_OP;
	e->op = op < 0 ? 0 : op;
	while (!eat(p, ")")) {
		if (e->nsrc && !eat(p, ","))
			bad(p, "expected , or )");
		if (e->nsrc == 8)
			bad(p, "too many sources");
		e->src[e->nsrc++] = expression(p);
	}
	return e;
}

static Ex *constant(const Val *v)
{
	Ex *e = ex_new(EX_LITERAL);
	e->literal = v;
	return e;
}

static Ex *name(Parser *p)
{
	const char *w = word(p);
	if (eat(p, "("))
		return call(p, w);
	if (!strcmp(w, "ANY") && !p->right)
		return ex_new(EX_ANY);
	if (!strcmp(w, "self") && p->right)
		return ex_new(EX_SELF);
	if (!strcmp(w, "true") || !strcmp(w, "false"))
		return constant(val_bool(*w == 't'));
	if (!strcmp(w, "inf"))
		return constant(val_float(INFINITY));
	if (!strcmp(w, "pi"))
		return constant(val_float(M_PI));
	if (!strcmp(w, "ln2"))
		return constant(val_float(M_LN2));
	if (!islower((unsigned char)*w))
		bad(p, "a variable is lower case, an op has its sources in ( )");
	Ex *e = ex_new(EX_VAR);
	e->var = variable(p, w);
	return e;
}

static Ex *atom(Parser *p)
{
	skip(p);
	if (++p->depth > NESTING)
		bad(p, "nested too deep");
	Ex *e;
	if (eat(p, "(")) {
		e = expression(p);
		if (!eat(p, ")"))
			bad(p, "expected )");
	} else if (p->at < p->end && *p->at == '-') {
		p->at++;
		skip(p);
		if (p->at < p->end && isdigit((unsigned char)*p->at)) {
			e = number(p, true);
		} else {
			e = ex_new(EX_OP);
			e->op = OP_NEG;
			e->nsrc = 1;
			e->src[0] = atom(p);
		}
	} else if (p->at < p->end && isdigit((unsigned char)*p->at)) {
		e = number(p, false);
	} else if (p->at < p->end && isalpha((unsigned char)*p->at)) {
		e = name(p);
	} else {
		bad(p, "expected a pattern");
	}
	p->depth--;
	return e;
}

/* The op of that strength whose operator stands here; -1: none. */
static int infix_at(Parser *p, int strength)
{
	size_t n;
	skip(p);
	int op = peek(p, "->") ? -1 : op_infix(p->at, p->end - p->at, &n);
	if (op < 0 || (int)op_info[op].precedence != strength)
		return -1;
	p->at += n;
	return op;
}

/* what operators of that strength or tighter join */
static Ex *operators(Parser *p, int strength)
{
	if (strength > INFIX_POWER)
		return atom(p);
	Ex *left = operators(p, strength + 1);
	for (int op; (op = infix_at(p, strength)) >= 0;) {
		Ex *e = ex_new(EX_OP);
		e->op = op;
		e->nsrc = 2;
		e->src[0] = left;
		e->src[1] = operators(p, strength + 1);
		left = e;
	}
	return left;
}

static Ex *expression(Parser *p) { return operators(p, INFIX_COMPARE); }

static void condition(Parser *p)
{
	Rule *r = p->rule;
	Cond c = {.negate = eat(p, "!")};
	skip(p);
	const char *w = word(p);
	c.fn = rule_condition(w);
	if (!c.fn || !eat(p, "("))
		bad(p, "no such condition");
	skip(p);
	c.var = variable(p, word(p));
	if (!eat(p, ")") || r->nconds == MAX_CONDS)
		bad(p, "expected one variable in ( )");
	r->cond[r->nconds++] = c;
}

static bool blank(Parser *p)
{
	skip(p);
	return p->at == p->end || *p->at == '#';
}

static void rewriting(Parser *p, Rule *r)
{
	r->from = expression(p);
	if (r->from->kind != EX_OP && r->from->kind != EX_ANY)
		bad(p, "a pattern starts with an op or ANY");
	if (!eat(p, "->"))
		bad(p, "expected ->");
	p->right = true;
	r->to = expression(p);
	if (eat(p, "if "))
		do
			condition(p);
		while (eat(p, ","));
}

/* Sources are variables, so that the parts are theirs in order. */
static void parts(Parser *p, Rule *r)
{
	for (int i = 0; i < r->from->nsrc; i++)
		if (r->from->src[i]->kind != EX_VAR || r->from->src[i]->var != i)
			bad(p, "the sources are distinct variables");
	skip(p);
	r->g = variable(p, word(p));
	if (r->g != r->from->nsrc || !eat(p, "->"))
		bad(p, "expected : g ->");
	p->right = true;
	do {
		if (r->nparts == r->from->nsrc || r->nparts == MAX_PARTS)
			bad(p, "more parts than sources");
		r->part[r->nparts++] = eat(p, "none") ? NULL : expression(p);
	} while (eat(p, ","));
	if (r->nparts != r->from->nsrc)
		bad(p, "fewer parts than sources");
}

static void derivative(Parser *p, Rule *r)
{
	const char *w = word(p);
	r->from = ex_new(EX_OP);
	if (op_find(w) < 0)
		bad(p, "no such op");
	r->from->op = op_find(w);
	if (eat(p, "("))
		r->from = call(p, w);
	if (!eat(p, ":"))
		bad(p, "expected :");
	skip(p);
	if (r->from->nsrc)
		parts(p, r);
	else
		r->pair = word(p);
}

static void one_line(Parser *p, Rules *rules)
{
	Rule r = {.line = p->number};
	p->rule = &r;
	p->right = false;
	(p->calls ? derivative : rewriting)(p, &r);
	if (!blank(p))
		bad(p, "unexpected text after the rule");
	rules->at = xrealloc(rules->at, (rules->n + 1) * sizeof *rules->at);
	rules->at[rules->n++] = r;
}

static void index_rules(Rules *r)
{
	for (size_t i = 0; i < r->n; i++)
		for (int op = 0; op < OP_COUNT; op++)
			if (r->at[i].from->kind == EX_ANY || r->at[i].from->op == (Op)op)
				vec_push(&r->by_op[op], (int)i);
}

static Rules *parse(const char *text, size_t n, const char *file, const RuleCallRow *calls)
{
	Rules *r = xcalloc(1, sizeof *r);
	const char *end = text + n;
	int number = 0;
	r->file = file;
	while (text < end) {
		const char *stop = memchr(text, '\n', end - text);
		stop = stop ? stop : end;
		Parser p = {.at = text, .end = stop, .line = text, .file = file, .number = ++number, .calls = calls};
		if (!blank(&p))
			one_line(&p, r);
		text = stop + (stop < end);
	}
	index_rules(r);
	return r;
}

Rules *rules_parse(const char *text, size_t n, const char *file) { return parse(text, n, file, NULL); }

Rules *rules_join(const Rules *a, const Rules *b)
{
	Rules *r = xcalloc(1, sizeof *r);
	r->n = a->n + b->n;
	r->file = a->file;
	r->at = xmalloc((r->n + 1) * sizeof *r->at);
	memcpy(r->at, a->at, a->n * sizeof *r->at);
	memcpy(r->at + a->n, b->at, b->n * sizeof *r->at);
	index_rules(r);
	return r;
}

static const struct { const char *name, *text; } builtin[] = {
#include "rules.inc"
	{0}
};

static Rules *find(const char *name, const RuleCallRow *calls)
{
	for (int i = 0; builtin[i].name; i++)
		if (!strcmp(builtin[i].name, name))
			return parse(builtin[i].text, strlen(builtin[i].text), builtin[i].name, calls);
	die(USAGE, "no built-in rules named '%s'", name);
}

Rules *rules_builtin(const char *name) { return find(name, NULL); }

Rules *rules_derivatives(const char *name, const RuleCallRow *calls) { return find(name, calls); }
