/* Outputs to a folder, to one .npz, or as text on standard output:
 *
 *     $ run g.mp x=x.npy
 *     y f32[2,2]
 *     [[1. 2.]
 *      [3. 4.]]
 */
#include "run.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

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

/* Output names are also names of files: never trust a document that nobody verified. */
static void name_check(const char *name)
{
	if (!*name || *name == '.' || *name == '-' || strlen(name) > 255 || strpbrk(name, "/=\n"))
		die(MALFORMED, "output '%s': a name that no file may have", name);
}

void outputs_write(
	size_t n, const char *const *names, const Array *at, const char *to, bool numbered)
{
	const char **as = arena_alloc((n + 1) * sizeof *as);

	for (size_t i = 0; i < n; i++) {
		name_check(names[i]);
		as[i] = numbered ? arena_printf("output_%zu", i) : names[i];
	}
	if (!to) {
		print_all(n, as, at);
	} else if (is_npz(to)) {
		npz_write(to, n, as, at);
	} else {
		if (mkdir(to, 0777) && errno != EEXIST)
			die_errno("cannot make the folder '%s'", to);
		for (size_t i = 0; i < n; i++)
			npy_write(arena_printf("%s/%s.npy", to, as[i]), &at[i]);
	}
}
