/* CUSTOM: a user-written kernel whose code is in the document.
 *
 *     CUSTOM f32 %0 {shape: ["n"], code: {clang: "void custom(float *y, …, long n) …"}}
 *
 * The code in a document would be compiled and run, so every tool refuses such a node without
 * --allow-custom. The form of the code and its arguments are described in render/README.md. */
#include "shape/shape.h"
#include <ctype.h>
#include <stdlib.h>

#define SAY(...) return arena_printf(__VA_ARGS__)

const char custom_refusal[] =
	"a user-written kernel, whose code is compiled and run, needs --allow-custom";

static bool is_text(const Val *v) { return v->kind == VAL_STR && v->n && strlen(v->s) == v->n; }

static bool is_identifier(const Val *v)
{
	bool ok = is_text(v) && v->n <= 63 && !isdigit((unsigned char)v->s[0]);
	for (size_t i = 0; ok && i < v->n; i++)
		ok = ((unsigned char)v->s[i] < 128 && isalnum((unsigned char)v->s[i])) ||
			v->s[i] == '_';
	return ok;
}

bool name_plain(const char *s, size_t n)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-";
	return n && n < 64 && s[0] != '.' && s[0] != '-' && strspn(s, letters) == n;
}

static const char *check_code(const Val *code)
{
	if (!code || code->kind != VAL_MAP)
		SAY("the arg is not a map with shape and code");
	for (size_t i = 0; i < code->n; i++) {
		if (!is_text(code->a[2 * i]) || !name_plain(code->a[2 * i]->s, code->a[2 * i]->n))
			SAY("code: '%.60s' is not the name of a target", code->a[2 * i]->s);
		if (!is_text(code->a[2 * i + 1]))
			SAY("code: that for target %.60s is not text, is empty, or contains a NUL",
				code->a[2 * i]->s);
	}
	return NULL;
}

static const char *check_vars(const Val *vars)
{
	if (!vars || vars == VNIL)
		return NULL;
	if (vars->kind != VAL_ARRAY)
		SAY("vars is not an array of the names of size variables");
	for (size_t i = 0; i < vars->n; i++) {
		const Val *v = vars->a[i];
		if (!is_text(v) || !vars_find(v->s, v->n))
			SAY("vars: '%.60s' is not a size variable",
				v->kind == VAL_STR ? v->s : "?");
		for (size_t k = 0; k < i; k++)
			if (vars->a[k] == v)
				SAY("vars: '%.60s' is given twice", v->s);
	}
	return NULL;
}

/* {opencl: ["(n + 63) // 64"]}: one to three sizes for each target; for work a single size. */
static const char *check_sizes(const Val *arg, const char *key)
{
	const Val *m = val_get(arg, key);
	bool array = strcmp(key, "work");
	const char *e = NULL;
	if (!m || m == VNIL)
		return NULL;
	if (m->kind != VAL_MAP)
		SAY("%s is not a map from targets to sizes", key);
	for (size_t i = 0; i < m->n; i++) {
		const Val *v = m->a[2 * i + 1];
		if (array && (v->kind != VAL_ARRAY || v->n < 1 || v->n > 3))
			SAY("%s: not an array of 1 to 3 sizes for each target", key);
		for (size_t k = 0; k < (array ? v->n : 1); k++)
			if (!size_from_val(array ? v->a[k] : v, &e))
				SAY("%s: %s", key, e);
	}
	return NULL;
}

const char *custom_check(const Val *arg, int *status)
{
	static const char *const grid[] = {"global_size", "local_size", "work"};
	const Val *name = val_get(arg, "name");
	const char *e = check_code(val_get(arg, "code"));
	*status = MALFORMED;
	if (!e && name && name != VNIL && !is_identifier(name))
		SAY("the name is not a C identifier");
	if (!e)
		e = check_vars(val_get(arg, "vars"));
	for (int i = 0; !e && i < 3; i++)
		e = check_sizes(arg, grid[i]);
	return e;
}

const char *custom_name(const Val *arg)
{
	const Val *name = val_get(arg, "name");
	return name && name->kind == VAL_STR ? name->s : "custom";
}

typedef VEC(const Val *) ValNames;

/* Adds the names in a size such as "2*n + m" that are not in the list yet. */
static void add_names(ValNames *out, const Val *size)
{
	const char *s = size->kind == VAL_STR ? size->s : "";
	while (*s) {
		size_t n = 0;
		while (isalnum((unsigned char)s[n]) || s[n] == '_')
			n++;
		const Val *name = n && !isdigit((unsigned char)*s) ? val_strn(s, n) : NULL;
		for (size_t i = 0; name && i < out->n; i++)
			if (out->at[i] == name)
				name = NULL;
		if (name)
			vec_push(out, name);
		s += n ? n : 1;
	}
}

const Val *custom_vars(const Val *arg)
{
	const Val *vars = val_get(arg, "vars"), *shape = val_get(arg, "shape");
	ValNames names = {0};
	if (vars && vars->kind == VAL_ARRAY)
		return vars;
	for (size_t i = 0; shape && shape->kind == VAL_ARRAY && i < shape->n; i++)
		add_names(&names, shape->a[i]);
	vars = val_array(names.n, names.at);
	vec_free(&names);
	return vars;
}

bool custom_in(const Graph *g)
{
	Nodes all = g->all.n ? g->all : walk(g->sink);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_CUSTOM)
			return true;
	return false;
}
