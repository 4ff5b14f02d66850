/* prove A B: whether two documents mean the same (common/equal). prove A: that its places lie
 * within their buffers (common/prove). */
#include <stdlib.h>
#include "equal/equal.h"
#include "io/io.h"
#include "process/process.h"
#include "prove/prove.h"

static struct { bool quiet; const char *seed; } opt;
static const Option options[] = {
	{'q', "quiet", NULL, "print nothing, only set the exit status", &opt.quiet},
	{0, "seed", "N", "of the random points (1)", &opt.seed},
	{0},
};
static const Stage tool = {.name = "prove",
	.usage = "A [B]",
	.options = options,
	.summary = "Proves that two documents of any level mean the same: exit status 0 if so, 1 if\n"
		   "refuted, 3 if it cannot be told."};

static Graph *read_one(const char *file)
{
	Stream *s = stream_open(file);
	Graph *g = stream_next(s, 0);

	if (!g)
		die(MALFORMED, "%s: ends early at byte 0", file);
	verify(g);
	if (g->level < LV_GRAPH)
		die(UNSUPPORTED, "%s: a document of level tensor: trace it first", file);
	checks_remember(g);
	return g;
}

int main(int argc, char **argv)
{
	Buf report = {0};

	stage_begin(tool.name);
	int first = options_parse(&tool, argc, argv);
	if (argc - first < 1 || argc - first > 2)
		die(USAGE, "one document, or two: prove A [B]");
	Graph *a = read_one(argv[first]);
	if (argc - first == 1) {
		prove_document(a);
		return stage_end();
	}
	Graph *b = read_one(argv[first + 1]);
	uint64_t seed = opt.seed ? strtoull(opt.seed, NULL, 0) : 1;
	EqualVerdict verdict = equal_documents(a, b, seed, &report);
	if (!opt.quiet)
		puts(buf_str(&report));
	buf_free(&report);
	int end = stage_end();
	return verdict == EQUAL_SAME ? end : (int)verdict;
}
