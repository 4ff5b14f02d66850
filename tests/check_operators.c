/* check_operators: whether the rows of trace/onnx/operators.def hold together. In a call every
 * function exists and gets the arguments it must have, every other word is an input or attribute of
 * the row or a literal, and each of those is used; rows of one operator share no version. Prints
 * what is wrong, a line each. */
#include "library/library.h"
#include <ctype.h>

typedef struct { const char *domain, *name; int first, last; const char *params, *call; } Row;

static const Row rows[] = {
#define ONNX_FN_IN(domain, name, first, last, params, call) \
	{domain, #name, first, last, params, call},
#define ONNX_OP_AS(domain, name, function, first, last, how) \
	{domain, #name, first, last, NULL, NULL},
#include "onnx/operators.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

static const Function own[] = {
#define ONNX_OWN(name, params) {#name, params, NULL, NULL},
#include "onnx/operators.def"
	{0}
};

static const Row *row;
static Param params[MAX_PARAMS];
static bool used[MAX_PARAMS];
static int nparams, faults;

static void wrong(const char *what, const char *at)
{
	printf("%s-%d: %s: %s\n", row->name, row->first, what, at);
	faults++;
}

static const Function *callee(const char *name)
{
	for (const Function *f = own; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return function_find(name);
}

static size_t word_length(const char *s)
{
	size_t n = 0;
	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return n;
}

static const char *take(const char **s)
{
	size_t n = word_length(*s);
	const char *word = arena_printf("%.*s", (int)n, *s);
	*s += n;
	return word;
}

static void check_value(const char **s);

/* past ( or [ to what closes it; f gets what stands between (NULL: a list) */
static void check_arguments(const char **s, const Function *f)
{
	Param p[MAX_PARAMS];
	bool given[MAX_PARAMS] = {false};
	int n = f ? signature_params(f->params, p) : 0, next = 0;
	for (++*s; **s && **s != ')' && **s != ']';) {
		int k = next;
		*s += strspn(*s, ", ");
		if ((*s)[word_length(*s)] == '=') {
			const char *key = take(s);
			if ((k = param_find(f, key)) < 0)
				wrong("no such keyword", key);
			++*s;
		} else if (f && k >= n) {
			wrong("too many arguments", *s);
		} else if (f && !p[k].star) {
			next++;
		}
		if (f && k >= 0 && k < n)
			given[k] = true;
		check_value(s);
	}
	*s += **s != 0;
	for (int k = 0; k < n; k++)
		if (!given[k] && !p[k].deflt && !p[k].star)
			wrong("an argument is missing", f->name);
}

static void check_word(const char **s)
{
	const char *word = take(s);
	bool known = !strcmp(word, "true") || !strcmp(word, "false") || !strcmp(word, "none") ||
		dtype_find(word) != DT_NONE || function_find(word);
	if (**s == '(') {
		if (!callee(word))
			wrong("no such function", word);
		check_arguments(s, callee(word));
		return;
	}
	for (int i = 0; i < nparams; i++)
		if (params[i].len == strlen(word) && !memcmp(params[i].name, word, params[i].len))
			known = used[i] = true;
	if (!known)
		wrong("no input or attribute", word);
}

static void check_value(const char **s)
{
	*s += strspn(*s, " ");
	if (**s == '[')
		check_arguments(s, NULL);
	else if (isalpha((unsigned char)**s))
		check_word(s);
	else
		parse_literal(s);
}

static void check_call(void)
{
	const char *s = row->call;
	size_t inputs = strcspn(row->params, ";");
	nparams = signature_params(arena_printf("%.*s", (int)inputs, row->params), params);
	if (row->params[inputs])
		nparams += signature_params(row->params + inputs + 1, params + nparams);
	memset(used, 0, sizeof used);
	check_value(&s);
	if (*s)
		wrong("behind the call stands", s);
	for (int i = 0; i < nparams; i++)
		if (!used[i])
			wrong("is not used", params[i].name);
}

int main(void)
{
	for (row = rows; row < rows + ROWS; row++) {
		if (row->first > row->last)
			wrong("its last version is before its first", "");
		for (const Row *r = rows; r < row; r++)
			if (!strcmp(r->name, row->name) && !strcmp(r->domain, row->domain) &&
				r->first <= row->last && row->first <= r->last)
				wrong("two rows for one version", r->name);
		if (row->call)
			check_call();
	}
	return faults > 0;
}
