/* The flags that a program may give to its compiler: those of this table, and those that a target
 * of the user's own names in `render-X --describe`. A compiler's flags can load plugins, start
 * programs and write files, so no other is passed on, whoever made the document. */
#include "shape/shape.h"
#include "process/process.h"
#include "build/build.h"

/* "*": letters, digits and ._+- */
static const char *const known[] = {
	[RUNTIME_CPU] = "-march=* -mcpu=* -mtune=* -mprefer-vector-width=* -O0 -O1 -O2 -O3 "
		"-funroll-loops -fno-unroll-loops -fno-tree-vectorize",
	[RUNTIME_OPENCL] = "-cl-fp32-correctly-rounded-divide-sqrt -cl-opt-disable -cl-std=*",
	[RUNTIME_CUDA] = "",
};

static const char space[] = " \t\n";

const char *flag_next(const char **text, size_t *n)
{
	const char *at = *text + strspn(*text, space);

	*n = strcspn(at, space);
	*text = at + *n;
	return *n ? at : NULL;
}

static bool flag_is(const char *flag, size_t n, const char *as, size_t m)
{
	static const char name[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";

	if (as[m - 1] != '*')
		return n == m && !memcmp(flag, as, n);
	return n >= m && !memcmp(flag, as, m - 1) && strspn(flag + m - 1, name) >= n - m + 1;
}

static bool flag_in(const char *list, const char *flag, size_t n)
{
	const char *as;
	size_t m;

	while ((as = flag_next(&list, &m)))
		if (flag_is(flag, n, as, m))
			return true;
	return false;
}

/* The line "flags: …" of what the target's own program says about it, or "". */
static const char *described(const char *target)
{
	const char *tool = name_plain(target, strlen(target)) ?
		tool_find(arena_printf("render-%s", target)) : NULL;
	const char *line;
	Buf out = {0};

	if (!tool || spawn_filter((char *[]){(char *)tool, "--describe", NULL}, "", 0, &out))
		return "";
	line = strstr(buf_str(&out), "flags:");
	while (line && line > out.s && line[-1] != '\n')
		line = strstr(line + 1, "flags:");
	line = line ? arena_printf("%.*s", (int)strcspn(line + 6, "\n"), line + 6) : "";
	buf_free(&out);
	return line;
}

void flags_check(const Program *p)
{
	const char *rest = p->flags ? p->flags : "", *flag, *own = NULL;
	size_t n;

	while ((flag = flag_next(&rest, &n))) {
		if (flag_in(known[p->runtime], flag, n))
			continue;
		own = own ? own : described(p->target);
		if (!flag_in(own, flag, n))
			die(MALFORMED, "%s: '%.*s' is not among the flags of target '%.60s'",
				p->where, n < 200 ? (int)n : 200, flag, p->target);
	}
}
