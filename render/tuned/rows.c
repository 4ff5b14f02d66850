/* The database as text, to be kept, compared and taken to other machines. */
#include "tuned/tuned.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

static const char head[] = "sluice tuned 1\n";
enum { FIELDS = 6, KERNEL_DIGITS = 64 };

static void put_row(const TunedRow *r, void *ctx)
{
	buf_printf(ctx, "%s\t%s\t%s\t%.1f\t%.1f\t%s\n", r->kernel, r->target, r->device, r->before,
		r->after, r->list);
}

void tuned_export(Buf *out)
{
	buf_printf(out, "%s", head);
	tuned_each(put_row, out);
}

/* Splits a line at its tabs; false when it has not as many fields. */
static bool fields_of(char *line, const char *field[FIELDS])
{
	int n = 0;
	for (char *at = line; at; n++) {
		char *tab = strchr(at, '\t');
		if (n == FIELDS)
			return false;
		field[n] = at;
		if (tab)
			*tab++ = 0;
		at = tab;
	}
	return n == FIELDS;
}

static bool is_text(const char *s)
{
	for (; *s; s++)
		if (iscntrl((unsigned char)*s))
			return false;
	return true;
}

static bool is_time(const char *s, double *to)
{
	char *end;
	*to = strtod(s, &end);
	return end != s && !*end && isfinite(*to) && *to >= 0;
}

/* Checks what can be without the kernel. */
static bool row_of(char *line, TunedRow *r, const char *where)
{
	const char *f[FIELDS];
	if (!fields_of(line, f) || strlen(f[0]) != KERNEL_DIGITS ||
		f[0][strspn(f[0], "0123456789abcdef")] || !*f[1] || !*f[2] || !is_text(f[1]) ||
		!is_text(f[2]) || !is_time(f[3], &r->before) || !is_time(f[4], &r->after))
		return false;
	r->kernel = f[0];
	r->target = f[1];
	r->device = f[2];
	r->list = f[5];
	actions_parse(r->list, MALFORMED, where);
	return true;
}

size_t tuned_import(const char *text, size_t n, const char *name)
{
	size_t at = strlen(head), number = 1;
	VEC(TunedRow) rows = {0};
	if (n < at || memcmp(text, head, at))
		die(MALFORMED, "%s: does not begin with '%.14s'", name, head);
	while (at < n) {
		const char *end = memchr(text + at, '\n', n - at);
		size_t length = end ? end - text - at : n - at;
		char *line = arena_alloc(length + 1);
		const char *where = arena_printf("%s:%zu", name, ++number);
		TunedRow r;
		memcpy(line, text + at, length);
		if (strlen(line) != length || !row_of(line, &r, where))
			die(MALFORMED, "%s: not KERNEL, TARGET, DEVICE, two times and a LIST with "
				"tabs between", where);
		vec_push(&rows, r);
		at += length + 1;
	}
	for (size_t i = 0; i < rows.n; i++)
		tuned_put(&rows.at[i]);
	number = rows.n;
	vec_free(&rows);
	return number;
}
