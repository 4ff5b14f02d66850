/* rewrite: rules from the command line or a file applied to a document; sed for tensor programs. */
#include "rules/rule.h"
#include "io/io.h"
#include "process/process.h"
#include <stdlib.h>

static struct {
	VEC(const char *) exprs, files;
	bool builtin, say, once;
} opt;

static Graph *body(Graph *g)
{
	Rules *all = NULL;
	size_t n;
	for (size_t i = 0; i < opt.exprs.n; i++)
		all = rules_add(all, opt.exprs.at[i], strlen(opt.exprs.at[i]), "-e", NULL);
	for (size_t i = 0; i < opt.files.n; i++) {
		const void *text = file_map(opt.files.at[i], &n);
		all = rules_add(all, text, n, opt.files.at[i], NULL);
	}
	if (opt.builtin)
		all = rules_add_builtin(all, "simplify", NULL);
	if (!all)
		die(USAGE, "no rules: give -e 'x * 2 -> x + x' or -f FILE.rules");
	Graph *r = arena_alloc(sizeof *r);
	*r = *g;
	r->all = (Nodes){0};
	r->sink = opt.once ? rewrite_once(g->sink, all, &n) : rewrite(g->sink, all, &n);
	if (opt.say)
		warn("%zu rules applied", n);
	return r;
}

int main(int argc, char **argv)
{
	static const Option options[] = {
		{'e', "expression", "RULE", "a rule, as in a .rules file", &opt.exprs, .many = true},
		{'f', "file", "FILE", "rules from a file", &opt.files, .many = true},
		{0, "simplify", NULL, "the built-in rules of simplify as well", &opt.builtin},
		{0, "once", NULL, "one sweep, not to a fixed point: a rule may grow what it matches", &opt.once},
		{0, "count", NULL, "say how many rules were applied", &opt.say},
		{0}
	};
	static const Stage stage = {
		.name = "rewrite", .summary = "rewrite a graph by rules", .usage = "-e RULE|-f FILE [FILE]",
		.options = options, .level_in = LV_GRAPH, .level_most = LV_PROGRAM, .level_out = -1, .body = body,
	};
	return stage_main(&stage, argc, argv);
}
