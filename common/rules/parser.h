/* Shared by rules.c, builtin.c and args.c: the parser's state while a line of a file of rules
 * becomes a Rule. */
#ifndef RULE_PARSER_H
#define RULE_PARSER_H
#include "rules/rule.h"

typedef struct {
	const char *file;
	Rules *rules;
	const RuleNames *names;
	const CondRow *when;    /* the section's condition */
	bool left_out;          /* the section's rules are left out */

	/* the line */
	const char *at, *end, *line;
	int number, depth;
	int size;               /* expressions so far, including those of definitions */
	Rule *rule;             /* the rule whose variables are in scope */
	bool right;             /* on the right side: only variables that are bound already */
	bool unknown;           /* the line names something that this program does not have */
} RuleParser;

/* Bound on patterns within patterns, and args within args. */
enum { NESTING = 50 };

/* Dies with MALFORMED: file:line:column: why. */
_Noreturn void parse_bad(RuleParser *p, const char *why);
/* The parse functions skip blanks first. parse_eat: if s comes next, skips it and returns true. */
bool parse_eat(RuleParser *p, const char *s);
/* Letters, digits and _; "" when there are none. Malloc'd. */
const char *parse_word(RuleParser *p);
/* The number of the variable of that name. of_arg: it stands for a part of an arg. */
int parse_variable(RuleParser *p, const char *name, bool of_arg);
const CondRow *parse_condition(const RuleNames *names, const char *name);
/* Reads the lines of a file after line `number` into r; names may be NULL. */
void rules_read(Rules *r, const char *text, size_t n, const char *file, int number,
	const RuleNames *names);

/* ---- args.c */

/* The array between [ and ]; the [ has been read. */
ArgEx *arg_parse(RuleParser *p);
#endif
