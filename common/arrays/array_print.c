/* Prints an array as NumPy does: elements in columns, lines of at most 75 characters, arrays of
 * more than 1000 elements abbreviated to three at each end of an axis, floats with their shortest
 * digits and at most 8 after the point.
 *
 *     [[1.    0.25 ]
 *      [3.    1.125]]
 */
#include <math.h>
#include <stdlib.h>
#include "arrays/arrays.h"
#include "interp/elements.h"

enum { WIDTH = 75, EDGE = 3, THRESHOLD = 1000, PRECISION = 8 };

/* The format of the elements, computed from all elements that are shown. */
typedef struct {
	bool scientific, any_finite;
	int left, right;        /* characters before and after the point; integers have only left */
	int exponent;           /* digits of the exponent */
	int precision;
	double least, greatest; /* magnitudes of finite elements that are not 0 */
	bool other, minus_inf;  /* some element is not finite; some element is -inf */
} Format;

typedef struct {
	FILE *f;
	const Array *a;
	bool summary;
	Format format;
	Buf line;
} ArrayPrinter;

/* ---- digits ---- */

static double value_at(const Array *a, int64_t i)
{
	double x;

	interp_cast(DT_F64, &x, a->dtype, (const char *)a->data + i * dtype_size(a->dtype), 1);
	return x;
}

static bool comes_back(DType dt, const char *text, double x)
{
	double y = strtod(text, NULL);

	switch (dt) {
	case DT_F16: return f16_value(f16_bits(y)) == (float)x;
	case DT_BF16: return bf16_value(bf16_bits(y)) == (float)x;
	case DT_F32: return strtof(text, NULL) == (float)x;
	default: return y == x;
	}
}

/* "d.ddde±dd" with the fewest digits that read back as x. */
static void shortest(DType dt, double x, char *out, size_t size)
{
	for (int digits = 0; digits < 17; digits++) {
		snprintf(out, size, "%.*e", digits, x);
		if (comes_back(dt, out, x))
			return;
	}
}

/* The digits after the point when a shortest text is written in positional form. */
static int positional_digits(const char *text)
{
	const char *e = strchr(text, 'e'), *dot = strchr(text, '.');
	int frac = dot ? (int)(e - dot) - 1 : 0, n = frac - atoi(e + 1);

	return n > 0 ? n : 0;
}

static void strip_zeros(char *s)
{
	char *end = s + strlen(s);

	if (!strchr(s, '.'))
		strcat(s, ".");
	else
		while (end[-1] == '0')
			*--end = '\0';
}

/* "12.5", "3.": the shortest digits, at most `precision` of them after the point. */
static void positional(DType dt, double x, int precision, char *out, size_t size)
{
	char text[64];
	int n;

	shortest(dt, x, text, sizeof text);
	n = positional_digits(text);
	if (n > precision) {
		snprintf(out, size, "%.*f", precision, x);
	} else {
		/* the shortest text is exact here; a large number is padded with zeros after its
		 * digits */
		const char *e = strchr(text, 'e');
		int power = atoi(e + 1), digits = 0, point = text[0] == '-';
		char *o = out;
		if (power < 0) {
			snprintf(out, size, "%.*f", n, strtod(text, NULL));
			strip_zeros(out);
			return;
		}
		if (point)
			*o++ = '-';
		for (const char *p = text + point; p < e; p++)
			if (*p != '.') {
				if (digits++ == power + 1)
					*o++ = '.';
				*o++ = *p;
			}
		for (; digits <= power; digits++)
			*o++ = '0';
		*o = '\0';
	}
	strip_zeros(out);
}

/* Mantissa ("1.25", or "1.") and exponent of the scientific form. */
static int scientific(DType dt, double x, int precision, char *mantissa, size_t size)
{
	char text[64], *e, *dot;

	shortest(dt, x, text, sizeof text);
	e = strchr(text, 'e');
	dot = strchr(text, '.');
	if (dot && e - dot - 1 > precision) {
		snprintf(text, sizeof text, "%.*e", precision, x);
		e = strchr(text, 'e');
	}
	*e = '\0';
	snprintf(mantissa, size, "%s", text);
	strip_zeros(mantissa);
	return atoi(e + 1);
}

static int exponent_digits(int e)
{
	return abs(e) >= 100 ? 3 : 2;
}

/* ---- the elements that are shown ---- */

static bool shortened(const ArrayPrinter *p, int axis)
{
	return p->summary && p->a->dim[axis] > 2 * EDGE;
}

