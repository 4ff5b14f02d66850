/* Tokens to expression trees, with the precedence of NumPy (that is, Python), from ops.def.
 *
 *     a + b * -c ** 2      BINARY +(a, BINARY *(b, UNARY -(BINARY **(c, 2))))
 *
 * From loosest:  if else | or | and | not | == != < <= > >= | "|" | ^ | & | << >> | + - | * / // %
 * @ | - + ~ | ** | x(…) x[…] x.y.  Operators of one precedence are parsed in a loop, so that a sum
 * of a million terms needs no deep stack. */
#include "text/text.h"
#include <math.h>
#include <stdlib.h>

ARENA Token tok;
static ARENA int depth;
static ARENA size_t made;

void take(void) { tok = lex_next(); }

bool accept(int kind)
{
	if (tok.kind != kind || tok.infix)
		return false;
	take();
	return true;
}

Token expect(int kind, const char *what)
{
	Token t = tok;
	if (tok.kind != kind || tok.infix)
		fail_at(&tok.pos, "expected %s, found %s", what, token_text(&tok));
	take();
	return t;
}

static bool at_word(const char *w) { return tok.kind == T_NAME && !strcmp(tok.s, w); }

bool accept_word(const char *w)
{
	if (!at_word(w))
		return false;
	take();
	return true;
}

bool is_keyword(const char *name)
{
	static const char *const words[] = {"input", "const", "state", "output", "size", "where",
		"in", "def", "return", "for", "while", "if", "else", "and", "or", "not", "true",
		"false",
		"none", "True", "False", "None"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcmp(words[i], name))
			return true;
	return false;
}

static Expr *expr_new(ExprKind kind, Pos pos, size_t n, Expr *const *arg)
{
	if (++made > MAX_EXPRS)
		fail_at(&pos, "more than %d expressions; put data in files", MAX_EXPRS);
	Expr *e = arena_alloc(sizeof *e);
	e->kind = kind;
	e->pos = pos;
	e->n = n;
	if (n) {
		e->arg = arena_alloc(n * sizeof *arg);
		memcpy(e->arg, arg, n * sizeof *arg);
	}
	return e;
}

static Expr *expr_value(Pos pos, Value v)
{
	Expr *e = expr_new(X_VALUE, pos, 0, NULL);
	e->value = arena_alloc(sizeof v);
	*e->value = v;
	return e;
}

static void deeper(void)
{
	if (++depth > MAX_NESTING)
		fail_at(&tok.pos, "an expression nested more than %d deep", MAX_NESTING);
}

/* ---- atoms */

typedef VEC(Expr *) Exprs;

static Expr *from_exprs(ExprKind kind, Pos pos, Exprs *v)
{
	Expr *e = expr_new(kind, pos, v->n, v->at);
	vec_free(v);
	return e;
}

/* ( … ) is the expression inside, or a list if it has commas; () is the empty list */
static Expr *parse_parenthesized(void)
{
	Pos pos = tok.pos;
	take();
	if (accept(')'))
		return expr_new(X_LIST, pos, 0, NULL);
	Expr *e = parse_expr_list();
	expect(')', "')'");
	return e;
}

static Expr *parse_brackets(void)
{
	Exprs v = {0};
	Pos pos = tok.pos;
	take();
	while (tok.kind != ']') {
		vec_push(&v, parse_expr());
		if (!accept(','))
			break;
	}
	expect(']', "',' or ']'");
	return from_exprs(X_LIST, pos, &v);
}

static Expr *parse_name(void)
{
	static const struct { const char *s; ValueKind kind; int64_t i;
	} words[] = {
		{"true", V_BOOL, 1},
		{"True", V_BOOL, 1},
		{"false", V_BOOL, 0},
		{"False", V_BOOL, 0},
		{"none", V_NONE, 0},
		{"None", V_NONE, 0},
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (at_word(words[i].s)) {
			Pos pos = tok.pos;
			take();
			return expr_value(pos, (Value){.kind = words[i].kind, .i = words[i].i});
		}
	}
	/* the keywords where and size are also functions: where(c, x, y), size(x) */
	bool called = tok.pos.at[strlen(tok.s)] == '(' && function_find(tok.s);
	if (is_keyword(tok.s) && !called)
		fail_at(&tok.pos, "expected an expression, found the keyword '%s'", tok.s);
	Expr *e = expr_new(X_NAME, tok.pos, 0, NULL);
	e->s = tok.s;
	take();
	return e;
}

