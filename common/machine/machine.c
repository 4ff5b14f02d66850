/* The figures of a processor: read from lines "key: numbers", and written as such.
 *
 *     clock: 4000
 *     cache: 32768 1048576 33554432
 */
#include "machine/machine.h"
#include <stdlib.h>

#define FIELDS(...) __VA_ARGS__
#define USUAL(CPU, GPU) static const Machine usual = {FIELDS CPU}, usual_gpu = {FIELDS GPU};
#include "machine/machines.def"
#undef USUAL

enum { MOST = 1 << 24 };
/* One number, or several of them, by key. */
static const struct { const char *key; size_t at; int n; bool wide; } figures[] = {
#define FIGURE(KEY, N, WIDE) {#KEY, offsetof(Machine, KEY), N, WIDE}
	FIGURE(cores, 1, false), FIGURE(ops, 1, false), FIGURE(loads, 1, false),
	FIGURE(latency, 1, false), FIGURE(clock, 1, false), FIGURE(start, 1, false),
	FIGURE(line, 1, false), FIGURE(page, 1, false), FIGURE(ways, 1, false),
	FIGURE(copy, 1, false), FIGURE(spared, 1, false), FIGURE(cache, 3, true),
	FIGURE(read, 4, false), FIGURE(runs, 1, false),
#undef FIGURE
};
enum { FIGURES = sizeof figures / sizeof *figures };

static int64_t get(const Machine *m, int f, int k)
{
	const char *at = (const char *)m + figures[f].at;
	return figures[f].wide ? ((const int64_t *)at)[k] : ((const int *)at)[k];
}

static void put(Machine *m, int f, int k, int64_t v)
{
	char *at = (char *)m + figures[f].at;
	if (figures[f].wide)
		((int64_t *)at)[k] = v;
	else
		((int *)at)[k] = (int)v;
}

static void read_numbers(Machine *m, int f, const char *text, const char *whose)
{
	int64_t most = figures[f].wide ? (int64_t)MOST << 16 : MOST;
	char *end = (char *)text;
	for (int k = 0; k < figures[f].n; k++) {
		long long v = strtoll(text = end, &end, 10);
		if (end == text || v < 1 || v > most)
			die(MALFORMED, "%s: %s takes %d number%s from 1 to %lld", whose,
				figures[f].key, figures[f].n, figures[f].n > 1 ? "s" : "",
				(long long)most);
		put(m, f, k, v);
	}
	if (end[strspn(end, " \t\r")])
		die(MALFORMED, "%s: %s takes no more than %d", whose, figures[f].key,
			figures[f].n);
}

bool machine_set(Machine *m, const char *key, const char *text, const char *whose)
{
	for (int f = 0; f < FIGURES; f++)
		if (!strcmp(key, figures[f].key)) {
			read_numbers(m, f, text, whose);
			return true;
		}
	return false;
}

void machine_fill(Machine *m, bool gpu)
{
	for (int f = 0; f < FIGURES; f++)
		for (int k = 0; k < figures[f].n; k++)
			if (!get(m, f, k))
				put(m, f, k, get(gpu ? &usual_gpu : &usual, f, k));
}

void machine_read(Machine *m, const char *text, const char *whose)
{
	char *all = arena_strdup(text);
	for (char *line = strtok(all, "\n"); line; line = strtok(NULL, "\n")) {
		char *colon = strchr(line, ':');
		if (!colon)
			die(MALFORMED, "%s: a line is not \"key: numbers\"", whose);
		*colon = 0;
		machine_set(m, line, colon + 1, whose);
	}
}

void machine_print(Buf *out, const Machine *m)
{
	for (int f = 0; f < FIGURES; f++) {
		buf_printf(out, "%s:", figures[f].key);
		for (int k = 0; k < figures[f].n; k++)
			buf_printf(out, " %lld", (long long)get(m, f, k));
		buf_printf(out, "\n");
	}
}
