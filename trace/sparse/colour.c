/* Colouring: columns that share no row are computed by one product.
 *
 *     a tridiagonal matrix of any size     3 colours: columns 0 3 6 …, 1 4 7 …, 2 5 8 …
 *     an arrow, symmetric                  2: the dense column, and all others
 *
 * Greedy in several orders; the best is kept. For columns, a row with k entries needs k colours, so
 * the fullest row gives a lower bound that ends the search. For stars, each step preserves the
 * condition in pattern.h. */
#include "sparse/pattern.h"
#include <stdlib.h>

/* The colours in use in a row, as bits; all colours below low are in use. */
typedef struct { uint64_t *word; uint32_t words, low; } Used;

/* The number of orders that are tried, and again as many that start from the classes found; and the
 * number of visits to neighbours of neighbours beyond which fewer are tried. */
enum { ORDERS = 4, EFFORT = 1 << 25 };

/* ---- orders of columns */

/* Sorts by falling key, equal keys by place. */
static void order_by_key(uint32_t n, const uint32_t *key, uint32_t *order)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < n; i++)
		most = key[i] > most ? key[i] : most;
	size_t *first = xcalloc((size_t)most + 2, sizeof *first);
	for (uint32_t i = 0; i < n; i++)
		first[most - key[i] + 1]++;
	for (uint32_t k = 1; k <= most; k++)
		first[k] += first[k - 1];
	for (uint32_t i = 0; i < n; i++)
		order[first[most - key[i]]++] = i;
	free(first);
}

static void order_by_degree(const Rows *bycol, uint32_t *order)
{
	uint32_t *key = xmalloc(((size_t)bycol->rows + 1) * sizeof *key);

	for (uint32_t i = 0; i < bycol->rows; i++)
		key[i] = (uint32_t)(bycol->first[i + 1] - bycol->first[i]);
	order_by_key(bycol->rows, key, order);
	free(key);
}

static void order_natural(uint32_t n, uint32_t *order)
{
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
}

/* Keeps classes together, the last one first: greedy in that order needs no more colours, and often
 * fewer. */
static void order_by_class(uint32_t n, const uint32_t *colour, uint32_t *order)
{
	uint32_t *key = xmalloc(((size_t)n + 1) * sizeof *key);

	for (uint32_t i = 0; i < n; i++)
		key[i] = colour[i] == NO_COLOUR ? 0 : colour[i] + 1;
	order_by_key(n, key, order);
	free(key);
}

/* ---- columns */

static void use(Used *u, uint32_t c)
{
	if (c / 64 >= u->words) {
		uint32_t words = c / 64 + c / 128 + 1;
		u->word = xrealloc(u->word, words * sizeof *u->word);
		memset(u->word + u->words, 0, (words - u->words) * sizeof *u->word);
		u->words = words;
	}
	u->word[c / 64] |= 1ull << c % 64;
	while (u->low / 64 < u->words && u->word[u->low / 64] >> u->low % 64 & 1)
		u->low++;
}

/* The least colour that is free in all rows of column j. Starts at the first gap of its fullest
 * row, and compares whole words. */
static uint32_t least_free(const Rows *bycol, uint32_t j, const Used *row)
{
	const uint32_t *at = bycol->at + bycol->first[j];
	size_t n = bycol->first[j + 1] - bycol->first[j];
	uint32_t low = 0;

	for (size_t k = 0; k < n; k++)
		low = row[at[k]].low > low ? row[at[k]].low : low;
	for (uint32_t w = low / 64; ; w++) {
		uint64_t taken = w == low / 64 ? (1ull << low % 64) - 1 : 0;
		for (size_t k = 0; k < n && ~taken; k++)
			taken |= w < row[at[k]].words ? row[at[k]].word[w] : 0;
		if (~taken)
			return w * 64 + (uint32_t)__builtin_ctzll(~taken);
	}
}

