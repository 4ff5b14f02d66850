/* Who carries out trials: a worker process of this machine, or machines that run
 * `tune --measure -i IN -o OUT`, each of which gets a part of the candidates, and the reference
 * with it, so that only ratios are compared between machines. */
#include "document/document.h"
#include "io/io.h"
#include "process/process.h"
#include "tune/parts.h"
#include <stdlib.h>

enum { CLOCKS = 16, BYTES_MOST = 512 << 20 };
static const char LATE[] = "no time was left";
static struct { struct { void *to, *from; } at[CLOCKS]; int n; } clocks;

Graph *worker_ask(int worker, const Graph *g)
{
	Buf in = {0}, out = {0};
	wire_write(&in, g);
	int status = worker_end(worker_start(worker, in.s, in.n), &out);
	buf_free(&in);
	if (status || !out.n) {
		buf_free(&out);
		return NULL;
	}
	void *bytes = arena_alloc(out.n);
	memcpy(bytes, out.s, out.n);
	size_t n = out.n;
	buf_free(&out);
	return wire_read(bytes, n, NULL, 0);
}

void clocks_open(const char *endpoints)
{
	char *all = xstrdup(endpoints);
	for (char *one = strtok(all, " "); one; one = strtok(NULL, " ")) {
		char *comma = strchr(one, ',');
		if (!comma || clocks.n == CLOCKS)
			die(USAGE, "--clocks takes up to %d pairs 'IN,OUT' of endpoints, not "
				"'%.80s'", CLOCKS, one);
		*comma = 0;
		clocks.at[clocks.n].from = endpoint_in(comma + 1);
		clocks.at[clocks.n++].to = endpoint_out(one);
	}
}

void clocks_close(void)
{
	const void *p;
	size_t n;
	for (int i = 0; i < clocks.n; i++)
		endpoint_close(clocks.at[i].to);
	/* they end when their own end has been read */
	for (int i = 0; i < clocks.n; i++)
		while (endpoint_get(clocks.at[i].from, &p, &n))
			;
	clocks.n = 0;
}

static void all_laps(size_t n, Lap *laps, const char *why)
{
	for (size_t i = 0; i < n; i++)
		laps[i] = (Lap){CRASHED, 0, why};
}

static void local_trial(const Graph *trial, size_t n, Lap *laps)
{
	Graph *g = worker_ask(MEASURE, trial);
	if (g)
		laps_read(g, n, laps);
	else
		all_laps(n, laps, "the process that measures has died");
}

static void send(int clock, const Graph *trial)
{
	Buf b = {0};
	wire_write(&b, trial);
	endpoint_put(clocks.at[clock].to, b.s, b.n);
	buf_free(&b);
}

static void receive(int clock, size_t n, Lap *laps)
{
	const void *p;
	size_t bytes;
	if (!endpoint_get(clocks.at[clock].from, &p, &bytes))
		die(FAILED, "a machine that measures has ended");
	void *copy = arena_alloc(bytes);
	memcpy(copy, p, bytes);
	laps_read(wire_read(copy, bytes, NULL, 0), n, laps);
}

/* Candidates first, first + step, … of the n, behind the reference. */
static size_t part_of(const Unit *u, size_t n, const Val *const *lists, size_t first, size_t step,
	const Val **to)
{
	size_t m = 1;
	memcpy(to, lists, u->n * sizeof *to);
	for (size_t i = first; i < n; i += step)
		memcpy(to + u->n * m++, lists + u->n * i, u->n * sizeof *to);
	return m;
}

static void far_trials(const Graph *g, Unit *u, size_t n, const Val *const *lists,
	const TrialOptions *o, Lap *laps)
{
	const Val **part = arena_alloc(n * u->n * sizeof *part);
	Lap *got = arena_alloc((n + 1) * sizeof *got);
	size_t step = clocks.n, m;
	for (int c = 0; c < clocks.n; c++) {
		m = part_of(u, n, lists, 1 + c, step, part);
		send(c, trial_document(g, u, m, part, o));
	}
	for (int c = 0; c < clocks.n; c++) {
		m = part_of(u, n, lists, 1 + c, step, part);
		receive(c, m, got);
		laps[0] = c ? laps[0] : got[0];
		double scale = got[0].ns > 0 ? laps[0].ns / got[0].ns : 1;
		for (size_t k = 1; k < m; k++) {
			laps[1 + c + (k - 1) * step] = got[k];
			laps[1 + c + (k - 1) * step].ns *= scale;
		}
	}
}

/* Do all laps say the same of the whole batch? */
static bool is_common(size_t n, const Lap *laps)
{
	for (size_t i = 0; i < n; i++)
		if (laps[i].what == TIMED || laps[i].what == WRONG ||
			strcmp(laps[i].why, laps->why))
			return false;
	return true;
}

static void batch(const Graph *g, Unit *u, size_t n, const Val *const *lists,
	const TrialOptions *o, Lap *laps)
{
	const Val **half;
	Graph *trial = trial_document(g, u, n, lists, o);
	if (!trial || (o->until && now_ms() > o->until))
		all_laps(n, laps, trial ? LATE : u->why);
	else if (clocks.n && n > 1)
		far_trials(g, u, n, lists, o, laps);
	else
		local_trial(trial, n, laps);
	if (!trial || laps->why == LATE || n <= 2 || !is_common(n, laps))
		return;
	size_t mid = 1 + (n - 1) / 2;
	half = arena_alloc(n * u->n * sizeof *half);
	Lap *other = arena_alloc(n * sizeof *other);
	memcpy(half, lists, u->n * sizeof *half);
	memcpy(half + u->n, lists + mid * u->n, (n - mid) * u->n * sizeof *half);
	batch(g, u, mid, lists, o, laps);
	batch(g, u, n - mid + 1, half, o, other);
	double scale = other[0].ns > 0 && laps[0].ns > 0 ? laps[0].ns / other[0].ns : 1;
	for (size_t i = mid; i < n; i++) {
		laps[i] = other[i - mid + 1];
		laps[i].ns *= scale;
	}
	laps[0] = laps[0].what == TIMED ? laps[0] : other[0];
}

void trials_run(const Graph *g, Unit *u, size_t n, const Val *const *lists,
	const TrialOptions *o, Lap *laps)
{
	int64_t each = trial_bytes(u) + 1;
	size_t most = 1 + BYTES_MOST / (each < BYTES_MOST ? each : BYTES_MOST);
	const Val **part = arena_alloc((n + 1) * u->n * sizeof *part);
	Lap *got = arena_alloc((n + 1) * sizeof *got);
	if (n <= most) {
		batch(g, u, n, lists, o, laps);
		return;
	}
	for (size_t at = 1; at < n; at += most - 1) {
		size_t m = n - at < most - 1 ? n - at : most - 1;
		memcpy(part, lists, u->n * sizeof *part);
		memcpy(part + u->n, lists + at * u->n, m * u->n * sizeof *part);
		batch(g, u, m + 1, part, o, got);
		laps[0] = at == 1 ? got[0] : laps[0];
		double scale = got[0].ns > 0 && laps[0].ns > 0 ? laps[0].ns / got[0].ns : 1;
		for (size_t i = 0; i < m; i++) {
			laps[at + i] = got[i + 1];
			laps[at + i].ns *= scale;
		}
	}
}
