/* Text of a .rules file → rules, a line each. The grammar, with an example of each form, is in
 * ../README.md; args, the arrays in [ ], are read by args.c.
 *
 *     x * 0 -> 0   if exact(x)             a rewriting: pattern -> replacement [if …]
 *     low(x) := CAST:u32(x)                a definition, for the right sides below
 *     when lacks                           the rules below are for nodes for which that holds
 *     EXP2(x): g -> g * self * ln2         a row: an op's formula for some stage, given g
 *     REDUCE: reduce                       a row: the name that the stage has for it
 *
 * A file holds rewritings or rows. */
#include "rules/parser.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

/* Expressions in a line, including those of the definitions it uses. */
enum { MAX_SIZE = 1000, MAX_SRC = 8 };

_Noreturn void parse_bad(RuleParser *p, const char *why)
{
	die(MALFORMED, "%s:%d:%d: %s", p->file, p->number, (int)(p->at - p->line) + 1, why);
}

static void skip(RuleParser *p)
{
	while (p->at < p->end && (*p->at == ' ' || *p->at == '\t'))
		p->at++;
}

bool parse_eat(RuleParser *p, const char *s)
{
	skip(p);
	if (p->at == p->end || *p->at != *s)
		return false;
	size_t n = strlen(s);
	if ((size_t)(p->end - p->at) < n || memcmp(p->at, s, n))
		return false;
	p->at += n;
	return true;
}

static bool peek(RuleParser *p, const char *s)
{
	const char *at = p->at;
	bool yes = parse_eat(p, s);
	p->at = at;
	return yes;
}

static void grow(RuleParser *p, int by)
{
	p->size += by;
	if (p->size > MAX_SIZE)
		parse_bad(p, "too large, with the definitions that it uses");
}

static Ex *ex_new(RuleParser *p, ExKind kind)
{
	Ex *e = xcalloc(1, sizeof *e);
	e->kind = kind;
	e->var = NONE;
	e->dtype = DT_NONE;
	e->dtype_of = NONE;
	grow(p, 1);
	return e;
}

const char *parse_word(RuleParser *p)
{
	skip(p);
	const char *from = p->at;
	while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '_'))
		p->at++;
	char *s = xcalloc(1, p->at - from + 1);
	memcpy(s, from, p->at - from);
	return s;
}

static Ex *expression(RuleParser *p, int strength);
static Ex *atom(RuleParser *p);

static Ex *number(RuleParser *p, bool negative)
{
	char text[64], *stop;
	size_t n = 0;
	bool is_float = false;
	while (p->at < p->end && n < sizeof text - 1 &&
		(isalnum((unsigned char)*p->at) || *p->at == '.')) {
		is_float |= *p->at == '.' || (*p->at == 'e' && !(n > 1 && text[1] == 'x'));
		text[n++] = *p->at++;
	}
	text[n] = 0;
	Ex *e = ex_new(p, EX_LITERAL);
	if (is_float) {
		double d = strtod(text, &stop);
		e->literal = (Val){.kind = VAL_FLOAT, .f = negative ? -d : d};
	} else {
		long long i = strtoll(text, &stop, 0);
		e->literal = (Val){.kind = VAL_INT, .i = negative ? -i : i};
	}
	if (*stop)
		parse_bad(p, "not a number");
	return e;
}

int parse_variable(RuleParser *p, const char *name, bool of_arg)
{
	Rule *r = p->rule;
	for (int i = 0; i < r->nvars; i++)
		if (!strcmp(r->var[i], name)) {
			/* the variable after a row's colon may be a size, and occur in an arg */
			if (r->of_arg[i] != of_arg && !(of_arg && p->right && i == r->g))
				parse_bad(p, of_arg ? "a node is no part of an arg" :
					"a part of an arg stands in [ ] alone");
			return i;
		}
	if (p->right)
		parse_bad(p, "the replacement has a variable that the pattern has not");
	if (r->nvars == MAX_VARS)
		parse_bad(p, "too many variables");
	r->var[r->nvars] = name;
	r->of_arg[r->nvars] = of_arg;
	return r->nvars++;
}

/* ---- expressions */

/* The number of values: a definition may have several. */
static int values(const Ex *e) { return e->kind == EX_DEFINED ? e->defined->gives : 1; }

static Ex *one_value(RuleParser *p, Ex *e)
{
	if (values(e) != 1)
		parse_bad(p, "several values stand between ( ) or as a definition's own only");
	return e;
}

