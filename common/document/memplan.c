/* Packs temporaries into one workspace. Two plans are made and the smaller is kept: by time (each
 * temporary takes the tightest gap that is free when it is born) and by size (the largest are
 * placed first, below or between those that are alive at the same time). The second compares pairs,
 * so only a schedule of moderate length gets it. It is repeated some times with those first that
 * reached its peak.
 *
 *     sizes 4 2 4, calls 0-1 1-2 2-3     offsets 0 4 0, workspace 6, bound 6
 *
 * Starts of large temporaries are staggered by multiples of 256 bytes within 4 KB, because a
 * processor takes a load to depend on an earlier store when the low 12 bits of their addresses
 * agree (4K aliasing). */
#include <stdlib.h>
#include "document/document.h"

enum { PAIRS = 3000 };  /* the most temporaries for which all pairs are compared */
/* How often a plan by size is made at most, and how many pairs are compared in all. */
enum { TRIES = 64, LOOKS = 4000000 };

enum { LARGE = 256 << 10, STEP = 256, PAGE = 4096 };     /* LARGE: one page more is 1.5 percent */
typedef struct { int64_t size, at, pad; int first, last; size_t i; } Temp;  /* size includes pad */
typedef struct { int64_t at, end; } Gap;

static int by_birth(const void *a, const void *b)
{
	const Temp *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

static int by_size(const void *a, const void *b)
{
	const Temp *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return by_birth(a, b);
}

static int by_death(const void *a, const void *b)
{
	const Temp *x = *(Temp *const *)a, *y = *(Temp *const *)b;

	if (x->last != y->last)
		return x->last < y->last ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

static int by_place(const void *a, const void *b)
{
	const Gap *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

typedef struct { VEC(Gap) gap; int64_t end; } Heap;

/* Takes the tightest gap that holds size, else memory at the end (a gap at the end grows). */
static int64_t heap_take(Heap *h, int64_t size)
{
	size_t best = SIZE_MAX;
	int64_t at;

	for (size_t i = 0; i < h->gap.n; i++) {
		int64_t space = h->gap.at[i].end - h->gap.at[i].at;
		if (space >= size &&
			(best == SIZE_MAX || space < h->gap.at[best].end - h->gap.at[best].at))
			best = i;
	}
	if (best == SIZE_MAX && h->gap.n && h->gap.at[h->gap.n - 1].end == h->end)
		best = h->gap.n - 1;
	if (best == SIZE_MAX) {
		at = h->end;
		h->end += size;
		return at;
	}
	at = h->gap.at[best].at;
	h->gap.at[best].at += size;
	if (h->gap.at[best].at > h->end)
		h->end = h->gap.at[best].at;
	if (h->gap.at[best].at >= h->gap.at[best].end) {
		memmove(&h->gap.at[best], &h->gap.at[best + 1],
			(h->gap.n - best - 1) * sizeof(Gap));
		h->gap.n--;
	}
	return at;
}

/* Returns memory; gaps stay sorted by offset and neighbours are merged. */
static void heap_give(Heap *h, int64_t at, int64_t size)
{
	size_t i = h->gap.n;

	vec_push(&h->gap, ((Gap){at, at + size}));
	for (; i > 0 && h->gap.at[i - 1].at > at; i--)
		h->gap.at[i] = h->gap.at[i - 1];
	h->gap.at[i] = (Gap){at, at + size};
	if (i + 1 < h->gap.n && h->gap.at[i].end == h->gap.at[i + 1].at) {
		h->gap.at[i].end = h->gap.at[i + 1].end;
		memmove(&h->gap.at[i + 1], &h->gap.at[i + 2], (h->gap.n - i - 2) * sizeof(Gap));
		h->gap.n--;
	}
	if (i > 0 && h->gap.at[i - 1].end == h->gap.at[i].at) {
		h->gap.at[i - 1].end = h->gap.at[i].end;
		memmove(&h->gap.at[i], &h->gap.at[i + 1], (h->gap.n - i - 1) * sizeof(Gap));
		h->gap.n--;
	}
}

static int64_t plan_by_time(Temp *t, size_t n)
{
	Temp **dying = xmalloc((n + 1) * sizeof *dying);
	Heap h = {0};
	size_t dead = 0;

	qsort(t, n, sizeof *t, by_birth);
	for (size_t i = 0; i < n; i++)
		dying[i] = &t[i];
	qsort(dying, n, sizeof *dying, by_death);
	for (size_t i = 0; i < n; i++) {
		for (; dead < n && dying[dead]->last < t[i].first; dead++)
			if (dying[dead]->size)
				heap_give(&h, dying[dead]->at, dying[dead]->size);
		t[i].at = t[i].size ? heap_take(&h, t[i].size) : 0;
	}
	free(dying);
	vec_free(&h.gap);
	return h.end;
}

/* The tightest gap of `size` bytes between the busy ranges, which are sorted, or the end of the
 * last one. */
static int64_t fit(const Gap *busy, size_t n, int64_t size)
{
	int64_t end = 0, at = -1, space = INT64_MAX;

	for (size_t i = 0; i < n; i++) {
		int64_t free_here = busy[i].at - end;
		if (free_here >= size && free_here < space) {
			space = free_here;
			at = end;
		}
		end = busy[i].end > end ? busy[i].end : end;
	}
	return at < 0 ? end : at;
}

/* Places the temporaries in the order of t. */
static int64_t place_all(Temp *t, size_t n)
{
	Gap *busy = xmalloc((n + 1) * sizeof *busy);
	int64_t peak = 0;

	for (size_t i = 0; i < n; i++) {
		size_t m = 0;
		for (size_t k = 0; k < i; k++)
			if (t[k].size && t[k].first <= t[i].last && t[i].first <= t[k].last)
				busy[m++] = (Gap){t[k].at, t[k].at + t[k].size};
		qsort(busy, m, sizeof *busy, by_place);
		t[i].at = t[i].size ? fit(busy, m, t[i].size) : 0;
		peak = t[i].at + t[i].size > peak ? t[i].at + t[i].size : peak;
	}
	free(busy);
	return peak;
}

/* Moves those that end at the peak to the front; the others keep their order. */
static void top_first(Temp *t, size_t n, int64_t peak)
{
	Temp *rest = xmalloc((n + 1) * sizeof *rest);
	size_t top = 0, m = 0;

	for (size_t i = 0; i < n; i++)
		if (t[i].at + t[i].size == peak)
			t[top++] = t[i];
		else
			rest[m++] = t[i];
	memcpy(t + top, rest, m * sizeof *rest);
	free(rest);
}

/* The largest sum of sizes alive in one call, with or without pads: sizes are added at first and
 * removed after last. t is sorted by first. */
static int64_t alive_at_once(Temp *t, size_t n, bool pads)
{
	Temp **dying = xmalloc((n + 1) * sizeof *dying);
	int64_t sum = 0, most = 0;
	size_t dead = 0;

	for (size_t i = 0; i < n; i++)
		dying[i] = &t[i];
	qsort(dying, n, sizeof *dying, by_death);
	for (size_t i = 0; i < n; i++) {
		for (; dead < n && dying[dead]->last < t[i].first; dead++)
			sum -= dying[dead]->size - (pads ? 0 : dying[dead]->pad);
		sum += t[i].size - (pads ? 0 : t[i].pad);
		most = sum > most ? sum : most;
	}
	free(dying);
	return most;
}

static void keep(const Temp *t, size_t n, int64_t *offset)
{
	for (size_t i = 0; i < n; i++) {
		int64_t start = t[i].i % (PAGE / STEP) * STEP, at = t[i].at;
		offset[t[i].i] = t[i].pad ? at + (start - at % PAGE + PAGE) % PAGE : at;
	}
}

/* Makes plans by size and keeps the smallest if it is below peak; returns the smallest peak. */
static int64_t plan_by_size(Temp *t, size_t n, int64_t peak, int64_t enough, int64_t *offset)
{
	int64_t most = LOOKS / ((int64_t)n * n + 1);

	qsort(t, n, sizeof *t, by_size);
	for (int64_t i = 0; i < TRIES && (i == 0 || i < most) && peak > enough; i++) {
		int64_t is = place_all(t, n);
		if (is < peak) {
			peak = is;
			keep(t, n, offset);
		}
		top_first(t, n, is);
	}
	return peak;
}

int64_t memory_plan(size_t n, const int64_t *size, const int *first, const int *last, int align,
	int64_t *offset, int64_t *bound)
{
	Temp *t = xmalloc((n + 1) * sizeof *t);
	int64_t total = 0, peak, enough;

	for (size_t i = 0; i < n; i++) {
		int64_t space;
		CHECK(size[i] >= 0 && first[i] <= last[i]);
		if (!add_ok(size[i], align - 1, &space) ||
			!add_ok(total, space / align * align, &total))
			die(FAILED, "no memory: temporaries of more than 2^63 bytes");
		space = space / align * align;
		int64_t pad = space >= LARGE && align <= STEP ? PAGE : 0;
		t[i] = (Temp){space + pad, 0, pad, first[i], last[i], i};
	}
	peak = plan_by_time(t, n);
	*bound = alive_at_once(t, n, false);
	enough = alive_at_once(t, n, true);
	keep(t, n, offset);
	if (n <= PAIRS)
		peak = plan_by_size(t, n, peak, enough, offset);
	free(t);
	return peak;
}
