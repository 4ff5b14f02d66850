/* Sets of column numbers, each stored once: the dependencies of elements.
 *
 *     {0} ∪ {1} = 3, {1} ∪ {0} = 3: the number of {0, 1}
 *
 * Many elements have the same dependencies: their sets share one number, and a union is cached
 * under the two numbers it was made of. */
#include "sparse/pattern.h"
#include <stdlib.h>

enum { MEMBERS = 1 << 28 };

static void buckets_new(Sets *s, uint32_t n)
{
	free(s->bucket);
	s->bucket = xcalloc(n, sizeof *s->bucket);
	s->nbucket = n;
}

void sets_init(Sets *s, uint32_t columns, const char *what)
{
	*s = (Sets){
		.columns = columns, .what = what, .count = 1, .cap = 1024, .space = 4096,
		.memos = 1 << 12};
	s->first = xcalloc(s->cap + 2, sizeof *s->first);
	s->at = xmalloc(s->space * sizeof *s->at);
	s->memo = xcalloc(s->memos, sizeof *s->memo);
	s->mark = xcalloc((size_t)columns + 1, sizeof *s->mark);
	buckets_new(s, 1 << 12);
}

void sets_free(Sets *s)
{
	free(s->first);
	free(s->at);
	free(s->memo);
	free(s->mark);
	free(s->bucket);
	*s = (Sets){0};
}

/* ---- one of each */

static uint64_t set_hash(const uint32_t *at, size_t n) { return hash_bytes(at, n * sizeof *at, n); }

static void bucket_add(Sets *s, uint32_t k)
{
	uint32_t i = (uint32_t)set_hash(s->at + s->first[k], set_size(s, k)) & (s->nbucket - 1);

	while (s->bucket[i])
		i = (i + 1) & (s->nbucket - 1);
	s->bucket[i] = k;
}

static void make_space(Sets *s, size_t n)
{
	size_t need = s->first[s->count] + n;

	if (need > MEMBERS || s->count > MEMBERS)
		die(UNSUPPORTED, "%s: its pattern takes more than %d places on the way", s->what,
			MEMBERS);
	if (need > s->space)
		s->at = xrealloc(s->at, (s->space = need + need / 2) * sizeof *s->at);
	if (s->count + 2 > s->cap) {
		s->cap += s->cap / 2 + 2;
		s->first = xrealloc(s->first, (s->cap + 2) * sizeof *s->first);
	}
	if (s->count * 2 > s->nbucket) {
		buckets_new(s, s->nbucket * 4);
		for (uint32_t k = 1; k < s->count; k++)
			bucket_add(s, k);
	}
}

/* The set whose n members have been appended behind those of the last set. */
static uint32_t set_of_new(Sets *s, size_t n)
{
	const uint32_t *at = s->at + s->first[s->count];
	uint32_t i = (uint32_t)set_hash(at, n) & (s->nbucket - 1), k;

	if (!n)
		return 0;
	for (; (k = s->bucket[i]); i = (i + 1) & (s->nbucket - 1))
		if (set_size(s, k) == n && !memcmp(s->at + s->first[k], at, n * sizeof *at))
			return k;
	s->bucket[i] = s->count;
	s->first[s->count + 1] = s->first[s->count] + n;
	return s->count++;
}

uint32_t set_single(Sets *s, uint32_t column)
{
	make_space(s, 1);
	s->at[s->first[s->count]] = column;
	return set_of_new(s, 1);
}

/* ---- unions */

static struct Union *memo_find(Sets *s, uint64_t key)
{
	size_t i = hash_mix(0, key) & (s->memos - 1);

	while (s->memo[i].key && s->memo[i].key != key)
		i = (i + 1) & (s->memos - 1);
	return &s->memo[i];
}

static void memo_grow(Sets *s)
{
	struct Union *old = s->memo;
	size_t n = s->memos;

	s->memos *= 4;
	s->memo = xcalloc(s->memos, sizeof *s->memo);
	for (size_t i = 0; i < n; i++)
		if (old[i].key)
			*memo_find(s, old[i].key) = old[i];
	free(old);
}

static uint32_t merge(Sets *s, uint32_t a, uint32_t b)
{
	size_t na = set_size(s, a), nb = set_size(s, b);

	make_space(s, na + nb);
	const uint32_t *x = s->at + s->first[a], *y = s->at + s->first[b], *xe = x + na,
		       *ye = y + nb;
	uint32_t *to = s->at + s->first[s->count], *start = to;
	while (x < xe && y < ye) {
		uint32_t v = *x < *y ? *x : *y;
		x += *x == v;
		y += *y == v;
		*to++ = v;
	}
	while (x < xe)
		*to++ = *x++;
	while (y < ye)
		*to++ = *y++;
	return set_of_new(s, to - start);
}

uint32_t set_union(Sets *s, uint32_t a, uint32_t b)
{
	if (a == b || !b)
		return a;
	if (!a)
		return b;
	uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
	struct Union *m = memo_find(s, key);
	if (m->key)
		return m->set;
	uint32_t u = merge(s, a, b);
	m->key = key;
	m->set = u;
	if (++s->nmemo * 2 > s->memos)
		memo_grow(s);
	return u;
}

static int rising(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

static void next_stamp(Sets *s)
{
	if (++s->stamp)
		return;
	memset(s->mark, 0, s->columns * sizeof *s->mark);
	s->stamp = 1;
}

/* Writes the marked columns in order: by a sweep over all columns if they are many, else by
 * sorting. */
static void put_in_order(Sets *s, uint32_t *at, size_t n)
{
	if (n < s->columns / 32) {
		qsort(at, n, sizeof *at, rising);
		return;
	}
	for (uint32_t c = 0, k = 0; k < n; c++)
		if (s->mark[c] == s->stamp)
			at[k++] = c;
}

/* Collects up to two distinct nonempty sets; false at a third. */
static bool among_two(uint32_t *one, uint32_t *two, uint32_t set)
{
	if (!set || set == *one || set == *two)
		return true;
	if (*two)
		return false;
	*(*one ? two : one) = set;
	return true;
}

/* Each distinct set is visited once, so the cost for a sum over many elements is that of the
 * distinct sets. */
uint32_t set_union_many(Sets *s, size_t n, const uint32_t *set)
{
	uint32_t one = 0, two = 0;
	size_t i, members = 0, k = 0;

	for (i = 0; i < n && among_two(&one, &two, set[i]); i++)
		;
	if (i == n)
		return set_union(s, one, two);
	for (i = 0; i < n; i++)
		members += i && set[i] == set[i - 1] ? 0 : set_size(s, set[i]);
	make_space(s, members < s->columns ? members : s->columns);
	next_stamp(s);
	uint32_t *to = s->at + s->first[s->count];
	for (i = 0; i < n; i++) {
		if (i && set[i] == set[i - 1])
			continue;
		for (size_t j = s->first[set[i]]; j < s->first[set[i] + 1]; j++)
			if (s->mark[s->at[j]] != s->stamp) {
				s->mark[s->at[j]] = s->stamp;
				to[k++] = s->at[j];
			}
	}
	put_in_order(s, to, k);
	return set_of_new(s, k);
}
