/* prove A B: whether two documents mean the same (common/equal). prove A: that its places lie
 * within their buffers (common/prove). */
#include <stdlib.h>
#include "equal/equal.h"
#include "io/io.h"
#include "process/process.h"
#include "prove/prove.h"

static struct { bool quiet; const char *seed, *after; } opt;
static const Option options[] = {
	{'q', "quiet", NULL, "print nothing, only set the exit status", &opt.quiet},
	{0, "seed", "N", "of the random points (1)", &opt.seed},
	{0, "after", "PASS", "A and B follow one another on standard input; PASS made B of A",
		&opt.after},
	{0},
};
static const Stage tool = {.name = "prove",
	.usage = "A [B]",
	.options = options,
	.summary =
		"Proves that B means what A does, two documents of any levels: exit status 0 if\n"
		"so, 1 if refuted, 3 if it cannot be told. With A alone: that it stays within its\n"
		"buffers."};

static Graph *checked(Graph *g, const char *file)
{
	verify(g);
	if (g->level < LV_GRAPH)
		die(UNSUPPORTED, "%s: a document of level tensor: trace it first", file);
	checks_remember(g);
	return g;
}

static Graph *read_one(const char *file)
{
	Stream *s = stream_open(file);
	Graph *g = stream_next(s, 0);

	if (!g)
		die(MALFORMED, "%s: ends early at byte 0", file);
	return checked(g, file);
}

/* Both documents of standard input, in memory as long as they are. */
static void read_both(Graph **a, Graph **b)
{
	Buf all = {0};
	char part[1 << 16];
	size_t used, n;

	while ((n = fread(part, 1, sizeof part, stdin)))
		buf_add(&all, part, n);
	*a = wire_read(all.s, all.n, &used, 0);
	*b = wire_read(all.s + used, all.n - used, NULL, 0);
	checked(*a, opt.after);
	checked(*b, opt.after);
}

static int compare(const Graph *a, const Graph *b)
{
	uint64_t seed = opt.seed ? strtoull(opt.seed, NULL, 0) : 1;
	Buf report = {0};
	EqualVerdict verdict = equal_documents(a, b, seed, &report);

	if (!opt.quiet)
		printf("%s%s%s\n", opt.after ? opt.after : "", opt.after ? ": " : "",
			buf_str(&report));
	buf_free(&report);
	int end = stage_end();
	return verdict == EQUAL_SAME ? end : (int)verdict;
}

int main(int argc, char **argv)
{
	Graph *a, *b;

	stage_begin(tool.name);
	int first = options_parse(&tool, argc, argv), n = argc - first;
	if (opt.after ? n != 0 : n < 1 || n > 2)
		die(USAGE, opt.after ? "--after takes no files" : "one document, or two: A [B]");
	if (opt.after) {
		read_both(&a, &b);
		return compare(a, b);
	}
	a = read_one(argv[first]);
	if (n == 2)
		return compare(a, read_one(argv[first + 1]));
	prove_document(a);
	return stage_end();
}
