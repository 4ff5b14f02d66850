/* Outputs to a folder, to one .npy or .npz, over an endpoint (as .npz), as .npy or as text on
 * standard output:
 *
 *     $ run g.mp x=x.npy
 *     y f32[2,2]
 *     [[1. 2.]
 *      [3. 4.]]
 */
#include "arrays/arrays.h"
#include "io/io.h"
#include "session/session.h"
#include <stdlib.h>
#include <sys/stat.h>

static void print_all(size_t n, const char *const *names, const Array *at)
{
	for (size_t i = 0; i < n; i++) {
		printf("%s%s %s[", i ? "\n" : "", names[i], dtype_name(at[i].dtype));
		for (int k = 0; k < at[i].rank; k++)
			printf("%s%lld", k ? "," : "", (long long)at[i].dim[k]);
		puts("]");
		array_print(stdout, &at[i]);
	}
}

/* Output names become file names, so a document is never trusted about them. */
static void name_check(const char *name)
{
	if (!*name || *name == '.' || *name == '-' || strlen(name) > 255 || strpbrk(name, "/=\n"))
		die(MALFORMED, "output '%s': the name cannot be a file name", name);
}

/* meta.output_groups has a row for each output of the model: nil for a tensor; [name, n] for a
 * sequence of n, which becomes a folder NAME.seq; [name, nil] for an optional without a value,
 * which becomes an empty file NAME.none. */
static void write_groups(
	const Val *groups, size_t n, const char *const *names, const Array *at, const char *to,
	bool numbered)
{
	size_t k = 0;

	for (size_t i = 0; i < groups->n; i++) {
		const Val *g = groups->a[i];
		bool group = g->kind == VAL_ARRAY && g->n == 2 && g->a[0]->kind == VAL_STR;
		const char *name = group ? g->a[0]->s : k < n ? names[k] : "";
		size_t many = !group ? 1 : g->a[1]->kind == VAL_INT ? (uint64_t)g->a[1]->i : 0;
		if (many > n - k)
			die(MALFORMED, "its groups have more outputs than the document, %zu", n);
		name_check(name);
		name = arena_printf("%s/%s", to, numbered ? arena_printf("output_%zu", i) : name);
		if (!group)
			npy_write(arena_printf("%s.npy", name), &at[k]);
		else if (g->a[1]->kind != VAL_INT)
			file_write(arena_printf("%s.none", name), "", 0);
		else
			folder_new(arena_printf("%s.seq", name));
		for (size_t j = 0; group && j < many; j++)
			npy_write(arena_printf("%s.seq/%zu.npy", name, j), &at[k + j]);
		k += many;
	}
}

static bool has_text(const Val *list, const char *text)
{
	for (size_t i = 0; list && list->kind == VAL_ARRAY && i < list->n; i++)
		if (val_is_str(list->a[i], text))
			return true;
	return false;
}

size_t outputs_asked(const Graph *g, size_t n, const char *const **names, const Array **at)
{
	const char **name = arena_alloc((n + 1) * sizeof *name);
	Array *array = arena_alloc((n + 1) * sizeof *array);
	size_t left = 0;

	for (size_t i = 0; i < n; i++)
		if (!has_text(val_get(g->meta, "updates"), (*names)[i])) {
			name[left] = (*names)[i];
			array[left++] = (*at)[i];
		}
	*names = name;
	*at = array;
	return left;
}

/* What an -o that is no .npy, .npz or endpoint may be: a name with another ending is a slip, unless
 * a folder of that name is there. */
void outputs_check_place(const char *to)
{
	struct stat st;
	const char *slash = to ? strrchr(to, '/') : NULL, *name = slash ? slash + 1 : to;
	const char *ending = name ? strrchr(name, '.') : NULL;

	if (!to || endpoint_is(to) || !ending || ending == name || !ending[1] ||
		name_ends(to, ".npy") || name_ends(to, ".npz") ||
		(!stat(to, &st) && S_ISDIR(st.st_mode)))
		return;
	die(USAGE, "-o %.200s: outputs are written as .npy, as .npz or into a folder (%.200s/ "
		"makes one), not as %.80s", to, to, ending);
}

/* The only output, for a place that has room for one. */
static const Array *only_output(size_t n, const Array *at, const char *to)
{
	if (n != 1)
		die(USAGE, "-o %.200s: there are %zu outputs: give a folder or a .npz", to, n);
	return at;
}

static void write_to(size_t n, const char *const *as, const Array *at, const char *to)
{
	Buf b = {0};

	if (endpoint_is(to)) {
		npz_bytes(&b, n, as, at);
		stream_put(to, b.s, b.n);
	} else if (!strcmp(to, "-")) {
		npy_bytes(&b, only_output(n, at, to));
		stream_put(NULL, b.s, b.n);
	} else if (name_ends(to, ".npy")) {
		npy_write(to, only_output(n, at, to));
	} else if (name_ends(to, ".npz")) {
		npz_write(to, n, as, at);
	} else {
		folder_new(to);
		for (size_t i = 0; i < n; i++)
			npy_write(arena_printf("%s/%s.npy", to, as[i]), &at[i]);
	}
	buf_free(&b);
}

static bool is_folder(const char *to)
{
	return strcmp(to, "-") && !endpoint_is(to) && !name_ends(to, ".npy") &&
		!name_ends(to, ".npz");
}

void outputs_write(size_t n, const char *const *names, const Array *at, const char *to,
	bool numbered, const Val *groups)
{
	const char **as = arena_alloc((n + 1) * sizeof *as);

	for (size_t i = 0; i < n; i++) {
		name_check(names[i]);
		as[i] = numbered ? arena_printf("output_%zu", i) : names[i];
	}
	files_hold();
	if (!to) {
		print_all(n, as, at);
	} else if (groups && groups->kind == VAL_ARRAY && is_folder(to)) {
		folder_new(to);
		write_groups(groups, n, names, at, to, numbered);
	} else {
		write_to(n, as, at, to);
	}
	files_release();
}
