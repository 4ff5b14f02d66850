/* Two arrays, .npz files or folders of .npy files compared by value: diff for results.
 *
 *     y: f32[64,48]: 3 of 3072 differ, most at [1,7]: 0.25 and 0.5                                                     */
#include "uop.h"
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

typedef struct { const char *name; Array a; } Named;
typedef VEC(Named) Arrays;

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
	return strcmp(((const Named *)a)->name, ((const Named *)b)->name);
}

static void read_folder(const char *path, Arrays *out)
{
	DIR *d = opendir(path);
	if (!d)
		die_errno("%s: cannot open", path);
	for (struct dirent *e; (e = readdir(d));) {
		if (!ends_with(e->d_name, ".npy"))
			continue;
		char *name = arena_strdup(e->d_name);
		name[strlen(name) - 4] = 0;
		vec_push(out, ((Named){name, npy_read(arena_printf("%s/%s", path, e->d_name), DT_NONE)}));
	}
	closedir(d);
}

static Arrays read_all(const char *path)
{
	Arrays out = {0};
	if (is_folder(path)) {
		read_folder(path, &out);
	} else if (ends_with(path, ".npz")) {
		const char **names;
		size_t n = npz_names(path, &names);
		for (size_t i = 0; i < n; i++)
			vec_push(&out, ((Named){names[i], npz_read(path, names[i], DT_NONE)}));
	} else {
		vec_push(&out, ((Named){"array", npy_read(path, DT_NONE)}));
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

static bool compare_pair(Buf *out, const char *name, const Array *a, const Array *b, double rtol, double atol)
{
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
		double x = element(a, i), y = element(b, i), d = fabs(x - y);
		if (close_enough(x, y, dtype_float(a->dtype) ? rtol : 0, dtype_float(a->dtype) ? atol : 0))
			continue;
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

bool arrays_diff(Buf *out, const char *path_a, const char *path_b, double rtol, double atol)
{
	Arrays a = read_all(path_a), b = read_all(path_b);
	bool same = true;
	size_t i = 0, k = 0;
	/* a lone array has no name of its own */
	if (a.n == 1 && b.n == 1)
		return compare_pair(out, a.at[0].name, &a.at[0].a, &b.at[0].a, rtol, atol);
	while (i < a.n || k < b.n) {
		int c = i == a.n ? 1 : k == b.n ? -1 : strcmp(a.at[i].name, b.at[k].name);
		if (c) {
			buf_printf(out, "%s: only in %s\n", c < 0 ? a.at[i].name : b.at[k].name, c < 0 ? path_a : path_b);
			same = false;
			i += c < 0;
			k += c > 0;
			continue;
		}
		same &= compare_pair(out, a.at[i].name, &a.at[i].a, &b.at[k].a, rtol, atol);
		i++;
		k++;
	}
	return same;
}
