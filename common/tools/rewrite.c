/* rewrite: rules from the command line or a file applied to a document; sed for tensor programs. */
#include "rules/rules.h"
#include "io/io.h"
#include "process/process.h"
#include <stdlib.h>

static VEC(const char *) exprs;
static VEC(const char *) files;
static bool builtin, say, once;

static Graph *body(Graph *g)
{
	Rules *all = NULL;
	size_t n;
	for (size_t i = 0; i < exprs.n; i++) {
		Rules *r = rules_parse(exprs.at[i], strlen(exprs.at[i]), "-e");
		all = all ? rules_join(all, r) : r;
	}
	for (size_t i = 0; i < files.n; i++) {
		const void *text = file_map(files.at[i], &n);
		Rules *r = rules_parse(text, n, files.at[i]);
		all = all ? rules_join(all, r) : r;
	}
	if (builtin)
		all = all ? rules_join(all, rules_builtin("simplify")) : rules_builtin("simplify");
	if (!all)
		die(USAGE, "no rules: give -e 'x * 2 -> x + x' or -f FILE.rules");
	Graph *r = arena_alloc(sizeof *r);
	*r = *g;
	r->all = (Nodes){0};
	r->sink = once ? rewrite_once(g->sink, all, &n) : rewrite(g->sink, all, &n);
	if (say)
		warn("%zu rules applied", n);
	return r;
}

int main(int argc, char **argv)
{
	static const Option options[] = {
		{'e', "expression", "RULE", "a rule, as in a .rules file", &exprs, .many = true},
		{'f', "file", "FILE", "rules from a file", &files, .many = true},
		{0, "simplify", NULL, "the built-in rules of simplify as well", &builtin},
		{0, "once", NULL, "one sweep, not to a fixed point: a rule may grow what it matches", &once},
		{0, "count", NULL, "say how many rules were applied", &say},
		{0}
	};
	static const Stage stage = {
		.name = "rewrite", .summary = "rewrite a graph by rules", .usage = "-e RULE|-f FILE [FILE]",
		.options = options, .level_in = LV_GRAPH, .level_most = LV_PROGRAM, .level_out = -1, .body = body,
	};
	return stage_main(&stage, argc, argv);
}