static uint32_t greedy_columns(const Rows *byrow, const Rows *bycol, const uint32_t *order,
	uint32_t limit, uint32_t *colour)
{
	Used *row = xcalloc((size_t)byrow->rows + 1, sizeof *row);
	uint32_t count = 0;

	for (uint32_t i = 0; i < bycol->rows && count <= limit; i++) {
		uint32_t j = order[i];
		colour[j] = NO_COLOUR;
		if (bycol->first[j] == bycol->first[j + 1])
			continue;
		uint32_t c = colour[j] = least_free(bycol, j, row);
		count = c >= count ? c + 1 : count;
		for (size_t k = bycol->first[j]; k < bycol->first[j + 1]; k++)
			use(&row[bycol->at[k]], c);
	}
	for (uint32_t i = 0; i < byrow->rows; i++)
		free(row[i].word);
	free(row);
	return count;
}

static uint32_t fullest(const Rows *r)
{
	size_t most = 0;

	for (uint32_t i = 0; i < r->rows; i++)
		most = r->first[i + 1] - r->first[i] > most ? r->first[i + 1] - r->first[i] : most;
	return (uint32_t)most;
}

typedef struct {
	const Rows *byrow, *bycol;
	uint32_t *order, *trial, *best, count;
	bool star;
} ColourSearch;

static uint32_t greedy_star(const Rows *r, const uint32_t *order, uint32_t limit, uint32_t *colour);

/* One more attempt; kept if it is better. */
static bool attempt(ColourSearch *s)
{
	uint32_t n = s->star ? greedy_star(s->byrow, s->order, s->count - 1, s->trial) :
		greedy_columns(s->byrow, s->bycol, s->order, s->count - 1, s->trial);

	if (n >= s->count)
		return false;
	s->count = n;
	memcpy(s->best, s->trial, s->bycol->rows * sizeof *s->best);
	return true;
}

static void reverse(uint32_t n, uint32_t *order)
{
	for (uint32_t i = 0; i < n / 2; i++) {
		uint32_t t = order[i];
		order[i] = order[n - 1 - i];
		order[n - 1 - i] = t;
	}
}

static double effort(const Rows *r)
{
	double n = 0;

	for (uint32_t i = 0; i < r->rows; i++) {
		double k = (double)(r->first[i + 1] - r->first[i]);
		n += k * k;
	}
	return n;
}

static uint32_t search(ColourSearch *s, uint32_t least, uint32_t limit)
{
	uint32_t n = s->bycol->rows;

	s->order = xmalloc(((size_t)n + 1) * sizeof *s->order);
	s->trial = xmalloc(((size_t)n + 1) * sizeof *s->trial);
	s->count = limit + 1;
	/* on a large pattern, half the orders are enough */
	int orders = effort(s->byrow) > EFFORT ? ORDERS / 2 : ORDERS;
	for (int k = 0; k < orders && s->count > least; k++) {
		order_natural(n, s->order);
		if (k % 2)
			order_by_degree(s->bycol, s->order);
		if (k > 1)
			reverse(n, s->order);
		attempt(s);
	}
	for (int k = 0; k < orders && s->count <= limit && s->count > least; k++) {
		order_by_class(n, s->best, s->order);
		if (k % 2)
			reverse(n, s->order);
		attempt(s);
	}
	free(s->order);
	free(s->trial);
	return s->count;
}

uint32_t colour_columns(const Rows *byrow, const Rows *bycol, uint32_t limit, uint32_t *colour)
{
	ColourSearch s = {.byrow = byrow, .bycol = bycol, .best = colour};
	uint32_t least = fullest(byrow);

	if (least > limit)
		return limit + 1;
	return search(&s, least, limit);
}

/* ---- stars */

/* The colours among the neighbours of a vertex: for each, how many neighbours have it, and one of
 * them. Those of v are in the tables from first[v] on, seen[v] of them. */
typedef struct { uint32_t count, one; } Seen;
typedef struct {
	const Rows *r;
	uint32_t *colour, *seen, *shade, *forbidden, step, limit;
	Seen *by;
} Star;

