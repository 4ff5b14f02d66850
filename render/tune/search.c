/* Beam search for the lists of a unit's kernels.
 *
 * A beam holds the few fastest lists so far. Each round asks for what one change makes of them, in
 * the order of estimates, times the first and some of the others, and keeps the fastest. It ends
 * when some rounds in a row found nothing faster, or the unit's share of the time is over. What was
 * found is then timed anew, and kept if it is faster again.
 *
 * Nothing here is drawn at random, but times are what they are: two searches may end with different
 * lists. A list is a text, which gives the same kernel always. */
#include "base/progress.h"
#include "document/document.h"
#include "io/io.h"
#include "tune/parts.h"
#include <math.h>
#include <stdlib.h>

enum { BEAM = 4, KNOWN = 24, TRIED = 12, SPREAD = 8, PATIENCE = 8, CONFIRMED = 4,
	ROUNDS = 5, LATE = 3000 /* ms that a trial may begin after the end */ };
/* How much faster a list has to be, in all timings, to be kept; what a round has to gain. */
static const double KEPT = 0.95, GAIN = 0.99;

typedef struct { const Val *list; double ratio; } Found;    /* to the reference */
typedef VEC(Found) Finds;
typedef struct {
	const Graph *g;
	Unit *u;
	const SearchOptions *o;
	int k;                  /* the kernel whose list is sought */
	double until, begin, end;       /* now_ms() of the unit; of all */
	Map tried;
	Finds beam;
} Search;

static bool over(const Search *s) { return *s->o->stop || now_ms() > s->until; }

/* The unit's lists with that one for kernel k. */
static void lists_with(const Search *s, const Val *list, const Val **to)
{
	memcpy(to, s->u->list, s->u->n * sizeof *to);
	to[s->k] = list;
}

static int by_ratio(const void *a, const void *b)
{
	double x = ((const Found *)a)->ratio, y = ((const Found *)b)->ratio;
	return x < y ? -1 : x > y;
}

static void tell(const Search *s)
{
	double best = s->beam.n ? s->beam.at[0].ratio : 1;
	Progress p = progress_start(arena_printf("%s %zu lists, %.2f of %.3f ms",
		kernel_name(s->u->call[s->k]->src[0]), s->u->tried, best, s->u->start / 1e6), 100,
		true);
	progress_step(&p, (size_t)(100 * (now_ms() - s->begin) / (s->end - s->begin + 1)));
}

static _Noreturn void wrong(const Search *s, const Val *list, const char *why)
{
	Buf b = {0}, ref = {0};
	const Val *known = s->u->list[s->k];
	/* the actions that the reference does not have */
	for (size_t i = 0; i < list->n; i++) {
		bool has = false;
		for (size_t k = 0; k < known->n; k++)
			has |= known->a[k] == list->a[i];
		if (!has)
			actions_text(&ref, VARR(list->a[i], VARR(val_str(""))));
	}
	actions_text(&b, list);
	die(FAILED, "%s: a wrong result by '%s' in '%s': %s",
		kernel_name(s->u->call[s->k]->src[0]), buf_str(&ref), buf_str(&b), why);
}

/* Times lists beside the unit's own; the beam gets those that run. */
static void time_lists(Search *s, size_t n, const Val *const *list)
{
	size_t calls = s->u->n;
	const Val **lists = arena_alloc((n + 1) * calls * sizeof *lists);
	Lap *laps = arena_alloc((n + 1) * sizeof *laps);
	lists_with(s, s->u->list[s->k], lists);
	for (size_t i = 0; i < n; i++)
		lists_with(s, list[i], lists + (i + 1) * calls);
	TrialOptions o = s->o->trial;
	o.until = s->until + LATE;
	trials_run(s->g, s->u, n + 1, lists, &o, laps);
	if (laps[0].what != TIMED)
		return;
	s->u->tried += n;
	for (size_t i = 0; i < n; i++) {
		const Lap *l = &laps[i + 1];
		if (l->what == WRONG && !*s->o->stop)
			wrong(s, list[i], l->why);
		if (l->what == CRASHED && !over(s)) {
			Buf b = {0};
			actions_text(&b, list[i]);
			warn("%s: left out '%s': %s", kernel_name(s->u->call[s->k]->src[0]),
				buf_str(&b), l->why);
			buf_free(&b);
		}
		if (l->what == TIMED)
			vec_push(&s->beam, ((Found){list[i], l->ns / laps[0].ns}));
	}
	qsort(s->beam.at, s->beam.n, sizeof *s->beam.at, by_ratio);
	s->beam.n = s->beam.n < KNOWN ? s->beam.n : KNOWN;
}

/* The lists to time next: the first that are proposed, and some of the rest. Rounds that found
 * nothing make them of slower parents, and of the fastest again. */
static size_t next_lists(Search *s, int without, const Val **list)
{
	size_t from = without * BEAM / 2 % s->beam.n, n = 0, left = 0;
	size_t parents = s->beam.n - from < BEAM ? s->beam.n - from : BEAM;
	const Val **lists = arena_alloc((parents + 1) * s->u->n * sizeof *lists);
	const Val *ratio[BEAM];
	for (size_t i = 0; i < parents; i++) {
		lists_with(s, s->beam.at[from + i].list, lists + i * s->u->n);
		ratio[i] = val_float(s->beam.at[from + i].ratio);
	}
	Graph *g = trial_document(s->g, s->u, parents, lists, &s->o->trial);
	const Val *trial = val_get(g->meta, "trial");
	trial = val_set(trial, "ratios", val_array(parents, ratio));
	trial = val_set(trial, "kernel", val_int(s->k));
	g->meta = val_set(g->meta, "trial", trial);
	Graph *answer = worker_ask(PROPOSE, g);
	const Val *v = answer ? val_get(answer->meta, "lists") : NULL;
	VEC(const Val *) fresh = {0};
	for (size_t i = 0; v && i < v->n; i++)
		if (!map_get(&s->tried, PKEY(v->a[i]->a[0])))
			vec_push(&fresh, v->a[i]->a[0]);
	left = fresh.n;
	for (size_t i = 0; i < left && n < TRIED; i++, n++)
		list[n] = fresh.at[i];
	for (size_t i = TRIED, step = 1 + (left > TRIED ? left - TRIED : 0) / SPREAD; i < left;
		i += step)
		list[n++] = fresh.at[i];
	for (size_t i = 0; i < n; i++) {
		map_put(&s->tried, PKEY(list[i]), (void *)list[i]);
		list[i] = actions_parse(list[i]->s, MALFORMED, "a proposal");
	}
	vec_free(&fresh);
	return n;
}