/* The operands between ( and ), the ( having been read; returns the number of values. */
static int sources(RuleParser *p, Ex *e)
{
	int n = 0;
	while (!parse_eat(p, ")")) {
		if (e->nsrc && !parse_eat(p, ","))
			parse_bad(p, "expected , or )");
		Ex *src = expression(p, 0);
		n += values(src);
		if (n > MAX_SRC)
			parse_bad(p, "too many sources");
		e->src[e->nsrc++] = src;
	}
	return n;
}

/* After OP: a dtype, or on the right side a variable whose dtype it is. */
static void dtype_said(RuleParser *p, Ex *e)
{
	if (p->at == p->end || *p->at == ' ')
		parse_bad(p, "a row, OP: …, stands in a file of rows only");
	const char *w = parse_word(p);
	e->dtype = dtype_find(w);
	if (e->dtype != DT_NONE)
		return;
	if (!p->right || !islower((unsigned char)*w))
		parse_bad(p, "no such dtype");
	e->dtype_of = parse_variable(p, w, false);
}

static Ex *operation(RuleParser *p, Op op)
{
	Ex *e = ex_new(p, EX_OP);
	e->op = op;
	if (p->at < p->end && *p->at == ':') {
		p->at++;
		dtype_said(p, e);
	}
	if (parse_eat(p, "["))
		e->arg = arg_parse(p);
	if (!parse_eat(p, "("))
		parse_bad(p, "an op has its sources in ( )");
	sources(p, e);
	return e;
}

static const Definition *definition_find(const Rules *r, const char *name)
{
	for (size_t i = 0; i < r->defs.n; i++)
		if (!strcmp(r->defs.at[i]->name, name))
			return r->defs.at[i];
	return NULL;
}

static RuleFn *function_find(const RuleNames *names, const char *name)
{
	for (const RuleFunction *f = names->functions; f && f->name; f++)
		if (!strcmp(f->name, name))
			return f->fn;
	return rule_function(name);
}

/* A rule that names something that this program does not have is left out, if the reader allows
 * it. */
static void unknown(RuleParser *p, const char *why)
{
	if (!p->names->partial)
		parse_bad(p, why);
	p->unknown = true;
}

/* A definition or a function of C, on the right side. */
static Ex *call(RuleParser *p, const char *name)
{
	const Definition *d = p->right ? definition_find(p->rules, name) : NULL;
	Ex *e = ex_new(p, d ? EX_DEFINED : EX_FUNCTION);
	e->defined = d;
	e->fn = !d && p->right ? function_find(p->names, name) : NULL;
	if (!d && !e->fn)
		unknown(p, "no such op, definition or function");
	if (d)
		grow(p, d->size);
	if (sources(p, e) != (d ? d->nparams : 1))
		parse_bad(p, d ? "not as many as the definition has parameters" :
			"a function takes one node");
	return e;
}

static Ex *constant(RuleParser *p, Val v)
{
	Ex *e = ex_new(p, EX_LITERAL);
	e->literal = v;
	return e;
}

static Ex *name(RuleParser *p)
{
	static const struct { const char *name; double value; } numbers[] = {
		{"inf", INFINITY}, {"pi", M_PI}, {"ln2", M_LN2},
	};
	const char *w = parse_word(p);
	if (op_find(w) >= 0)
		return operation(p, op_find(w));
	if (parse_eat(p, "("))
		return call(p, w);
	if (!strcmp(w, "ANY") && !p->right)
		return ex_new(p, EX_ANY);
	if (!strcmp(w, "self") && p->right)
		return ex_new(p, EX_SELF);
	if (!strcmp(w, "true") || !strcmp(w, "false"))
		return constant(p, (Val){.kind = VAL_BOOL, .b = *w == 't'});
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (!strcmp(w, numbers[i].name))
			return constant(p, (Val){.kind = VAL_FLOAT, .f = numbers[i].value});
	if (!islower((unsigned char)*w))
		parse_bad(p, "a variable is lower case, an op is none of these");
	int var = parse_variable(p, w, false);
	bool binds = !p->right && !peek(p, "==") && parse_eat(p, "=");
	Ex *e = binds ? atom(p) : ex_new(p, EX_VAR);
	if (binds && e->var != NONE)
		parse_bad(p, "a name is bound to an op");
	e->var = var;
	return e;
}