static Seen *sees(const Star *s, uint32_t v, uint32_t colour)
{
	const uint32_t *shade = s->shade + s->r->first[v], n = s->seen[v];

	for (uint32_t k = 0; k < n; k++)
		if (shade[k] == colour)
			return &s->by[s->r->first[v] + k];
	return NULL;
}

static void see(Star *s, uint32_t v, uint32_t colour, uint32_t who)
{
	Seen *e = sees(s, v, colour);

	if (e) {
		e->count++;
		return;
	}
	size_t at = s->r->first[v] + s->seen[v]++;
	s->shade[at] = colour;
	s->by[at] = (Seen){1, who};
}

static void forbid(Star *s, uint32_t c) { s->forbidden[c] = s->step; }

/* Colour c for v breaks the condition if: a neighbour w has c; or w sees c and v sees w's colour
 * twice; or w sees c once, at x, and x sees w's colour twice. */
static void forbid_around(Star *s, uint32_t v, uint32_t w)
{
	bool twice = sees(s, v, s->colour[w])->count > 1;
	size_t from = s->r->first[w], end = from + s->seen[w];

	forbid(s, s->colour[w]);
	for (size_t k = from; k < end; k++) {
		if (s->forbidden[s->shade[k]] == s->step)
			continue;
		const Seen *e = &s->by[k];
		if (twice || (e->count == 1 && sees(s, e->one, s->colour[w])->count > 1))
			forbid(s, s->shade[k]);
	}
}

static uint32_t star_step(Star *s, uint32_t v)
{
	const uint32_t *at = s->r->at + s->r->first[v], *end = s->r->at + s->r->first[v + 1];
	uint32_t c = 0;

	s->step++;
	for (const uint32_t *w = at; w < end; w++)
		if (*w != v && s->colour[*w] != NO_COLOUR)
			forbid_around(s, v, *w);
	while (c <= s->limit && s->forbidden[c] == s->step)
		c++;
	s->colour[v] = c;
	for (const uint32_t *w = at; w < end; w++)
		if (*w != v)
			see(s, *w, c, v);
	return c;
}

static uint32_t greedy_star(const Rows *r, const uint32_t *order, uint32_t limit, uint32_t *colour)
{
	Star s = {.r = r, .colour = colour, .limit = limit};
	uint32_t count = 0;

	s.seen = xcalloc((size_t)r->rows + 1, sizeof *s.seen);
	s.shade = xmalloc((rows_count(r) + 1) * sizeof *s.shade);
	s.by = xmalloc((rows_count(r) + 1) * sizeof *s.by);
	s.forbidden = xcalloc((size_t)r->rows + 2, sizeof *s.forbidden);
	for (uint32_t i = 0; i < r->rows; i++)
		colour[i] = NO_COLOUR;
	for (uint32_t i = 0; i < r->rows && count <= limit; i++) {
		uint32_t v = order[i];
		if (r->first[v] == r->first[v + 1])
			continue;
		uint32_t c = star_step(&s, v);
		count = c >= count ? c + 1 : count;
	}
	free(s.seen);
	free(s.shade);
	free(s.by);
	free(s.forbidden);
	return count;
}

uint32_t colour_star(const Rows *r, uint32_t *colour)
{
	ColourSearch s = {.byrow = r, .bycol = r, .best = colour, .star = true};
	uint32_t least = rows_count(r) > r->rows ? 2 : 1, n = r->rows;
	uint32_t *plain = xmalloc(((size_t)n + 1) * sizeof *plain);

	/* for a dense pattern nothing beats a column colouring, which is always valid */
	bool dense = rows_count(r) > (size_t)n * n / 2;
	uint32_t stars = dense ? n + 1 : search(&s, least, n),
			 columns = colour_columns(r, r, stars - 1, plain);
	if (columns < stars)
		memcpy(colour, plain, n * sizeof *plain);
	free(plain);
	return columns < stars ? columns : stars;
}