/* Calls fn for each element that is shown. */
static void each_shown(const ArrayPrinter *p, int axis, int64_t at,
	void (*fn)(ArrayPrinter *p, int64_t at), ArrayPrinter *to)
{
	int64_t n;

	if (axis == p->a->rank) {
		fn(to, at);
		return;
	}
	n = p->a->dim[axis];
	for (int64_t i = 0; i < n; i++) {
		if (shortened(p, axis) && i == EDGE)
			i = n - EDGE;
		each_shown(p, axis + 1, at * n + i, fn, to);
	}
}

static void see_range(ArrayPrinter *p, int64_t at)
{
	Format *f = &p->format;
	double x = value_at(p->a, at), m = fabs(x);

	if (!isfinite(x)) {
		f->other = true;
		f->minus_inf |= x < 0;
		return;
	}
	f->any_finite = true;
	if (m == 0)
		return;
	f->least = f->least == 0 || m < f->least ? m : f->least;
	f->greatest = m > f->greatest ? m : f->greatest;
}

static void see_width(ArrayPrinter *p, int64_t at)
{
	Format *f = &p->format;
	double x = value_at(p->a, at);
	char text[512];
	int left, right;

	if (!isfinite(x))
		return;
	if (f->scientific) {
		int e = exponent_digits(scientific(p->a->dtype, x, PRECISION, text, sizeof text));
		f->exponent = e > f->exponent ? e : f->exponent;
	} else {
		positional(p->a->dtype, x, PRECISION, text, sizeof text);
	}
	left = (int)(strchr(text, '.') - text);
	right = (int)strlen(text) - left - 1;
	f->left = left > f->left ? left : f->left;
	f->right = right > f->right ? right : f->right;
}

static void int_text(const Array *a, int64_t at, char *out, size_t size)
{
	const char *x = (const char *)a->data + at * dtype_size(a->dtype);
	uint64_t u;
	int64_t i;

	if (dtype_signed(a->dtype)) {
		interp_cast(DT_I64, &i, a->dtype, x, 1);
		snprintf(out, size, "%lld", (long long)i);
	} else {
		interp_cast(DT_U64, &u, a->dtype, x, 1);
		snprintf(out, size, "%llu", (unsigned long long)u);
	}
}

static void see_int(ArrayPrinter *p, int64_t at)
{
	char text[32];
	int n;

	int_text(p->a, at, text, sizeof text);
	n = (int)strlen(text);
	p->format.left = n > p->format.left ? n : p->format.left;
}

/* The magnitude from which the scientific form is used: beyond it the dtype has no digits after the
 * point. */
static double large(DType dt)
{
	return dt == DT_F64 ? 1e8 : dt == DT_F16 ? 1e3 : 1e6;
}

static void choose_format(ArrayPrinter *p)
{
	Format *f = &p->format;
	int space;

	if (p->a->dtype == DT_BOOL)
		return;
	if (!dtype_float(p->a->dtype)) {
		each_shown(p, 0, 0, see_int, p);
		return;
	}
	each_shown(p, 0, 0, see_range, p);
	if (f->greatest != 0) {
		double ratio = f->greatest / f->least;
		if (p->a->dtype != DT_F64)      /* NumPy divides in the array's dtype */
			ratio = p->a->dtype == DT_F16 ? f16_value(f16_bits(ratio)) : (float)ratio;
		f->scientific = f->greatest >= large(p->a->dtype) || f->least < 0.0001 ||
			ratio > 1000;
	}
	each_shown(p, 0, 0, see_width, p);
	f->precision = f->scientific ? f->right : PRECISION;
	if (f->scientific)
		f->right += f->exponent + 2;
	space = f->right + 1;
	if (f->other && f->left < 3 + f->minus_inf - space)
		f->left = 3 + f->minus_inf - space;
}

/* ---- one element ---- */