static Ex *atom(RuleParser *p)
{
	skip(p);
	if (++p->depth > NESTING)
		parse_bad(p, "nested too deep");
	Ex *e;
	if (parse_eat(p, "(")) {
		e = expression(p, 0);
		if (!parse_eat(p, ")"))
			parse_bad(p, "expected )");
	} else if (p->at < p->end && *p->at == '-') {
		p->at++;
		skip(p);
		if (p->at < p->end && isdigit((unsigned char)*p->at)) {
			e = number(p, true);
		} else {
			e = ex_new(p, EX_OP);
			e->op = OP_NEG;
			e->nsrc = 1;
			e->src[0] = one_value(p, atom(p));
		}
	} else if (p->at < p->end && isdigit((unsigned char)*p->at)) {
		e = number(p, false);
	} else if (p->at < p->end && isalpha((unsigned char)*p->at)) {
		e = name(p);
	} else {
		parse_bad(p, "expected a pattern");
	}
	p->depth--;
	return e;
}

/* The op of the operator that comes next, and the operator's length; -1: none. */
static int infix_here(RuleParser *p, size_t *length)
{
	skip(p);
	return peek(p, "->") ? -1 : op_infix(p->at, p->end - p->at, length);
}

/* Operators of at least that strength; those of equal strength associate to the left. */
static Ex *expression(RuleParser *p, int strength)
{
	Ex *left = atom(p);
	size_t length;
	for (int op;
		(op = infix_here(p, &length)) >= 0 && (int)op_info[op].precedence >= strength;) {
		p->at += length;
		Ex *e = ex_new(p, EX_OP);
		e->op = op;
		e->nsrc = 2;
		e->src[0] = one_value(p, left);
		e->src[1] = one_value(p, expression(p, op_info[op].precedence + 1));
		left = e;
	}
	return left;
}

/* ---- lines */

