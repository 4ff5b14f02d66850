/* Reads and writes the list of actions in a kernel's arg. All that is done to a kernel is in this
 * list, so it can be shown, saved, changed by hand and replayed.
 *
 *     ["split", 2, 256]       r2 becomes two ranges, "2.0" and "2.1" (rewrites.c)
 *     ["swap", "2.1"]         products along it are one op (swap.c)
 *     ["rfactor", "2.1"]      reductions over both have a part for each r2.1, folded then
 *     ["order", 0, 1]         loops over r0, r1, outermost first
 *     ["kind", 0, "thread"]   threads share the iterations of r0, the outermost loop
 *     ["stage", "LOAD.0", 1]  the value in a row buffer over r1
 *     ["stage", "FDIV.0"]     the value of each lane in a register
 *     ["tile", 0, 8, 1]       8 elements of r0 side by side (words.c)
 *
 * Ranges are named by axis number, after a split by path; those of one reduction as RREDUCE.0.1
 * (binders.c); values by their op and a number among those of that op (value_name). The empty list
 * is plain loops. */
#include "actions/actions.h"
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

static const Action actions[] = {
#define ACTION(NAME, ARGS, READ, HELP) {.name = #NAME, .args = ARGS, .help = HELP, .read = READ},
#define REWRITE(NAME, ARGS, FN, READ, HELP) \
	{.name = #NAME, .args = ARGS, .help = HELP, .rewrite = FN, .read = READ},
#define WORD(NAME, ARGS, FN, ROUND, HELP) \
	{.name = #NAME, .args = ARGS, .help = HELP, .word = FN, .round = ROUND},
#define SCHEDULE(NAME, ARGS, HELP) \
	{.name = #NAME, .args = ARGS, .help = HELP, .schedule = true},
#include "actions/actions.def"
};

const Action *action_rows(size_t *n)
{
	*n = sizeof actions / sizeof *actions;
	return actions;
}

/* Does the number of operands fit the form? */
static bool operands_fit(const Action *row, const Val *a)
{
	size_t least = 0, most = 0;
	for (const char *s = row->args; *s; s++)
		if (*s == '*')
			least--, most = SIZE_MAX / 2;
		else if (*s == '?')
			least--;
		else if (*s != ' ')
			least++, most += most < SIZE_MAX / 2;
	return a->n - 1 >= least && a->n - 1 <= most;
}

/* "node 7 KERNEL", or the SINK, whose number says nothing. */
static const char *owner_of(const UOp *of)
{
	return of->op == OP_SINK ? "SINK" : arena_printf("node %u KERNEL", of->id);
}

static _Noreturn void refuse_name(const UOp *of, const Val *name)
{
	Nearest near = {.word = name->kind == VAL_STR ? name->s : ""};
	for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
		nearest_try(&near, actions[i].name);
	die(MALFORMED, "%s: no action is called '%.60s'%s", owner_of(of), near.word,
		nearest_hint(&near));
}

/* A name may have two rows, one of kernels and one of the schedule. */
static const Action *row_named(const Val *name, bool schedule)
{
	for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
		if (val_is_str(name, actions[i].name) && actions[i].schedule == schedule)
			return &actions[i];
	return NULL;
}

const Action *action_find(const UOp *of, const Val *a)
{
	const Val *name = a->kind == VAL_ARRAY && a->n ? a->a[0] : VNIL;
	bool schedule = of->op == OP_SINK;
	const Action *row = row_named(name, schedule);
	if (!row && row_named(name, !schedule))
		die(MALFORMED, "%s: %s is an action of %s", owner_of(of), name->s,
			schedule ? "a kernel" : "the schedule: it stands in the SINK");
	if (!row)
		refuse_name(of, name);
	if (!operands_fit(row, a))
		die(MALFORMED, "%s: %s is '%s%s%s' (r: a range, n: a number)", owner_of(of),
			row->name, row->name, *row->args ? " " : "", row->args);
	return row;
}

void actions_help(void)
{
	printf("\nactions (r: a range, n: a number, b: a buffer, v: a value, as LOAD.0; t: a "
	       "word; ?: may be left out, *: any number):\n");
	for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
		printf("    %-15s %-9s %s\n", actions[i].name, actions[i].args, actions[i].help);
}

/* ---- lists as text */

/* A text, what to call it in a message, and the status where it is no list. */
typedef struct { const char *at, *what; int status; } ListText;

/* the next word, which ends at a space or with its action */
static const char *next_word(ListText *t)
{
	const char *from = t->at += strspn(t->at, " \t\n,");
	t->at += strcspn(t->at, " \t\n,;");
	return t->at == from ? NULL : arena_printf("%.*s", (int)(t->at - from), from);
}

static const Val *word_val(const ListText *t, const char *word)
{
	char *end;
	errno = 0;
	long long n = strtoll(word, &end, 10);
	if (end != word && !*end && !errno)
		return val_int(n);
	/* a range's path */
	if (isdigit((unsigned char)*word) && !word[strspn(word, "0123456789.")])
		return val_str(word);
	if (!isalpha((unsigned char)*word))
		die(t->status, "%s: '%.60s' is neither an action nor a number", t->what, word);
	return val_str(word);
}

static const Val *one_action(ListText *t)
{
	const Val *v[MAX_RANGES + 4];
	const char *word;
	int n = 0;
	while ((word = next_word(t))) {
		if (n == MAX_RANGES + 4)
			die(t->status, "%s: an action of more than %d words", t->what, n);
		v[n++] = word_val(t, word);
	}
	t->at += *t->at == ';';
	return n ? val_array(n, v) : NULL;
}

const Val *actions_parse(const char *text, int status, const char *what)
{
	ListText t = {text, what, status};
	const Val *list[256], *a;
	int n = 0;
	while (*t.at)
		if ((a = one_action(&t)) && n < 256)
			list[n++] = a;
	return val_array(n, list);
}

void actions_text(Buf *out, const Val *list)
{
	for (size_t i = 0; i < list->n; i++)
		for (size_t k = 0; k < list->a[i]->n; k++) {
			const Val *word = list->a[i]->a[k];
			buf_printf(out, "%s", k ? " " : i ? "; " : "");
			if (word->kind == VAL_INT)
				buf_printf(out, "%lld", (long long)word->i);
			else
				buf_printf(out, "%s", word->s);
		}
}

const Val *plan_given(const char *opt, const UOp *kernel)
{
	const Val *name = val_get(kernel->arg, "name");
	const char *colon = strchr(opt, ':');
	if (!colon)
		die(USAGE, "--opt: 'NAME*: tile 0 8 1; …': there is no colon");
	if (fnmatch(arena_printf("%.*s", (int)(colon - opt), opt), name->s, 0))
		return NULL;
	return actions_parse(colon + 1, USAGE, "--opt");
}

const Val *schedule_given(const char *opt)
{
	static const char sink[] = "SINK:";
	size_t n = sizeof sink - 1;
	return !strncmp(opt, sink, n) ? actions_parse(opt + n, USAGE, "--opt") : NULL;
}
