/* rewrite: applies rules from the command line or a file to a document; sed for tensor programs. */
#include "rules/rule.h"
#include "io/io.h"
#include "process/process.h"
#include <stdlib.h>

static struct {
	VEC(const char *) exprs, files, sets;
	const char *lacks, *list;
	bool lacked[OP_COUNT];  /* the ops in opt.lacks */
	bool say, once;
} opt;

/* ---- --lacks: the ops that decompose.rules takes as missing from the target */

static void read_lacks(const char *names)
{
	char word[32];
	int used;
	for (; sscanf(names, " %31s%n", word, &used) == 1; names += used) {
		int op = op_find(word);
		if (op < 0)
			die(USAGE, "--lacks: %s is no op", word);
		opt.lacked[op] = true;
	}
}

static bool lacks(UOp *const *x) { return opt.lacked[x[0]->op]; }

static const CondRow conditions[] = {{"lacks", 1, lacks}, {0}};
static const RuleNames names = {.conditions = conditions, .partial = true};

static Graph *body(Graph *g)
{
	Rules *all = NULL;
	size_t n;
	if (opt.lacks)
		read_lacks(opt.lacks);
	for (size_t i = 0; i < opt.exprs.n; i++)
		all = rules_add(all, opt.exprs.at[i], strlen(opt.exprs.at[i]), "-e", NULL);
	for (size_t i = 0; i < opt.files.n; i++) {
		const void *text = file_map(opt.files.at[i], &n);
		all = rules_add(all, text, n, opt.files.at[i], NULL);
	}
	for (size_t i = 0; i < opt.sets.n; i++)
		all = rules_add_builtin(all, opt.sets.at[i], &names);
	if (!all)
		die(USAGE, "no rules: give -e 'x * 2 -> x + x', -f FILE.rules or --rules NAME");
	Graph *r = arena_alloc(sizeof *r);
	*r = *g;
	r->all = (Nodes){0};
	r->sink = opt.once ? rewrite_once(g->sink, all, &n) : rewrite(g->sink, all, &n);
	if (opt.say)
		warn("%zu rules applied", n);
	return r;
}

/* Prints the names of the built-in rule files, or the text of one. */
static int print_list(const char *name)
{
	const char *s;
	if (name)
		fputs(rules_builtin_text(name), stdout);
	for (size_t i = 0; !name && (s = rules_builtin_name(i)); i++)
		puts(s);
	return stage_end();
}

int main(int argc, char **argv)
{
	static const Option options[] = {{'e', "expression", "RULE", "a rule, as in a .rules file",
						 &opt.exprs, .many = true},
		{'f', "file", "FILE", "rules from a file", &opt.files, .many = true},
		{0, "rules", "NAME", "built-in rules: simplify, decompose", &opt.sets,
			.many = true},
		{0, "lacks", "OPS", "ops for decompose to replace: 'SUB MAX'", &opt.lacks},
		{0, "list", "NAME",
			"print the built-in rules of that name, or all names, and nothing else",
			&opt.list, .optional_arg = true},
		{0, "once", NULL,
			"one sweep instead of a fixed point, for rules that match their own result",
			&opt.once},
		{0, "count", NULL, "print how many rules were applied", &opt.say}, {0}};
	static const Stage stage = {
		.name = "rewrite", .summary = "rewrite a graph by rules",
		.usage = "-e RULE|-f FILE|--rules NAME [FILE]", .options = options,
		.level_in = LV_GRAPH, .level_most = LV_PROGRAM, .level_out = -1, .body = body,
		.steps = STEPS_WHOLE,
	};
	if (argc == 2 && !strncmp(argv[1], "--list", 6)) {
		stage_begin(stage.name);
		options_parse(&stage, argc, argv);
		return print_list(*opt.list ? opt.list : NULL);
	}
	return stage_main(&stage, argc, argv);
}