const CondRow *parse_condition(const RuleNames *names, const char *name)
{
	for (const CondRow *c = names->conditions; c && c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return rule_condition(name);
}

static int condition_arg(RuleParser *p)
{
	const char *w = parse_word(p);
	return strcmp(w, "self") ? parse_variable(p, w, false) : SELF;
}

static void condition(RuleParser *p)
{
	Rule *r = p->rule;
	Cond c = {.negate = parse_eat(p, "!")};
	c.row = parse_condition(p->names, parse_word(p));
	if (!c.row || !parse_eat(p, "("))
		parse_bad(p, "no such condition");
	for (int i = 0; i < c.row->nargs; i++) {
		if (i && !parse_eat(p, ","))
			parse_bad(p, "the condition takes more variables");
		c.arg[i] = condition_arg(p);
	}
	if (!parse_eat(p, ")"))
		parse_bad(p, "expected )");
	if (r->nconds == MAX_CONDS)
		parse_bad(p, "too many conditions");
	r->cond[r->nconds++] = c;
}

static bool blank(RuleParser *p)
{
	skip(p);
	return p->at == p->end || *p->at == '#';
}

static void rewriting(RuleParser *p, Rule *r)
{
	r->from = one_value(p, expression(p, 0));
	if (r->from->kind != EX_OP && r->from->kind != EX_ANY)
		parse_bad(p, "a pattern starts with an op or ANY");
	if (!parse_eat(p, "->"))
		parse_bad(p, "expected ->");
	p->right = true;
	r->to[r->nto++] = one_value(p, expression(p, 0));
	if (parse_eat(p, "if "))
		do
			condition(p);
		while (parse_eat(p, ","));
}

/* when condition: for the rules that follow */
static void section(RuleParser *p)
{
	p->when = parse_condition(p->names, parse_word(p));
	p->left_out = !p->when;
	if (!p->when)
		unknown(p, "no such condition");
	else if (p->when->nargs != 1)
		parse_bad(p, "a section's condition is of one node");
}

/* name(a, b) := value, … */
static void definition(RuleParser *p)
{
	Definition *d = xcalloc(1, sizeof *d);
	Rule *scope = p->rule;
	d->name = parse_word(p);
	if (!islower((unsigned char)*d->name) || !parse_eat(p, "("))
		parse_bad(p, "a definition is name(…) := …");
	while (!parse_eat(p, ")")) {
		if (scope->nvars && !parse_eat(p, ","))
			parse_bad(p, "expected , or )");
		if (scope->nvars == MAX_SRC)
			parse_bad(p, "too many parameters");
		if (parse_variable(p, parse_word(p), false) != d->nparams++)
			parse_bad(p, "two parameters of one name");
	}
	if (!parse_eat(p, ":="))
		parse_bad(p, "expected :=");
	p->right = true;
	do {
		if (d->nvalues == MAX_PARTS)
			parse_bad(p, "too many values");
		d->gives += values(d->value[d->nvalues++] = expression(p, 0));
	} while (parse_eat(p, ","));
	if (d->gives > MAX_PARTS)
		parse_bad(p, "too many values");
	d->size = p->size;
	vec_push(&p->rules->defs, d);
}

/* Sources are distinct variables, so that they bind a node's sources in order. */
static void row_values(RuleParser *p, Rule *r)
{
	Ex *const *src = r->from->src;
	for (int i = 0; i < r->from->nsrc; i++)
		for (int k = 0; k <= i; k++)
			if (src[i]->kind != EX_VAR || (k < i && src[i]->var == src[k]->var))
				parse_bad(p, "the sources are distinct variables");
	r->g = r->nvars;
	if (parse_variable(p, parse_word(p), false) != r->g || !parse_eat(p, "->"))
		parse_bad(p, "expected : g ->");
	p->right = true;
	do {
		if (r->nto == MAX_PARTS)
			parse_bad(p, "too many values");
		r->to[r->nto++] = parse_eat(p, "none") ? NULL : one_value(p, expression(p, 0));
	} while (parse_eat(p, ","));
	bool parts = p->names->lines == PARTS;
	if (r->nto != (parts ? r->from->nsrc : 1))
		parse_bad(p, parts ? "not a value for each source" : "not one value");
}

/* OP: word, OP(x): g -> value; the word before : or ( has been read */
static void row(RuleParser *p, Rule *r, const char *w)
{
	if (!strcmp(w, "elementwise"))
		r->set = op_elementwise;
	else if (op_find(w) < 0)
		parse_bad(p, "no such op");
	if (r->set || (p->at < p->end && *p->at == ':')) {
		r->from = ex_new(p, EX_OP);
		r->from->op = r->set ? 0 : op_find(w);
	} else {
		r->from = operation(p, op_find(w));
	}
	if (!parse_eat(p, ":"))
		parse_bad(p, "expected :");
	if (r->from->nsrc)
		row_values(p, r);
	else if (!(r->what = p->names->named(parse_word(p))))
		parse_bad(p, "no function of that name");
}

static void rule_add(Rules *rules, const Rule *r)
{
	bool any = r->set || r->from->kind == EX_ANY;
	int first = any ? 0 : (int)r->from->op, last = any ? OP_COUNT - 1 : first;
	for (int op = first; op <= last; op++)
		if (!r->set || r->set(op))
			vec_push(&rules->by_op[op], (int)rules->n);
	vec_push(rules, *r);
}

static bool defines(const RuleParser *p)
{
	const char *stop = memchr(p->at, '#', p->end - p->at);
	return memmem(p->at, (stop ? stop : p->end) - p->at, ":=", 2) != NULL;
}

static void rule_line(RuleParser *p, Rule *r)
{
	char where[512];
	snprintf(where, sizeof where, "%s:%d", p->file, p->number);
	r->where = xstrdup(where);
	if (p->names->lines != REWRITINGS)
		row(p, r, parse_word(p));
	else
		rewriting(p, r);
	if (!p->left_out && !p->unknown)
		rule_add(p->rules, r);
}

static void one_line(RuleParser *p)
{
	Rule r = {.when = p->when, .g = NONE};
	p->rule = &r;
	p->right = p->unknown = false;
	p->size = p->depth = 0;
	if (parse_eat(p, "when "))
		section(p);
	else if (defines(p))
		definition(p);
	else
		rule_line(p, &r);
	if (!blank(p))
		parse_bad(p, "unexpected text after the rule");
}

void rules_read(Rules *r, const char *text, size_t n, const char *file, int number,
	const RuleNames *names)
{
	static const RuleNames none;
	const char *end = text + n;
	RuleParser p = {.file = file, .rules = r, .names = names ? names : &none, .number = number};
	while (text < end) {
		const char *stop = memchr(text, '\n', end - text);
		p.at = p.line = text;
		p.end = stop ? stop : end;
		p.number++;
		if (!blank(&p))
			one_line(&p);
		text = p.end + (p.end < end);
	}
}

Rules *rules_add(Rules *before, const char *text, size_t n, const char *file,
	const RuleNames *names)
{
	Rules *r = before ? before : xcalloc(1, sizeof *r);
	rules_read(r, text, n, file, 0, names);
	return r;
}

Rules *rules_parse(const char *text, size_t n, const char *file)
{
	return rules_add(NULL, text, n, file, NULL);
}