static Expr *parse_atom(void)
{
	Token t = tok;
	switch (t.kind) {
	case T_NAME: return parse_name();
	case T_NUMBER: take(); return expr_value(t.pos, t.number);
	case T_STRING: take(); return expr_value(t.pos, v_str(t.s));
	case '(': return parse_parenthesized();
	case '[': return parse_brackets();
	default: fail_at(&t.pos, "expected an expression, found %s", token_text(&t));
	}
}

/* ---- x(…), x[…], x.y */

static const char *keyword_ahead(void)
{
	/* instead of a second token of lookahead, look at the character after the name */
	if (tok.kind != T_NAME)
		return NULL;
	const char *s = tok.pos.at + strlen(tok.s);
	while (*s == ' ' || *s == '\t' || *s == '\n' || *s == '\r')
		s++;
	return *s == '=' && s[1] != '=' ? tok.s : NULL;
}

static Expr *parse_call(ExprKind kind, Expr *callee, const char *name, Pos pos)
{
	Exprs v = {0};
	VEC(const char *) kw = {0};
	if (kind == X_METHOD)
		vec_push(&v, callee);
	expect('(', "'('");
	while (tok.kind != ')') {
		const char *key = keyword_ahead();
		if (!key && kw.n)
			fail_at(&tok.pos, "an argument without a name after a named one");
		if (key) {
			take();
			expect('=', "'='");
			vec_push(&kw, key);
		}
		vec_push(&v, parse_expr());
		if (!accept(','))
			break;
	}
	expect(')', "',' or ')'");
	Expr *e = from_exprs(kind, pos, &v);
	e->s = name;
	e->nkw = kw.n;
	e->kw = arena_alloc((kw.n + 1) * sizeof *e->kw);
	if (kw.n)
		memcpy(e->kw, kw.at, kw.n * sizeof *e->kw);
	vec_free(&kw);
	return e;
}

static bool at_slice_end(void) { return tok.kind == ',' || tok.kind == ']' || tok.kind == ':'; }

static Expr *parse_item(void)
{
	Pos pos = tok.pos;
	if (accept(T_ELLIPSIS))
		return expr_new(X_ELLIPSIS, pos, 0, NULL);
	Expr *part[3] = {NULL, NULL, NULL};
	if (!at_slice_end())
		part[0] = parse_expr();
	if (tok.kind != ':')
		return part[0];
	for (int i = 1; i < 3 && accept(':'); i++)
		if (!at_slice_end())
			part[i] = parse_expr();
	return expr_new(X_SLICE, pos, 3, part);
}

static Expr *parse_index(Expr *base)
{
	Exprs v = {0};
	Pos pos = tok.pos;
	take();
	vec_push(&v, base);
	while (tok.kind != ']') {
		Expr *item = parse_item();
		if (!item)
			fail_at(&tok.pos, "expected an index, found %s", token_text(&tok));
		vec_push(&v, item);
		if (!accept(','))
			break;
	}
	expect(']', "',' or ']'");
	if (v.n == 1)
		fail_at(&pos, "an index without a place");
	return from_exprs(X_INDEX, pos, &v);
}

static Expr *parse_postfix(void)
{
	int before = depth;
	Expr *e = parse_atom();
	while (tok.kind == '(' || tok.kind == '[' || tok.kind == '.') {
		deeper();
		Pos pos = tok.pos;
		if (tok.kind == '[') {
			e = parse_index(e);
		} else if (tok.kind == '(') {
			if (e->kind != X_NAME)
				fail_at(&pos, "only a name can be called");
			e = parse_call(X_CALL, NULL, e->s, e->pos);
		} else {
			take();
			Token name = expect(T_NAME, "a name after '.'");
			if (tok.kind == '(') {
				e = parse_call(X_METHOD, e, name.s, name.pos);
			} else {
				e = expr_new(X_ATTR, name.pos, 1, &e);
				e->s = name.s;
			}
		}
	}
	depth = before;
	return e;
}