static void special_text(double x, int width, Buf *b)
{
	buf_printf(b, "%*s", width, isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
}

static void float_text(const ArrayPrinter *p, int64_t at, Buf *b)
{
	const Format *f = &p->format;
	double x = value_at(p->a, at);
	char text[512];
	int e, frac;

	if (!isfinite(x)) {
		special_text(x, f->left + f->right + 1, b);
	} else if (f->scientific) {
		/* digits beyond the shortest ones are those of the exact value */
		snprintf(text, sizeof text, "%.*e", f->precision, x);
		e = atoi(strchr(text, 'e') + 1);
		*strchr(text, 'e') = '\0';
		if (!strchr(text, '.'))
			strcat(text, ".");
		frac = (int)(strchr(text, '.') - text);
		buf_printf(b, "%*s%se%c%0*d", f->left - frac, "", text, e < 0 ? '-' : '+',
			f->exponent, abs(e));
	} else {
		positional(p->a->dtype, x, f->precision, text, sizeof text);
		e = (int)(strchr(text, '.') - text);
		frac = (int)strlen(text) - e - 1;
		buf_printf(b, "%*s%s%*s", f->left - e, "", text, f->right - frac, "");
	}
}

static void element_text(const ArrayPrinter *p, int64_t at, Buf *b)
{
	const Array *a = p->a;
	char text[32];

	if (a->dtype == DT_BOOL) {
		buf_printf(b, "%s", ((const uint8_t *)a->data)[at] ? " True" : "False");
	} else if (dtype_float(a->dtype)) {
		float_text(p, at, b);
	} else {
		int_text(a, at, text, sizeof text);
		buf_printf(b, "%*s", p->format.left, text);
	}
}

/* Prints a scalar as NumPy prints numbers: in positional form if its digits reach the point, with
 * ".0" if it is whole. */
static void print_scalar(FILE *f, const Array *a)
{
	char text[512];
	double x;

	if (a->dtype == DT_BOOL) {
		fputs(*(const uint8_t *)a->data ? "True" : "False", f);
		return;
	}
	if (!dtype_float(a->dtype)) {
		int_text(a, 0, text, sizeof text);
		fputs(text, f);
		return;
	}
	x = value_at(a, 0);
	if (!isfinite(x)) {
		fputs(isnan(x) ? "nan" : x < 0 ? "-inf" : "inf", f);
	} else if (x != 0 &&
		(fabs(x) < 1e-4 || fabs(x) >= (a->dtype == DT_F64 ? 1e16 : large(a->dtype)))) {
		int e = scientific(a->dtype, x, 20, text, sizeof text);
		if (text[strlen(text) - 1] == '.')
			text[strlen(text) - 1] = '\0';
		fprintf(f, "%se%c%02d", text, e < 0 ? '-' : '+', abs(e));
	} else {
		positional(a->dtype, x, 40, text, sizeof text);
		fprintf(f, "%s%s", text, text[strlen(text) - 1] == '.' ? "0" : "");
	}
}

/* ---- lines ---- */

static void flush_line(ArrayPrinter *p)
{
	while (p->line.n && p->line.s[p->line.n - 1] == ' ')
		p->line.n--;
	fwrite(buf_str(&p->line), 1, p->line.n, p->f);
	p->line.n = 0;
}

/* Appends the word to this line, or to the next if it does not fit here but would fit there. */
static void put_word(ArrayPrinter *p, const Buf *word, int indent, size_t width)
{
	if (p->line.n + word->n > width && p->line.n > (size_t)indent) {
		flush_line(p);
		fputc('\n', p->f);
		buf_printf(&p->line, "%*s", indent, "");
	}
	buf_add(&p->line, word->s, word->n);
}

static void print_row(ArrayPrinter *p, int axis, int64_t at)
{
	int64_t n = p->a->dim[axis];
	Buf word = {0};

	for (int64_t i = 0; i < n; i++) {
		if (shortened(p, axis) && i == EDGE) {
			put_word(p, &(Buf){"...", 3, 3}, axis + 1, WIDTH - axis - 1);
			buf_add(&p->line, " ", 1);
			i = n - EDGE;
		}
		word.n = 0;
		element_text(p, at * n + i, &word);
		put_word(p, &word, axis + 1, WIDTH - axis - 1);
		if (i + 1 < n)
			buf_add(&p->line, " ", 1);
	}
	buf_free(&word);
}

static void new_lines(ArrayPrinter *p, int n, int indent)
{
	flush_line(p);
	for (int i = 0; i < n; i++)
		fputc('\n', p->f);
	buf_printf(&p->line, "%*s", indent, "");
}

static void print_axis(ArrayPrinter *p, int axis, int64_t at)
{
	int64_t n = p->a->dim[axis];
	int last = p->a->rank - 1;

	buf_add(&p->line, "[", 1);
	if (axis == last)
		print_row(p, axis, at);
	for (int64_t i = 0; axis < last && i < n; i++) {
		if (shortened(p, axis) && i == EDGE) {
			buf_add(&p->line, "...", 3);
			new_lines(p, last - axis, axis + 1);
			i = n - EDGE;
		}
		print_axis(p, axis + 1, at * n + i);
		if (i + 1 < n)
			new_lines(p, last - axis, axis + 1);
	}
	buf_add(&p->line, "]", 1);
}

void array_print(FILE *f, const Array *a)
{
	ArrayPrinter p = {.f = f, .a = a};
	int64_t n = array_count(a);

	if (a->rank == 0) {
		print_scalar(f, a);
	} else if (n == 0) {
		fputs("[]", f);
	} else {
		p.summary = n > THRESHOLD;
		choose_format(&p);
		print_axis(&p, 0, 0);
		flush_line(&p);
		buf_free(&p.line);
	}
	fputc('\n', f);
}
