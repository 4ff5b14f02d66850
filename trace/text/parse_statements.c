/* Tokens to statements: the grammar in README.md, one function per statement.
 *
 *     input x f32[n, 4] where n in 1..64      INPUT x, type f32[n, 4], sizes n 1 64
 *     output mean(x, axis=0)                  an output needs a name: this dies at its place */
#include "text/text.h"
#include <stdlib.h>

static ARENA int block_depth;

static Stmt *stmt_new(StmtKind kind, Pos pos)
{
	Stmt *s = arena_alloc(sizeof *s);
	s->kind = kind;
	s->pos = pos;
	return s;
}

static Token new_name(const char *what)
{
	Token t = expect(T_NAME, what);
	if (is_keyword(t.s))
		fail_at(&t.pos, "expected %s, found the keyword '%s'", what, t.s);
	return t;
}

static bool at_end_of_statement(void)
{
	return tok.kind == T_LINE || tok.kind == ';' || tok.kind == '}' || tok.kind == T_END;
}

/* names, places and expressions of a statement: parallel vectors that grow together */
typedef struct { VEC(const char *) name; VEC(Pos) pos; VEC(Expr *) e; } NameList;

static void names_add(NameList *v, Token t, Expr *e)
{
	vec_push(&v->name, t.s);
	vec_push(&v->pos, t.pos);
	vec_push(&v->e, e);
}

static void names_done(NameList *v, Stmt *s)
{
	s->n = v->name.n;
	s->names = arena_alloc((s->n + 1) * sizeof *s->names);
	s->name_pos = arena_alloc((s->n + 1) * sizeof *s->name_pos);
	s->e = arena_alloc((s->n + 1) * sizeof *s->e);
	if (s->n) {
		memcpy(s->names, v->name.at, s->n * sizeof *s->names);
		memcpy(s->name_pos, v->pos.at, s->n * sizeof *s->name_pos);
		memcpy(s->e, v->e.at, s->n * sizeof *s->e);
	}
	vec_free(&v->name);
	vec_free(&v->pos);
	vec_free(&v->e);
}

/* ---- types and sizes */

static bool at_type(void) { return tok.kind == T_NAME && dtype_find(tok.s) != DT_NONE; }

static Type *parse_type(void)
{
	VEC(Expr *) dim = {0};
	Type *t = arena_alloc(sizeof *t);
	t->pos = tok.pos;
	if (!at_type())
		fail_at(&tok.pos, "expected a dtype, found %s", token_text(&tok));
	t->dt = dtype_find(tok.s);
	take();
	if (!accept('['))
		return t;
	t->shaped = true;
	while (tok.kind != ']') {
		vec_push(&dim, parse_expr());
		if (!accept(','))
			break;
	}
	expect(']', "',' or ']'");
	t->rank = dim.n;
	t->dim = arena_alloc((dim.n + 1) * sizeof *t->dim);
	if (dim.n)
		memcpy(t->dim, dim.at, dim.n * sizeof *t->dim);
	vec_free(&dim);
	return t;
}

/* n in 1..64, m in 1..8 */
static void parse_sizes(Stmt *s)
{
	VEC(SizeRange) v = {0};
	do {
		Token name = new_name("the name of a size");
		SizeRange r = {.name = name.s, .pos = name.pos};
		if (!accept_word("in"))
			fail_at(&tok.pos, "expected 'in', found %s", token_text(&tok));
		r.lo = parse_expr();
		expect(T_DOTS, "'..'");
		r.hi = parse_expr();
		vec_push(&v, r);
	} while (accept(','));
	s->n = v.n;
	s->sizes = arena_alloc(v.n * sizeof *v.at);
	memcpy(s->sizes, v.at, v.n * sizeof *v.at);
	vec_free(&v);
}

/* ---- declarations */

static Stmt *parse_input(Pos pos)
{
	Stmt *s = stmt_new(S_INPUT, pos);
	Token name = new_name("the name of an input");
	s->type = parse_type();
	if (accept_word("where"))
		parse_sizes(s);
	const char **one = arena_alloc(sizeof *one);
	*one = name.s;
	s->names = one;
	s->name_pos = arena_alloc(sizeof name.pos);
	*s->name_pos = name.pos;
	return s;
}

