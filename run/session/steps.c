/* The calls of a run, one after another, with reports and saved states between them.
 *
 *     run: step 300/1000  loss 0.213  4120 steps/s     one line on a terminal, a line each --every
 *
 * Calls are counted from the first one that changed the states, including earlier runs (--load). So
 * a run that continues takes the next rows of its feeds and gives the result of an uninterrupted
 * run. */
#include "session/session.h"
#include <stdlib.h>
#include <unistd.h>

typedef struct {
	Session *s;
	const CallOptions *o;
	int64_t done, last;             /* calls made, and the number at which to stop */
	int64_t told_at;                /* the last report: its call and its time */
	double told_ms;
	bool terminal, drawn;
} Calls;

/* Prints outputs that are floating-point scalars, at most MOST. */
static void scalars(Session *s, Buf *b)
{
	enum { MOST = 4 };
	const char *const *names;
	const Array *at;
	size_t n = session_outputs(s, &names, &at), told = 0;

	for (size_t i = 0; i < n && told < MOST; i++) {
		double v;
		if (at[i].rank || !at[i].data || !dtype_float(at[i].dtype))
			continue;
		interp_cast(DT_F64, &v, at[i].dtype, at[i].data, 1);
		buf_printf(b, "  %.40s %.4g", names[i], v);
		told++;
	}
}

static void report(Calls *t, bool line)
{
	double now = now_ms(), ms = now - t->told_ms;
	Buf b = {0};

	buf_printf(&b, "%s%s: step %lld", t->drawn ? "\r\033[K" : "", process.stage,
		(long long)t->done);
	if (!line)
		buf_printf(&b, "/%lld", (long long)t->last);
	scalars(t->s, &b);
	buf_printf(&b, "  %.*f steps/s", ms > 0 && t->done - t->told_at < ms / 10 ? 1 : 0,
		ms > 0 ? 1000 * (t->done - t->told_at) / ms : 0.0);
	fprintf(stderr, "%.*s%s", (int)b.n, b.s, line ? "\n" : "");
	fflush(stderr);
	t->drawn = !line;
	t->told_at = t->done;
	t->told_ms = now;
	buf_free(&b);
}

static void call_done(Calls *t)
{
	enum { OFTEN = 200 };           /* ms */
	const CallOptions *o = t->o;

	t->done++;
	if (o->every && t->done % o->every == 0)
		report(t, true);
	else if (t->terminal && now_ms() - t->told_ms >= OFTEN)
		report(t, false);
	if (o->save && (t->done == t->last || (o->save_every && t->done % o->save_every == 0)))
		states_save(t->s, o->save, t->done);
}

int64_t calls_run(Session *s, Feeds *f, const CallOptions *o, double *first_ms)
{
	Calls t = {.s = s, .o = o};
	int64_t first;

	first = t.done = o->load ? states_load(s, o->load) : 0;
	if (!o->until && o->times > INT64_MAX - first)
		die(MALFORMED, "%s: too many calls", o->load);
	if (f)
		feeds_start(f, first);
	t.last = o->until ? o->until : first + (o->times ? o->times : f ? feeds_batches(f) : 1);
	t.terminal = o->progress && t.last - first > 1 && isatty(STDERR_FILENO);
	t.told_at = first;
	t.told_ms = now_ms();
	while (t.done < t.last) {
		double begin = t.done == first ? now_ms() : 0;
		session_call(s);
		if (t.done == first)
			*first_ms = now_ms() - begin;
		if (o->collected)
			collected_add(o->collected, s);
		call_done(&t);
	}
	if (t.drawn)
		fputs("\r\033[K", stderr);
	return t.done - first;
}
