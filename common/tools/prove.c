/* prove: shows that a document stays within its memory, and prints how. Exit status 4, and the one
 * line of prove_document(), when that cannot be shown. */
#include "document/document.h"
#include "io/io.h"
#include "process/process.h"
#include "prove/prove.h"
#include <stdlib.h>

static struct { bool pass, quiet; } opt;

static const Option options[] = {
	{0, "pass", NULL, "pass the document on, and print on standard error", &opt.pass},
	{'q', "quiet", NULL, "print nothing", &opt.quiet},
	{0}
};
static const Stage form = {
	.name = "prove",
	.summary = "Proves that a document stays within its memory.",
	.usage = "[FILE]",
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
	g = process.guard ? guard_places(g) : g;
	prove_document(g);
	if (!opt.quiet)
		print_shown(opt.pass ? stderr : stdout, now_ms() - begin);
	if (opt.pass)
		stream_write(NULL, g);
}

int main(int argc, char **argv)
{
	Stream *in;
	Graph *g;

	stage_begin(form.name);
	int first = options_parse(&form, argc, argv);
	if (argc - first > 1)
		die(USAGE, "one document is enough: '%.80s' is too much", argv[argc - 1]);
	in = stream_open(first < argc ? argv[first] : process.input);
	for (; (g = stream_next(in, 0)); arena_reset())
		handle(g);
	if (!stream_count(in))
		die(MALFORMED, "%s: ends early at byte 0", stream_name(in));
	return stage_end();
}