static Stmt *parse_sized(StmtKind kind, Pos pos)
{
	Stmt *s = stmt_new(kind, pos);
	NameList v = {0};
	Token name = new_name(kind == S_CONST ? "the name of a constant" : "the name of a state");
	if (!at_end_of_statement() && tok.kind != '=')
		s->type = parse_type();
	if (tok.kind != '=')
		fail_at(&tok.pos, "expected '=' and the value of %s, found %s", name.s,
			token_text(&tok));
	take();
	names_add(&v, name, s->value = parse_expr());
	names_done(&v, s);
	return s;
}

static Stmt *parse_output(Pos pos)
{
	Stmt *s = stmt_new(S_OUTPUT, pos);
	NameList v = {0};
	do {
		Token name = new_name("the name of an output");
		Expr *e = NULL;
		if (accept('='))
			e = parse_expr();
		else if (!at_end_of_statement() && tok.kind != ',')
			fail_at(&name.pos, "an output needs a name: output NAME = …");
		names_add(&v, name, e);
	} while (accept(','));
	names_done(&v, s);
	return s;
}

/* ---- blocks */

static Stmt *parse_statement(void);

/* a statement that ends with a block needs no end of line */
static void end_statement(const Stmt *s)
{
	bool block = s->kind == S_IF || s->kind == S_FOR || s->kind == S_WHILE;
	if (tok.kind == ';' || tok.kind == T_LINE)
		take();
	else if (!block && tok.kind != '}' && tok.kind != T_END)
		fail_at(&tok.pos, "expected the end of the statement, found %s", token_text(&tok));
}

static StmtBlock parse_statements(int until)
{
	VEC(Stmt *) v = {0};
	for (;;) {
		while (tok.kind == T_LINE || tok.kind == ';')
			take();
		if (tok.kind == until)
			break;
		vec_push(&v, parse_statement());
		end_statement(v.at[v.n - 1]);
	}
	StmtBlock b = {arena_alloc((v.n + 1) * sizeof *b.at), v.n};
	if (v.n)
		memcpy(b.at, v.at, v.n * sizeof *b.at);
	vec_free(&v);
	return b;
}

static StmtBlock parse_block(void)
{
	if (tok.kind != '{')
		fail_at(&tok.pos, "expected '{', found %s", token_text(&tok));
	if (++block_depth > MAX_NESTING / 4)
		fail_at(&tok.pos, "blocks nested more than %d deep", MAX_NESTING / 4);
	take();
	StmtBlock b = parse_statements('}');
	expect('}', "'}'");
	block_depth--;
	return b;
}

static void parse_parameters(Stmt *s)
{
	NameList v = {0};
	expect('(', "'('");
	while (tok.kind != ')') {
		Token name = new_name("the name of a parameter");
		for (size_t i = 0; i < v.name.n; i++)
			if (v.name.at[i] == name.s)
				fail_at(&name.pos, "%s is a parameter already", name.s);
		Expr *deflt = accept('=') ? parse_expr() : NULL;
		if (!deflt && v.e.n && v.e.at[v.e.n - 1])
			fail_at(&name.pos, "a parameter without a default after one that has one");
		names_add(&v, name, deflt);
		if (!accept(','))
			break;
	}
	expect(')', "',' or ')'");
	names_done(&v, s);
}

/* def f(a, b=1) = a + b, or with { … return a + b } */
static Stmt *parse_def(Pos pos)
{
	Stmt *s = stmt_new(S_DEF, pos);
	if (block_depth)
		fail_at(&pos, "a function within a block; define it outside");
	Token name = new_name("the name of a function");
	parse_parameters(s);
	Stmt *inner = stmt_new(S_RETURN, tok.pos);
	if (accept('=')) {
		inner->value = parse_expr_list();
		s->body.at = arena_alloc(sizeof inner);
		s->body.at[s->body.n++] = inner;
	} else {
		s->body = parse_block();
	}
	/* the function's name is stored after its parameters */
	const char **names = arena_alloc((s->n + 1) * sizeof *names);
	memcpy(names, s->names, s->n * sizeof *names);
	names[s->n] = name.s;
	s->names = names;
	return s;
}

