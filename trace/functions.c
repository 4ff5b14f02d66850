/* functions [NAME …]: the functions of the tensor library and the ONNX operators, from the tables
 * that trace itself reads.
 *
 *     $ functions hypot
 *     hypot(x, y)                               sqrt(x*x + y*y) without overflow */
#include "process/process.h"
#include <ctype.h>

typedef struct { const char *name, *params, *help; } Function;
static const Function functions[] = {
#define FN(name, params, help) {#name, params, help},
#include "library/functions.def"
	{0}
};

/* how: a call of the library, or words */
typedef struct {
	const char *domain, *name;
	int first, last;
	const char *params, *how;
} Operator;
static const Operator operators[] = {
#define ONNX_FN_IN(domain, name, first, last, params, call) \
	{domain, #name, first, last, params, call},
#define ONNX_OP_AS(domain, name, function, first, last, how) \
	{domain, #name, first, last, "", how},
#include "onnx/operators.def"
	{0}
};

static bool onnx;
static const Option options[] = {
	{0, "onnx", NULL, "list the ONNX operators", &onnx},
	{0},
};
static const Stage form = {
	.name = "functions",
	.summary = "Lists the functions of the tensor library, or says what some are.",
	.usage = "[NAME]…",
	.options = options,
};

static void put_function(const Function *f)
{
	enum { COLUMN = 41 };
	int n = printf("%s(%s)", f->name, f->params);
	printf("%*s %s\n", n < COLUMN ? COLUMN - n : 0, "", f->help);
}

static void put_operator(const Operator *o)
{
	enum { COLUMN = 41 };
	int n = printf("%s%s%s-%d", o->domain, *o->domain ? ":" : "", o->name, o->first);
	n += o->last > o->first ? printf("..%d", o->last) : 0;
	n += *o->params ? printf("(%s)", o->params) : 0;
	printf("%*s %s\n", n < COLUMN ? COLUMN - n : 0, "", o->how);
}

static bool contains(const char *text, const char *word)
{
	size_t n = strlen(word);
	for (; *text; text++)
		if (!strncasecmp(text, word, n))
			return true;
	return false;
}

typedef bool (*Fits)(const char *name, const char *word);

static bool is_name(const char *name, const char *word) { return !strcasecmp(name, word); }

static bool named(const char *word)
{
	for (const Function *f = functions; f->name; f++)
		if (!strcmp(f->name, word))
			return true;
	for (const Operator *o = operators; o->name; o++)
		if (!strcmp(o->name, word))
			return true;
	return false;
}

/* Prints all whose name fits; returns how many. */
static size_t put_fitting(const char *word, Fits fits)
{
	size_t n = 0;
	for (const Function *f = functions; f->name; f++)
		if (fits(f->name, word)) {
			put_function(f);
			n++;
		}
	for (const Operator *o = operators; o->name; o++)
		if (fits(o->name, word)) {
			put_operator(o);
			n++;
		}
	return n;
}

static void explain(const char *word)
{
	Nearest near = {.word = word};
	if (put_fitting(word, named(word) ? is_name : contains))
		return;
	for (const Function *f = functions; f->name; f++)
		nearest_try(&near, f->name);
	for (const Operator *o = operators; o->name; o++)
		nearest_try(&near, o->name);
	die(USAGE, "there is no function '%.80s'%s", word, nearest_hint(&near));
}

int main(int argc, char **argv)
{
	stage_begin(form.name);
	int first = options_parse(&form, argc, argv);
	for (int i = first; i < argc; i++)
		explain(argv[i]);
	for (const Function *f = functions; first == argc && !onnx && f->name; f++)
		put_function(f);
	for (const Operator *o = operators; first == argc && onnx && o->name; o++)
		put_operator(o);
	return stage_end();
}
