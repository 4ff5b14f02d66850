/* near CASES DIR: whether DIR/c1.npy, c2.npy, … hold what the cases say.
 *
 *     tile(v, 2)
 *     <tab>f32[4] 1 2 1 2
 *
 * After a tab stand dtype[shape] and the values of the case above. `ulp=N` before them: each value
 * within N units in the last place. Else a value may differ by 3 millionths (f32; f16 2e-3, f64
 * 1e-13) of itself or of a third of the greatest. -0 is not 0; NaN is NaN. One line for each case
 * that differs; status 1 when there was one. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { const char *npy, *name; int size; double tol, eps; } Type;
static const Type types[] = {
	{"|b1", "bool", 1, 0, 0},
	{"|i1", "i8", 1, 0, 0},
	{"<i2", "i16", 2, 0, 0},
	{"<i4", "i32", 4, 0, 0},
	{"<i8", "i64", 8, 0, 0},
	{"|u1", "u8", 1, 0, 0},
	{"<u2", "u16", 2, 0, 0},
	{"<u4", "u32", 4, 0, 0},
	{"<u8", "u64", 8, 0, 0},
	{"<f2", "f16", 2, 2e-3, 0x1p-10},
	{"<f4", "f32", 4, 3e-6, 0x1p-23},
	{"<f8", "f64", 8, 1e-13, 0x1p-52},
};

static double half(uint16_t h)
{
	int e = h >> 10 & 31, m = h & 1023;
	double v = e == 31 ? (m ? NAN : INFINITY) : e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);

	return h >> 15 ? -v : v;
}

static double element(const Type *t, const void *p)
{
	union {
		int8_t i1;
		int16_t i2;
		int32_t i4;
		int64_t i8;
		float f4;
		double f8;
		uint64_t u;
		uint16_t h;
	} v = {.u = 0};

	memcpy(&v, p, t->size);
	switch (t->npy[1] * 10 + t->size) {
	case 'i' * 10 + 1: return v.i1;
	case 'i' * 10 + 2: return v.i2;
	case 'i' * 10 + 4: return v.i4;
	case 'i' * 10 + 8: return v.i8;
	case 'f' * 10 + 2: return half(v.h);
	case 'f' * 10 + 4: return v.f4;
	case 'f' * 10 + 8: return v.f8;
	default: return v.u;
	}
}

/* "f32[2,3]" of a file's header, and where its data starts; NULL when it is no such file */
static const Type *header(const unsigned char *p, size_t n, char *text, const unsigned char **data)
{
	const char *descr, *shape;

	if (n < 12 || memcmp(p, "\x93NUMPY\1", 7))
		return NULL;
	*data = p + 10 + p[8] + 256 * p[9];
	descr = strstr((const char *)p + 10, "'descr': '");
	shape = strchr((const char *)p + 10, '(');
	if (!descr || !shape)
		return NULL;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		char *t = text + sprintf(text, "%s[", types[i].name);
		if (strncmp(descr + 10, types[i].npy, 3))
			continue;
		for (shape++; *shape != ')'; shape++)
			if (*shape != ' ' && !(*shape == ',' && (shape[1] == ')')))
				*t++ = *shape;
		strcpy(t, "]");
		return &types[i];
	}
	return NULL;
}

static double word(const char *s)
{
	return !strcmp(s, "true") ? 1 : !strcmp(s, "false") ? 0 : strtod(s, NULL);
}

static int close_to(const Type *t, double got, double want, double ulps, double greatest)
{
	double room;
	int e;

	if (isnan(want) || isnan(got))
		return isnan(want) && isnan(got);
	if (want == got)
		return signbit(want) == signbit(got);
	if (!isfinite(want) || !isfinite(got))
		return 0;
	frexp(want, &e);
	room = ulps > 0 ? ulps * ldexp(t->eps, e - 1) : t->tol * fmax(fabs(want), greatest / 3);
	return fabs(got - want) <= room;
}

/* The values of one case against a file. Returns 0 when they agree. */
static int check(char *line, const char *path, const char *what)
{
	static unsigned char bytes[1 << 20];
	static double want[1 << 16];
	char text[256] = "", *s;
	const unsigned char *data;
	double ulps = 0, greatest = 0;
	size_t n, k = 0;
	FILE *f = fopen(path, "rb");
	const Type *t;

	if (!f)
		return printf("%s: no %s\n", what, path), 1;
	n = fread(bytes, 1, sizeof bytes - 1, f);
	fclose(f);
	bytes[n] = 0;
	s = strtok(line + 1, " \n");
	if (s && !strncmp(s, "ulp=", 4)) {
		ulps = atof(s + 4);
		s = strtok(NULL, " \n");
	}
	t = header(bytes, n, text, &data);
	if (!t || !s || strcmp(s, text))
		return printf("%s: %s, expected %s\n", what, text, s ? s : "?"), 1;
	for (; k < sizeof want / sizeof *want && (s = strtok(NULL, " \n")); k++) {
		want[k] = word(s);
		if (isfinite(want[k]))
			greatest = fmax(greatest, fabs(want[k]));
	}
	if (bytes + n - data != (ptrdiff_t)(k * t->size))
		return printf("%s: %td bytes for %zu values\n", what, bytes + n - data, k), 1;
	for (size_t i = 0; i < k; i++) {
		double got = element(t, data + i * t->size);
		if (!close_to(t, got, want[i], ulps, greatest))
			return printf("%s: element %zu is %.17g, expected %.17g\n", what, i, got,
				       want[i]),
			       1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static char line[1 << 20], what[4096], path[4096];
	int cases = 0, wrong = 0;
	FILE *f = argc == 3 ? fopen(argv[1], "r") : NULL;

	if (!f)
		return fprintf(stderr, "near: CASES DIR\n"), 2;
	while (fgets(line, sizeof line, f)) {
		if (line[0] != '\t') {
			snprintf(what, sizeof what, "%.*s", (int)strcspn(line, "\n"), line);
			continue;
		}
		snprintf(path, sizeof path, "%s/c%d.npy", argv[2], ++cases);
		wrong += check(line, path, what);
	}
	printf("%d cases, %d differ\n", cases, wrong);
	return wrong != 0;
}