static Stmt *parse_if(Pos pos)
{
	Stmt *s = stmt_new(S_IF, pos);
	s->value = parse_expr();
	s->body = parse_block();
	if (accept_word("else")) {
		Pos next = tok.pos;
		if (accept_word("if")) {
			if (++block_depth > MAX_NESTING / 4)
				fail_at(&next, "blocks nested more than %d deep", MAX_NESTING / 4);
			s->orelse.at = arena_alloc(sizeof s);
			s->orelse.at[s->orelse.n++] = parse_if(next);
			block_depth--;
		} else {
			s->orelse = parse_block();
		}
	}
	return s;
}

/* for i in 0..3 { … }, both ends included; for x in LIST { … } */
static Stmt *parse_for(Pos pos)
{
	Stmt *s = stmt_new(S_FOR, pos);
	NameList v = {0};
	names_add(&v, new_name("the name of a loop variable"), NULL);
	names_done(&v, s);
	if (!accept_word("in"))
		fail_at(&tok.pos, "expected 'in', found %s", token_text(&tok));
	s->value = parse_expr();
	if (accept(T_DOTS))
		s->e[0] = parse_expr();
	s->body = parse_block();
	return s;
}

static Stmt *parse_while(Pos pos)
{
	Stmt *s = stmt_new(S_WHILE, pos);
	s->value = parse_expr();
	s->body = parse_block();
	return s;
}

/* ---- assignments */

static Stmt *parse_update(Pos pos)
{
	Stmt *s = stmt_new(S_UPDATE, pos);
	NameList v = {0};
	do
		names_add(&v, new_name("the name of a state"), NULL);
	while (accept(','));
	take();
	take();
	s->value = parse_expr_list();
	names_done(&v, s);
	return s;
}

static void add_target(NameList *v, const Expr *e)
{
	if (e->kind == X_INDEX)
		fail_at(&e->pos, "parts of a tensor cannot be assigned; use where or scatter");
	if (e->kind != X_NAME)
		fail_at(&e->pos, "expected a name on the left of '='");
	names_add(v, (Token){.s = e->s, .pos = e->pos}, NULL);
}

static Stmt *parse_assignment(Pos pos)
{
	Expr *left = parse_expr_list();
	Stmt *s = stmt_new(S_EXPR, pos);
	if (tok.kind != '=') {
		s->value = left;
		return s;
	}
	s->kind = S_ASSIGN;
	s->pos = tok.pos;
	s->op = tok.infix;
	take();
	NameList v = {0};
	if (left->kind == X_LIST && !s->op)
		for (size_t i = 0; i < left->n; i++)
			add_target(&v, left->arg[i]);
	else
		add_target(&v, left);
	names_done(&v, s);
	if (!s->n)
		fail_at(&left->pos, "expected a name on the left of '='");
	s->value = parse_expr_list();
	return s;
}

static Stmt *parse_statement(void)
{
	Pos pos = tok.pos;
	if (accept_word("input"))
		return parse_input(pos);
	if (accept_word("const"))
		return parse_sized(S_CONST, pos);
	if (accept_word("state"))
		return parse_sized(S_STATE, pos);
	if (accept_word("output"))
		return parse_output(pos);
	if (accept_word("def"))
		return parse_def(pos);
	if (accept_word("for"))
		return parse_for(pos);
	if (accept_word("while"))
		return parse_while(pos);
	if (accept_word("if"))
		return parse_if(pos);
	Stmt *s = stmt_new(S_RETURN, pos);
	if (accept_word("return")) {
		s->value = at_end_of_statement() ? NULL : parse_expr_list();
		return s;
	}
	if (accept_word("size")) {
		s->kind = S_SIZES;
		parse_sizes(s);
		return s;
	}
	if (tok.kind == T_NAME && !is_keyword(tok.s) && lex_updates(&tok))
		return parse_update(pos);
	return parse_assignment(pos);
}

StmtBlock parse_text(void)
{
	block_depth = 0;
	take();
	return parse_statements(T_END);
}