/* ---- operators */

static Expr *parse_prefix(void);

static bool at_precedence(OpInfix precedence)
{
	return !tok.infix && operator_precedence(tok.kind) == precedence;
}

static Expr *parse_power(void)
{
	Expr *e = parse_postfix();
	if (!at_precedence(INFIX_POWER))
		return e;
	int op = tok.kind;
	Pos pos = tok.pos;
	take();
	deeper();
	Expr *both[2] = {e, parse_prefix()};
	depth--;
	e = expr_new(X_BINARY, pos, 2, both);
	e->op = op;
	return e;
}

static Expr *parse_prefix(void)
{
	bool sign = tok.kind == OPERATOR(ADD) || tok.kind == OPERATOR(SUB) || tok.kind == '~';
	if (tok.infix || !sign)
		return parse_power();
	Token t = tok;
	take();
	deeper();
	Expr *arg = parse_prefix();
	depth--;
	Expr *e = expr_new(X_UNARY, t.pos, 1, &arg);
	e->op = t.kind;
	return e;
}

static Expr *parse_binary(OpInfix precedence)
{
	if (precedence == INFIX_POWER)
		return parse_prefix();
	Expr *e = parse_binary(precedence + 1);
	while (at_precedence(precedence)) {
		Token t = tok;
		take();
		Expr *both[2] = {e, parse_binary(precedence + 1)};
		e = expr_new(X_BINARY, t.pos, 2, both);
		e->op = t.kind;
	}
	return e;
}

static Expr *parse_comparison(void)
{
	Expr *e = parse_binary(INFIX_COMPARE + 1);
	if (!at_precedence(INFIX_COMPARE))
		return e;
	Token t = tok;
	take();
	Expr *both[2] = {e, parse_binary(INFIX_COMPARE + 1)};
	if (at_precedence(INFIX_COMPARE))
		fail_at(&tok.pos, "comparisons do not chain; write (a < b) & (b < c)");
	e = expr_new(X_BINARY, t.pos, 2, both);
	e->op = t.kind;
	return e;
}

static Expr *parse_not(void)
{
	Pos pos = tok.pos;
	if (!accept_word("not"))
		return parse_comparison();
	deeper();
	Expr *arg = parse_not();
	depth--;
	return expr_new(X_NOT, pos, 1, &arg);
}

static Expr *parse_and_or(bool either)
{
	const char *w = either ? "or" : "and";
	Expr *e = either ? parse_and_or(false) : parse_not();
	if (!at_word(w))
		return e;
	Exprs v = {0};
	Pos pos = tok.pos;
	vec_push(&v, e);
	while (accept_word(w))
		vec_push(&v, either ? parse_and_or(false) : parse_not());
	return from_exprs(either ? X_OR : X_AND, pos, &v);
}

Expr *parse_expr(void)
{
	deeper();
	Expr *e = parse_and_or(true);
	if (at_word("if")) {
		Pos pos = tok.pos;
		take();
		Expr *part[3] = {e, parse_and_or(true), NULL};
		if (!accept_word("else"))
			fail_at(&tok.pos, "expected 'else', found %s", token_text(&tok));
		part[2] = parse_expr();
		e = expr_new(X_IF, pos, 3, part);
	}
	depth--;
	return e;
}

Expr *parse_expr_list(void)
{
	Pos pos = tok.pos;
	Expr *e = parse_expr();
	if (tok.kind != ',')
		return e;
	Exprs v = {0};
	vec_push(&v, e);
	while (accept(',')) {
		if (tok.kind == ')' || tok.kind == T_LINE || tok.kind == T_END || tok.kind == '=')
			break;
		vec_push(&v, parse_expr());
	}
	return from_exprs(X_LIST, pos, &v);
}
