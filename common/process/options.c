/* Options from a table: the parser and --help use the same rows, so the help is always right. */
#include "io/io.h"
#include "process/process.h"
#include <getopt.h>
#include <stdlib.h>

enum { WORD_BASE = 256, HELP_COLUMN = 26 };

typedef VEC(Option) OptionRows;
typedef VEC(const char *) Strings;

static bool has_letter(const OptionRows *rows, char letter)
{
	for (size_t i = 0; i < rows->n; i++)
		if (rows->at[i].letter == letter)
			return true;
	return false;
}

static bool has_word(const OptionRows *rows, const char *word)
{
	for (size_t i = 0; i < rows->n; i++)
		if (rows->at[i].word && !strcmp(rows->at[i].word, word))
			return true;
	return false;
}

/* The tool's own rows, then the standard ones; a standard row loses its letter if the tool uses it.
 */
static OptionRows all_rows(const Stage *s, const Option *const *standard)
{
	OptionRows rows = {0};
	for (const Option *o = s->options; o && (o->letter || o->word); o++)
		vec_push(&rows, *o);
	for (; *standard; standard++)
		for (const Option *o = *standard; o->letter || o->word; o++) {
			Option row = *o;
			if (row.letter && has_letter(&rows, row.letter))
				row.letter = 0;
			if (row.letter || !has_word(&rows, row.word))
				vec_push(&rows, row);
		}
	return rows;
}

static void print_row(const Option *o)
{
	char left[128];
	int n = o->letter ? snprintf(left, sizeof left, "  -%c%s", o->letter, o->word ? ", " : "") :
		snprintf(left, sizeof left, "      ");
	if (o->word)
		n += snprintf(left + n, sizeof left - n, "--%s", o->word);
	if (o->arg)
		snprintf(left + n, sizeof left - n, o->optional_arg ? "[=%s]" : " %s", o->arg);
	if (strlen(left) < HELP_COLUMN)
		printf("%-*s%s\n", HELP_COLUMN, left, o->help);
	else
		printf("%s\n%*s%s\n", left, HELP_COLUMN, "", o->help);
}

void options_help(const Stage *s, const Option *const *standard)
{
	OptionRows rows = all_rows(s, standard);
	printf("usage: %s [option]…%s%s\n%s\n\n", s->name, s->usage && *s->usage ? " " : "",
		s->usage ? s->usage : "", s->summary);
	for (size_t i = 0; i < rows.n; i++)
		print_row(&rows.at[i]);
	if (s->passes) {
		printf("\npasses, in order (* can be skipped):\n");
		for (const Pass *p = s->passes; p->name; p++)
			printf("  %c %-21s %s%s\n", p->optional ? '*' : ' ', p->name,
				p->help ? p->help : "",
				p->parts ? arena_printf(" (%s:N the first N)", p->parts->name) :
					   "");
	}
	if (s->help)
		s->help();
	exit(stage_end());
}

void version_print(const char *tool)
{
	printf("%s (Sluice) %s, documents of version %d\n", tool, SLUICE_VERSION, WIRE_VERSION);
}

static void apply(const Option *o, const char *value)
{
	if (!o->arg)
		*(bool *)o->to = true;
	else if (o->many)
		vec_push((Strings *)o->to, value);
	else
		*(const char **)o->to = value ? value : "";
}

static _Noreturn void refuse(const OptionRows *rows, int c, const char *word)
{
	/* optopt is a letter, or the value of a long option whose argument is missing, or 0 */
	if (c == ':' && optopt >= WORD_BASE)
		die(USAGE, "option --%s needs %s", rows->at[optopt - WORD_BASE].word,
			rows->at[optopt - WORD_BASE].arg);
	if (c == ':')
		die(USAGE, "option -%c needs an argument", optopt);
	if (optopt >= WORD_BASE)
		die(USAGE, "option --%s takes no argument", rows->at[optopt - WORD_BASE].word);
	if (optopt)
		die(USAGE, "unknown option -%c (see --help)", optopt);
	Nearest near = {.word = arena_printf("%.*s", (int)strcspn(word, "="), word)};
	for (size_t i = 0; i < rows->n; i++)
		if (rows->at[i].word)
			nearest_try(&near, arena_printf("--%s", rows->at[i].word));
	die(USAGE, "unknown option %.80s%s (see --help)", word, nearest_hint(&near));
}

int options_read(const Stage *s, const Option *const *standard, int argc, char **argv)
{
	OptionRows rows = all_rows(s, standard);
	VEC(struct option) words = {0};
	Buf letters = {0};
	buf_printf(&letters, ":");
	for (size_t i = 0; i < rows.n; i++) {
		const Option *o = &rows.at[i];
		int has = o->optional_arg ? optional_argument : o->arg != NULL;
		if (o->letter)
			buf_printf(&letters, "%c%.*s", o->letter, has, "::");
		if (o->word)
			vec_push(&words, ((struct option){o->word, has, NULL, WORD_BASE + (int)i}));
	}
	vec_push(&words, ((struct option){0}));
	opterr = 0;
	optind = 0;
	for (;;) {
		int c = getopt_long(argc, argv, letters.s, words.at, NULL);
		if (c == -1)
			break;
		if (c == '?' || c == ':')
			refuse(&rows, c, argv[optind - 1]);
		for (size_t i = 0; i < rows.n; i++)
			if (c == rows.at[i].letter || c == WORD_BASE + (int)i)
				apply(&rows.at[i], optarg);
	}
	vec_free(&rows);
	vec_free(&words);
	buf_free(&letters);
	return optind;
}
