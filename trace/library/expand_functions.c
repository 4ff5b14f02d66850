/* The table of functions, and the binding of a call's arguments to parameters.
 *
 *     FN(sum, "x, axis=none, keepdims=false", …)      sum(y, keepdims=true)
 *     →  at[0] = y, at[1] = none, at[2] = true
 *
 * Positional arguments fill the parameters in order, skipping those given by keyword; `*xs`
 * collects the remaining arguments in a list. */
#include "library/library.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

static const Function table[] = {
#define FN(name, params, help) {#name, params, fn_##name, help},
#include "library/functions.def"
#undef FN
};
enum { FUNCTIONS = sizeof table / sizeof *table };

const Function *function_find(const char *name)
{
	static ARENA Map byname;
	if (!byname.n)
		for (size_t i = 0; i < FUNCTIONS; i++)
			map_put(&byname, hash_bytes(table[i].name, strlen(table[i].name), 11),
				(void *)&table[i]);
	const Function *f = map_get(&byname, hash_bytes(name, strlen(name), 11));
	return f && !strcmp(f->name, name) ? f : NULL;
}

const char *function_hint(const char *name)
{
	Nearest near = {.word = name};
	for (size_t i = 0; i < FUNCTIONS; i++)
		nearest_try(&near, table[i].name);
	return nearest_hint(&near);
}

/* ---- signatures: "x, axis=-1, size=[1, 1], *xs" */

static const char *blanks(const char *s)
{
	while (*s == ' ')
		s++;
	return s;
}

/* skips a default: up to the next comma outside brackets and quotes */
static const char *past_default(const char *s)
{
	int depth = 0;
	char quote = 0;
	for (; *s && (depth || quote || *s != ','); s++) {
		if (quote)
			quote = *s == quote ? 0 : quote;
		else if (*s == '\'' || *s == '"')
			quote = *s;
		else
			depth += (*s == '[') - (*s == ']');
	}
	return s;
}

int signature_params(const char *text, Param *p)
{
	int n = 0;
	for (const char *s = blanks(text); *s; s = blanks(s + (*s == ','))) {
		CHECK(n < MAX_PARAMS);
		p[n] = (Param){.star = *s == '*', .known = *s == '@',
			.sizes = *s == '#'};
		s += *s == '*' || *s == '@' || *s == '#';
		p[n].name = s;
		while (isalnum((unsigned char)*s) || *s == '_')
			s++;
		p[n].len = s - p[n].name;
		CHECK(p[n].len);
		s = blanks(s);
		if (*s == '=') {
			p[n].deflt = blanks(s + 1);
			s = past_default(s + 1);
		}
		n++;
	}
	return n;
}

static int signature(const Function *f, Param *p) { return signature_params(f->params, p); }

const char *param_name(const Function *f, int k)
{
	Param p[MAX_PARAMS];
	int n = signature(f, p);
	return k < n ? arena_printf("%.*s", (int)p[k].len, p[k].name) : "?";
}

int param_find(const Function *f, const char *name)
{
	Param p[MAX_PARAMS];
	int n = signature(f, p);
	for (int i = 0; i < n; i++)
		if (p[i].len == strlen(name) && !memcmp(p[i].name, name, p[i].len))
			return i;
	return -1;
}

static bool word(const char **s, const char *w)
{
	size_t n = strlen(w);
	if (strncmp(*s, w, n) || isalnum((unsigned char)(*s)[n]) || (*s)[n] == '_')
		return false;
	*s += n;
	return true;
}

static Value default_list(const char **s)
{
	VEC(Value) v = {0};
	*s = blanks(*s + 1);
	while (**s != ']') {
		vec_push(&v, parse_literal(s));
		*s = blanks(*s);
		*s = blanks(*s + (**s == ','));
	}
	++*s;
	Value *at = arena_alloc((v.n + 1) * sizeof *at);
	if (v.n)
		memcpy(at, v.at, v.n * sizeof *at);
	Value list = v_list(v.n, at);
	vec_free(&v);
	return list;
}

