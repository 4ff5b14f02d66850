/* prove A: shows that a document stays within its memory, and prints how. Exit status 4, and the
 * one line of prove_admit(), when that cannot be shown. prove A B: whether B means what A
 * does. */
#include "document/document.h"
#include "equal/equal.h"
#include "io/io.h"
#include "process/process.h"
#include "prove/prove.h"
#include <stdlib.h>

static struct { bool pass, quiet; const char *seed, *after; } opt;

static const Option options[] = {
	{0, "pass", NULL, "pass the document on, and print on standard error", &opt.pass},
	{'q', "quiet", NULL, "print nothing", &opt.quiet},
	{0, "seed", "N", "A and B: of what is drawn at random (1)", &opt.seed},
	{0, "after", "PASS", "A and B follow one another on standard input; PASS made B of A",
		&opt.after},
	{0}
};
static const Stage form = {
	.name = "prove",
	.summary =
		"Proves that a document stays within its memory; of two, that B means what A\n"
		"does: exit status 0 if so, 1 if refuted, 3 if it cannot be told.",
	.usage = "[A [B]]",
	.options = options,
};

static void print_shown(FILE *to, double ms)
{
	const PlacesShown *at;
	size_t n = places_shown(&at), places = 0;

	for (size_t i = 0; i < n; i++) {
		size_t all = at[i].bounds + at[i].gates + at[i].symbols;
		fprintf(to, "K%u %s: %zu places, %zu by bounds, %zu under gates, %zu with symbols, "
			"%.2f ms\n", at[i].call, kernel_name(at[i].kernel), all, at[i].bounds,
			at[i].gates, at[i].symbols, at[i].ms);
		places += all;
	}
	fprintf(to, "%zu places of %zu kernels proved in %.2f ms\n", places, n, ms);
}

static void handle(Graph *g)
{
	double begin = now_ms();

	verify(g);
	g = prove_admit(g);
	if (!opt.quiet)
		print_shown(opt.pass ? stderr : stdout, now_ms() - begin);
	if (opt.pass)
		stream_write(NULL, g);
}

/* ---- two documents */

static Graph *checked(Graph *g)
{
	verify(g);
	if (g->level < LV_GRAPH)
		die(UNSUPPORTED, "a document of level tensor: trace it first");
	checks_remember(g);
	return g;
}

static Graph *read_one(const char *file)
{
	Stream *in = source_open(file);
	Graph *g = stream_next(in ? in : stream_open(file), 0);

	if (!g)
		die(MALFORMED, "%s: ends early at byte 0", file);
	return checked(g);
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

/* Both documents of standard input are in memory as long as they are compared. */
static int compare_both(void)
{
	Buf all = {0};
	char part[1 << 16];
	size_t used, n;

	while ((n = fread(part, 1, sizeof part, stdin)))
		buf_add(&all, part, n);
	Graph *a = checked(wire_read(all.s, all.n, &used, 0));
	return compare(a, checked(wire_read(all.s + used, all.n - used, NULL, 0)));
}

int main(int argc, char **argv)
{
	Stream *in;
	Graph *g;

	stage_begin(form.name);
	int first = options_parse(&form, argc, argv);
	if (argc - first > (opt.after ? 0 : 2))
		die(USAGE, "'%.80s' is too much", argv[argc - 1]);
	if (opt.after)
		return compare_both();
	if (argc - first == 2) {
		g = read_one(argv[first]);
		return compare(g, read_one(argv[first + 1]));
	}
	const char *file = first < argc ? argv[first] : process.input;
	in = source_open(file);
	in = in ? in : stream_open(file);
	for (; (g = stream_next(in, 0)); arena_reset())
		handle(g);
	if (!stream_count(in))
		die(MALFORMED, "%s: ends early at byte 0", stream_name(in));
	return stage_end();
}
