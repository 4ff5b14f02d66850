/* Outputs to a folder, to one .npz, or as text on standard output:
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

static bool is_npz(const char *path)
{
	size_t n = strlen(path);
	return n > 4 && !strcmp(path + n - 4, ".npz");
}

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
	} else if (is_npz(to)) {
		npz_write(to, n, as, at);
	} else {
		folder_new(to);
		if (groups && groups->kind == VAL_ARRAY)
			write_groups(groups, n, names, at, to, numbered);
		for (size_t i = 0; i < n && (!groups || groups->kind != VAL_ARRAY); i++)
			npy_write(arena_printf("%s/%s.npy", to, as[i]), &at[i]);
	}
	files_release();
}