static Value default_number(const char **s)
{
	char *end;
	double f = strtod(*s, &end);
	CHECK(end != *s);
	size_t n = end - *s;
	bool is_int = strcspn(*s, ".eEnN") >= n;
	Value v = is_int ? v_int(strtoll(*s, NULL, 10)) : v_float(f);
	*s = end;
	return v;
}

Value parse_literal(const char **s)
{
	if (word(s, "none"))
		return v_none();
	if (word(s, "true"))
		return v_bool(true);
	if (word(s, "false"))
		return v_bool(false);
	if (**s == '[')
		return default_list(s);
	if (**s == '\'' || **s == '"') {
		const char *start = *s + 1, *end = strchr(start, **s);
		CHECK(end);
		*s = end + 1;
		return v_str(arena_printf("%.*s", (int)(end - start), start));
	}
	if (isalpha((unsigned char)**s) && strncmp(*s, "inf", 3) && strncmp(*s, "nan", 3)) {
		const char *start = *s;
		while (isalnum((unsigned char)**s) || **s == '_')
			++*s;
		return v_str(arena_printf("%.*s", (int)(*s - start), start));
	}
	return default_number(s);
}

/* ---- binding */

typedef struct {
	const Function *f;
	int n;
	Param p[MAX_PARAMS];
	Value at[MAX_PARAMS];
	bool set[MAX_PARAMS];
} ParamBinding;

static void bind_keywords(ParamBinding *b, size_t nkw, const char *const *kw, const Value *val)
{
	for (size_t i = 0; i < nkw; i++) {
		int k = param_find(b->f, kw[i]);
		if (k < 0)
			die(MALFORMED, "%s has no parameter %.60s; it is %s(%s)", b->f->name, kw[i],
				b->f->name, b->f->params);
		if (b->set[k])
			die(MALFORMED, "%s: %s is given twice", b->f->name, kw[i]);
		b->at[k] = val[i];
		b->set[k] = true;
	}
}

static Value rest(size_t n, const Value *pos)
{
	Value *at = arena_alloc((n + 1) * sizeof *at);
	if (n)
		memcpy(at, pos, n * sizeof *at);
	return v_list(n, at);
}

static void bind_positional(ParamBinding *b, size_t n, const Value *pos)
{
	size_t i = 0;
	for (int k = 0; k < b->n; k++) {
		if (b->set[k])
			continue;
		if (b->p[k].star) {
			/* f([a, b]) is f(a, b) */
			b->at[k] = n - i == 1 && pos[i].kind == V_LIST ? pos[i] :
									 rest(n - i, pos + i);
			b->set[k] = true;
			i = n;
		} else if (i < n) {
			b->at[k] = pos[i++];
			b->set[k] = true;
		}
	}
	if (i < n)
		die(MALFORMED, "%s takes at most %d arguments, got %zu; it is %s(%s)", b->f->name,
			b->n, n, b->f->name, b->f->params);
}

static void bind_defaults(ParamBinding *b)
{
	for (int k = 0; k < b->n; k++) {
		if (b->set[k])
			continue;
		const char *s = b->p[k].deflt;
		if (!s)
			die(MALFORMED, "%s: %.*s is missing; it is %s(%s)", b->f->name,
				(int)b->p[k].len, b->p[k].name, b->f->name, b->f->params);
		b->at[k] = parse_literal(&s);
	}
}

Value function_call(const Function *f, size_t n, const Value *pos, size_t nkw,
	const char *const *kw, const Value *kwval)
{
	ParamBinding b = {.f = f};
	b.n = signature(f, b.p);
	bind_keywords(&b, nkw, kw, kwval);
	bind_positional(&b, n, pos);
	bind_defaults(&b);
	Args a = {f, b.n, b.at};
	return f->fn(&a);
}
