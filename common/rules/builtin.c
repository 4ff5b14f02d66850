/* The rule files that are compiled in: read whole, or only as far as needed; and files of rows, by
 * op. */
#include "rules/parser.h"

static const struct { const char *name, *text; } builtin[] = {
#include "rules.inc"
	{0}
};

/* The files that were opened. */
static Rules *kept[sizeof builtin / sizeof *builtin];

const char *rules_builtin_name(size_t i) { return builtin[i].name; }

static int find(const char *name)
{
	for (int i = 0; builtin[i].name; i++)
		if (!strcmp(builtin[i].name, name))
			return i;
	die(USAGE, "no built-in rules named '%s'", name);
}

const char *rules_builtin_text(const char *name) { return builtin[find(name)].text; }

Rules *rules_add_builtin(Rules *before, const char *name, const RuleNames *names)
{
	const char *text = rules_builtin_text(name);
	char file[64];
	snprintf(file, sizeof file, "%s.rules", name);
	return rules_add(before, text, strlen(text), file, names);
}

/* ---- section by section */

struct Unread {
	const char *file;
	const RuleNames *names;
	size_t n, read;
	struct { const CondRow *when; const char *text; size_t n; int line; } section[8];
};

static void read_next(Rules *r)
{
	Unread *u = r->unread;
	size_t i = u->read++;
	rules_read(r, u->section[i].text, u->section[i].n, u->file, u->section[i].line, u->names);
}

/* The condition of a line that begins a section; NULL for any other line. */
static const CondRow *header(const char *line, const RuleNames *names)
{
	char name[32];
	if (strncmp(line, "when ", 5) || sscanf(line + 5, "%31[a-z0-9_]", name) != 1)
		return NULL;
	return parse_condition(names, name);
}

/* The sections of the text, of which the first is read. */
static Rules *sections(const char *name, const RuleNames *names)
{
	Rules *r = xcalloc(1, sizeof *r);
	Unread *u = r->unread = xcalloc(1, sizeof *u);
	const char *line = rules_builtin_text(name), *next;
	char file[64];
	snprintf(file, sizeof file, "%s.rules", name);
	u->file = xstrdup(file);
	u->names = names;
	u->section[u->n++].text = line;
	for (int number = 0; *line; line = next, number++) {
		const CondRow *when = header(line, names);
		if (when) {
			CHECK(u->n < sizeof u->section / sizeof *u->section);
			u->section[u->n].when = when;
			u->section[u->n].text = line;
			u->section[u->n++].line = number;
		}
		next = strchr(line, '\n') + 1;
		u->section[u->n - 1].n += next - line;
	}
	read_next(r);
	return r;
}

Rules *rules_open(const char *name, const RuleNames *names)
{
	int i = find(name);
	if (!kept[i])
		kept[i] = sections(name, names);
	return kept[i];
}

Rules *rules_builtin(const char *name)
{
	static const RuleNames none;
	return rules_open(name, &none);
}

void rules_reach(Rules *r, UOp *u)
{
	Unread *unread = r->unread;
	for (size_t i = unread ? unread->read : 0; unread && i < unread->n; i++)
		if (unread->section[i].when->fn(&u))
			while (unread->read <= i)
				read_next(r);
}

/* ---- rows by op */

/* An op's own line has precedence over that of a set. */
static const Rule *row(const Rules *rows, Op op)
{
	const Rule *found = NULL;
	for (size_t i = 0; i < rows->by_op[op].n; i++) {
		const Rule *r = &rows->at[rows->by_op[op].at[i]];
		if (!found || found->set)
			found = r;
	}
	return found;
}

const Rule *rules_row(const char *name, const RuleNames *names, Op op)
{
	int i = find(name);
	if (!kept[i])
		kept[i] = rules_add_builtin(NULL, name, names);
	return row(kept[i], op);
}
