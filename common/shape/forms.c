/* The args that ops have at each level, as levels.def writes them, against values.
 *
 *     REDUCE  "[fold, [count*]]"    ["ADD", [0, 2]] is one, ["SUB", [0]] and ["ADD", 0] are none
 *
 * A form is read as it is matched: each is short, and most ops have none. */
#include "graph/level_sets.h"
#include "shape/shape.h"

/* of an op: its form at some levels, and at others */
typedef struct { int levels; const char *form; int others; const char *other; } Forms;
static const Forms forms[OP_COUNT] = {
#define ARG(OP, ...) [OP_##OP] = {__VA_ARGS__},
#include "graph/levels.def"
};

/* The key of a map whose value does not fit, and the form that it should have. */
typedef struct { const char *key, *form; int nkey, nform; } Miss;

static bool matches(const char **form, const Val *v, Miss *m);

static const char *blank(const char *s)
{
	while (*s == ' ')
		s++;
	return s;
}

/* the end of what stands here, up to a | or what closes or follows it */
static const char *past(const char *s)
{
	int nest = 0;
	bool text = false;
	for (; *s && (nest || text || !strchr("|,]}*", *s)); s++) {
		text ^= *s == '"';
		nest += text ? 0 : *s == '[' || *s == '{' ? 1 : *s == ']' || *s == '}' ? -1 : 0;
	}
	return s;
}

/* text is read where the size is wanted, not here: that makes nodes */
static bool is_size(const Val *v) { return (v->kind == VAL_INT && v->i >= 0) || v->kind == VAL_STR; }

static bool is_grid(const Val *v)
{
	bool is = v->kind == VAL_ARRAY && v->n >= 1 && v->n <= 3;
	for (size_t i = 0; is && i < v->n; i++)
		is = is_size(v->a[i]);
	return is;
}

static bool is_word(const char *s, size_t n, const Val *v)
{
#define WORD(text, is) if (n == strlen(text) && !memcmp(s, text, n)) return is
	int op;
	WORD("nil", v == VNIL);
	WORD("bool", v->kind == VAL_BOOL);
	WORD("int", v->kind == VAL_INT);
	WORD("count", v->kind == VAL_INT && v->i >= 0);
	WORD("number", v->kind == VAL_INT || v->kind == VAL_UINT || v->kind == VAL_FLOAT);
	WORD("text", v->kind == VAL_STR);
	WORD("bytes", v->kind == VAL_BIN);
	WORD("map", v->kind == VAL_MAP);
	WORD("size", is_size(v));
	WORD("grid", is_grid(v));
	WORD("fold", v->kind == VAL_STR && (op = op_find(v->s)) >= 0 && op_folds(op));
#undef WORD
	die_bug(__FILE__, __LINE__, s);
}

static bool array_matches(const char *s, const Val *v, Miss *m)
{
	size_t i = 0;
	if (v->kind != VAL_ARRAY)
		return false;
	for (s = blank(s); *s != ']'; s = blank(s + (*s == ','))) {
		const char *each = s;
		if (*past(s) != '*') {
			if (i == v->n || !matches(&s, v->a[i++], m))
				return false;
			continue;
		}
		for (; i < v->n; i++, s = each)
			if (!matches(&s, v->a[i], m))
				return false;
		s = past(each) + 1;
	}
	return i == v->n;
}

static bool map_matches(const char *s, const Val *v, Miss *m)
{
	if (v->kind != VAL_MAP)
		return false;
	for (s = blank(s); *s != '}'; s = blank(s + (*s == ','))) {
		const char *key = s;
		while (*s != '?' && *s != ':')
			s++;
		int n = s - key;
		bool may = *s == '?';
		const char *form = s = blank(s + may + 1);
		const Val *at = val_get(v, arena_printf("%.*s", n, key));
		bool fits = matches(&s, at ? at : VNIL, m);
		if (at ? fits : may)
			continue;
		if (!m->key)
			*m = (Miss){key, form, n, s - form};
		return false;
	}
	return true;
}

static bool one_matches(const char *s, const Val *v, Miss *m)
{
	const char *end = past(s);
	while (end > s && end[-1] == ' ')
		end--;
	if (*s == '[')
		return array_matches(s + 1, v, m);
	if (*s == '{')
		return map_matches(s + 1, v, m);
	size_t n = end - s;
	if (*s == '"')
		return v->kind == VAL_STR && v->n == n - 2 && !memcmp(v->s, s + 1, n - 2);
	return is_word(s, n, v);
}

/* *form: the alternatives that stand here; then what follows them */
static bool matches(const char **form, const Val *v, Miss *m)
{
	bool is = false;
	for (;; ++*form) {
		*form = blank(*form);
		is = is || one_matches(*form, v, m);
		*form = past(*form);
		if (**form != '|')
			return is;
	}
}

static const char *reason(const char *form, const Miss *m)
{
	if (m->key)
		return arena_printf("the arg's %.*s is not %.*s", m->nkey, m->key, m->nform, m->form);
	return arena_printf("the arg is not %s", form);
}

const char *arg_check(Op op, int levels, const Val *arg)
{
	const Forms *f = &forms[op];
	const char *why = NULL;
	if (!f->form)
		return arg == VNIL ? NULL : "the op has no arg";
	for (int i = 0; i < 2; i++) {
		const char *form = i ? f->other : f->form, *at = form;
		Miss m = {0};
		if (!((i ? f->others : f->levels) & levels))
			continue;
		if (matches(&at, arg, &m))
			return NULL;
		why = reason(form, &m);
	}
	return why;
}