/* The time of the unit with that list when nothing else runs in the process: 0 if it does not. */
static double time_alone(const Search *s, const Val *list)
{
	const Val *lists[MAX_SLICE_CALLS];
	Lap lap;
	lists_with(s, list, lists);
	trials_run(s->g, s->u, 1, lists, &s->o->trial, &lap);
	return lap.what == TIMED ? lap.ns : 0;
}

/* A list's times by itself: other work only makes them longer, so the least tells most. */
typedef struct { const Val *list; double at[ROUNDS], least; } Times;

static void add_time(const Search *s, Times *t, int round)
{
	double ns = *s->o->stop ? 0 : time_alone(s, t->list);
	t->at[round] = ns > 0 ? ns : HUGE_VAL;
	t->least = round && t->least < t->at[round] ? t->least : t->at[round];
}

static double median(const Times *t)
{
	double sorted[ROUNDS];
	int n = 0;
	for (int i = 0; i < ROUNDS; i++) {
		int k = n++;
		for (; k && sorted[k - 1] > t->at[i]; k--)
			sorted[k] = sorted[k - 1];
		sorted[k] = t->at[i];
	}
	return sorted[ROUNDS / 2];
}

/* Side by side candidates take room in caches from one another, and what goes past the caches
 * looks better than it is. So those that seem faster are timed again, each by itself, in turns
 * with the unit's own list, and have to be faster by the least of their times and by the median.
 * Returns by how much the best is, and which; 1 when none is. */
static double time_again(const Search *s, const Finds *found, const Val **best)
{
	Times own = {.list = s->u->list[s->k]}, t[CONFIRMED];
	int n = 0;
	double ratio = 1;
	for (; n < CONFIRMED && (size_t)n < found->n && found->at[n].ratio < KEPT; n++)
		t[n] = (Times){.list = found->at[n].list};
	for (int round = 0; round < ROUNDS && n; round++) {
		int left = 0;
		add_time(s, &own, round);
		for (int i = 0; i < n; i++) {
			add_time(s, &t[i], round);
			if (t[i].least < own.least || !round)
				t[left++] = t[i];
		}
		n = left;
	}
	for (int i = 0; i < n; i++) {
		double by = fmax(t[i].least / own.least, median(&t[i]) / median(&own));
		*best = by < ratio ? t[i].list : *best;
		ratio = by < ratio ? by : ratio;
	}
	return ratio;
}

static void confirm(Search *s)
{
	const Val *best = NULL;
	double ratio = time_again(s, &s->beam, &best);
	if (!(ratio < KEPT))
		return;
	s->u->list[s->k] = best;
	s->u->ns *= ratio;
	s->o->better(s->u, s->o->ctx);
}

static void search_kernel(Search *s)
{
	const Val *list[TRIED + SPREAD + 1];
	int without = 0;
	double best = 1;
	vec_push(&s->beam, ((Found){s->u->list[s->k], 1}));
	while (!over(s) && without < PATIENCE) {
		size_t n = next_lists(s, without, list);
		if (n)
			time_lists(s, n, list);
		tell(s);
		without = s->beam.at[0].ratio < best * GAIN ? 0 : without + 1;
		best = s->beam.at[0].ratio;
	}
	if (!*s->o->stop)
		confirm(s);
	map_free(&s->tried);
	vec_free(&s->beam);
}

/* ---- units */

static void time_unit(const Graph *g, Unit *u, const SearchOptions *o)
{
	Lap lap;
	TrialOptions brief = o->trial;
	brief.seconds = 0;
	trials_run(g, u, 1, u->list, &brief, &lap);
	u->ns = u->start = lap.what == TIMED ? lap.ns : 0;
	u->why = lap.what == TIMED ? NULL : lap.why;
}

static int by_share(const void *a, const void *b)
{
	const Unit *x = a, *y = b;
	double p = x->ns * x->times, q = y->ns * y->times;
	return p > q ? -1 : p < q;
}

void units_search(const Graph *g, Units *units, const SearchOptions *o)
{
	double begin = now_ms(), end = begin + o->seconds * 1000, all = 0;
	for (size_t i = 0; i < units->n && !*o->stop && now_ms() < end; i++) {
		time_unit(g, &units->at[i], o);
		all += units->at[i].ns * units->at[i].times;
	}
	qsort(units->at, units->n, sizeof *units->at, by_share);
	for (size_t i = 0; i < units->n; i++) {
		Unit *u = &units->at[i];
		double share = u->ns * u->times / (all > 0 ? all : 1), left = end - now_ms();
		all -= u->ns * u->times;
		for (int k = 0; k < u->n && u->ns > 0; k++) {
			Search s = {.g = g, .u = u, .o = o, .k = k, .begin = begin, .end = end,
				.until = now_ms() + left * share / u->n};
			if (!*o->stop && now_ms() < end)
				search_kernel(&s);
		}
	}
	progress_clear();
}
