/* match: the nodes of a document that a pattern fits; grep for tensor programs.  Status 0 when there are some, 1 when
 * there is none. */
#include "io/io.h"
#include "process/process.h"
#include "rules/rule.h"
#include <stdlib.h>

static bool count_only;
static const char *condition;

/* The pattern as a rule, so that it may have conditions. */
static const Rule *pattern(const char *text)
{
	char *rule = arena_printf("%s -> self%s%s", text, condition ? " if " : "", condition ? condition : "");
	return rules_parse(xstrdup(rule), strlen(rule), "PATTERN")->at;
}

static void print_node(size_t at, const UOp *u, const Rule *r, UOp *const *env)
{
	const Val *name = val_get(u->op == OP_BUFFER ? u->arg : u->note, "name"), *loc = val_get(u->note, "loc");
	printf("%%%zu %s %s", at, op_name(u->op), dtype_name(u->dtype));
	if (u->shape)
		printf(" %s", shape_text(u->shape));
	for (int i = 0; i < r->nvars; i++)
		printf(" %s=%s%s%s", r->var[i], op_name(env[i]->op), env[i]->shape ? " " : "",
			env[i]->shape ? shape_text(env[i]->shape) : "");
	if (name && name->kind == VAL_STR) {
		Buf b = {0};
		val_print(&b, name);
		printf(" name=%s", buf_str(&b));
		buf_free(&b);
	}
	if (loc && loc->kind == VAL_STR) {
		Buf b = {0};
		val_print(&b, loc);
		printf(" loc=%s", buf_str(&b));
		buf_free(&b);
	}
	putchar('\n');
}

static size_t match_graph(const Graph *g, const Rule *r)
{
	Nodes all = g->all.n ? g->all : walk(g->sink);
	UOp *env[MAX_VARS];
	size_t found = 0;
	for (size_t i = 0; i < all.n; i++) {
		if (!rule_match(r, all.at[i], env))
			continue;
		found++;
		if (!count_only)
			print_node(i, all.at[i], r, env);
	}
	return found;
}

int main(int argc, char **argv)
{
	static const Option options[] = {
		{'c', "count", NULL, "print only how many there are", &count_only},
		{0, "if", "CONDITION", "as in a rule: 'float(x)', '!const(x), int(y)'", &condition},
		{0}
	};
	static const Stage form = {.name = "match", .summary = "find a pattern in a document",
		.usage = "PATTERN [FILE]", .options = options};
	stage_begin(form.name);
	int first = options_parse(&form, argc, argv);
	if (argc - first < 1 || argc - first > 2)
		die(USAGE, "one PATTERN and at most one FILE (see --help)");
	Stream *in = stream_open(first + 1 < argc ? argv[first + 1] : opt_input);
	size_t found = 0;
	for (Graph *g; (g = stream_next(in, READ_RAW)); arena_reset())
		found += match_graph(g, pattern(argv[first]));
	if (!stream_count(in))
		die(MALFORMED, "%s: ends early at byte 0", stream_name(in));
	if (count_only)
		printf("%zu\n", found);
	stage_end();
	return found ? DONE : FAILED;
}
