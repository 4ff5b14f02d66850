/* Compares two arrays, .npz files or folders of .npy files by value: diff for results.
 *
 *     y: f32[64,48]: 3 of 3072 differ, most at [1,7]: 0.25 and 0.5
 */
#include "arrays/arrays.h"
#include <dirent.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

typedef struct { const char *name; Array a; } NamedArray;
typedef VEC(NamedArray) Arrays;

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);
	return n >= m && !strcmp(s + n - m, end);
}

static bool is_folder(const char *path)
{
	struct stat st;
	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

bool arrays_are(const char *path)
{
	return ends_with(path, ".npy") || ends_with(path, ".npz") || is_folder(path);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const NamedArray *)a)->name, ((const NamedArray *)b)->name);
}

static bool counts(const char *name, const char *only) { return !only || !fnmatch(only, name, 0); }

static void read_folder(const char *path, const char *only, Arrays *out)
{
	DIR *d = opendir(path);
	if (!d)
		die_errno("%s: cannot open", path);
	for (struct dirent *e; (e = readdir(d));) {
		if (!ends_with(e->d_name, ".npy"))
			continue;
		char *name = arena_strdup(e->d_name);
		name[strlen(name) - 4] = 0;
		if (counts(name, only))
			vec_push(out, ((NamedArray){name, npy_read(arena_printf("%s/%s", path,
				e->d_name), DT_NONE)}));
	}
	closedir(d);
}

static Arrays read_all(const char *path, const char *only)
{
	Arrays out = {0};
	if (is_folder(path)) {
		read_folder(path, only, &out);
	} else if (ends_with(path, ".npz")) {
		const char **names;
		size_t n = npz_names(path, &names);
		for (size_t i = 0; i < n; i++)
			if (counts(names[i], only))
				vec_push(&out, ((NamedArray){names[i], npz_read(path, names[i],
					DT_NONE)}));
	} else {
		vec_push(&out, ((NamedArray){"array", npy_read(path, DT_NONE)}));
	}
	if (out.n)
		qsort(out.at, out.n, sizeof *out.at, by_name);
	return out;
}

/* ---- one pair */

static double element(const Array *a, int64_t i)
{
	double v;
	interp_cast(DT_F64, &v, a->dtype, (const char *)a->data + i * dtype_size(a->dtype), 1);
	return v;
}

static bool close_enough(double x, double y, double rtol, double atol)
{
	if (isnan(x) || isnan(y))
		return isnan(x) && isnan(y);
	return x == y || fabs(x - y) <= atol + rtol * fmax(fabs(x), fabs(y));
}

/* Maps the bits of a float to an integer with the same order: neighbours differ by 1; -0 and 0 are
 * both 0. */
static int64_t place_in_order(const Array *a, int64_t i)
{
	size_t size = dtype_size(a->dtype);
	uint64_t bits = 0, sign = 1ull << (8 * size - 1);
	memcpy(&bits, (const char *)a->data + i * size, size);
	return bits & sign ? -(int64_t)(bits & ~sign) : (int64_t)bits;
}

/* Whether two floats differ by few units in the last place; an infinity is close only to itself. */
static bool few_ulps(const Array *a, const Array *b, int64_t i, const Closeness *how)
{
	double x = element(a, i), y = element(b, i);
	if (isnan(x) || isnan(y))
		return isnan(x) && isnan(y);
	if (x == y)
		return !how->zeros || !signbit(x) == !signbit(y);
	if (isinf(x) || isinf(y))
		return false;
	int64_t m = place_in_order(a, i), n = place_in_order(b, i);
	return (m < n ? (uint64_t)n - m : (uint64_t)m - n) <= (uint64_t)how->ulp;
}

static bool same_bytes(const Array *a, const Array *b, int64_t i)
{
	size_t size = dtype_size(a->dtype);
	return !memcmp((const char *)a->data + i * size, (const char *)b->data + i * size, size);
}

static bool near(const Array *a, const Array *b, int64_t i, const Closeness *how)
{
	if (!dtype_float(a->dtype))
		return same_bytes(a, b, i);
	if (how->ulp >= 0)
		return few_ulps(a, b, i, how);
	return close_enough(element(a, i), element(b, i), how->rtol, how->atol);
}

static void print_place(Buf *b, const Array *a, int64_t i)
{
	int64_t at[MAX_RANK];
	for (int k = a->rank; k--; i /= a->dim[k])
		at[k] = i % a->dim[k];
	buf_printf(b, "[");
	for (int k = 0; k < a->rank; k++)
		buf_printf(b, "%s%lld", k ? "," : "", (long long)at[k]);
	buf_printf(b, "]");
}

static void print_kind(Buf *b, const Array *a)
{
	buf_printf(b, "%s[", dtype_name(a->dtype));
	for (int k = 0; k < a->rank; k++)
		buf_printf(b, "%s%lld", k ? "," : "", (long long)a->dim[k]);
	buf_printf(b, "]");
}

static bool compare_pair(Buf *out, const NamedArray *x, const NamedArray *y, const Closeness *how)
{
	const char *name = x->name;
	Array first = x->a, second = y->a, *a = &first, *b = &second;
	if (how->bf16 && a->dtype == DT_U16 && b->dtype == DT_U16)
		a->dtype = b->dtype = DT_BF16;
	bool kind = a->dtype == b->dtype && a->rank == b->rank &&
		!memcmp(a->dim, b->dim, a->rank * sizeof *a->dim);
	if (!kind) {
		buf_printf(out, "%s: ", name);
		print_kind(out, a);
		buf_printf(out, " and ");
		print_kind(out, b);
		buf_printf(out, "\n");
		return false;
	}
	int64_t n = array_count(a), wrong = 0, worst = 0;
	double most = -1;
	for (int64_t i = 0; i < n; i++) {
		if (near(a, b, i, how))
			continue;
		double d = fabs(element(a, i) - element(b, i));
		wrong++;
		d = isnan(d) ? INFINITY : d;
		if (d > most) {
			most = d;
			worst = i;
		}
	}
	if (!wrong)
		return true;
	buf_printf(out, "%s: ", name);
	print_kind(out, a);
	buf_printf(out, ": %lld of %lld differ, most at ", (long long)wrong, (long long)n);
	print_place(out, a, worst);
	buf_printf(out, ": %.9g and %.9g\n", element(a, worst), element(b, worst));
	return false;
}

bool arrays_diff(Buf *out, const char *path_a, const char *path_b, const Closeness *how)
{
	Arrays a = read_all(path_a, how->only), b = read_all(path_b, how->only);
	bool same = true;
	size_t i = 0, k = 0;
	if (how->only && !a.n && !b.n)
		die(USAGE, "no array is called '%s'", how->only);
	/* a single array has no name */
	if (a.n == 1 && b.n == 1)
		return compare_pair(out, &a.at[0], &b.at[0], how);
	while (i < a.n || k < b.n) {
		int c = i == a.n ? 1 : k == b.n ? -1 : strcmp(a.at[i].name, b.at[k].name);
		if (c) {
			buf_printf(out, "%s: only in %s\n", c < 0 ? a.at[i].name : b.at[k].name,
				c < 0 ? path_a : path_b);
			same = false;
			i += c < 0;
			k += c > 0;
			continue;
		}
		same &= compare_pair(out, &a.at[i++], &b.at[k++], how);
	}
	return same;
}
