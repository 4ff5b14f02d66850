/* What rules.c, builtin.c and args.c share: a line of a file of rules on its way to a Rule. */
#ifndef RULE_PARSER_H
#define RULE_PARSER_H
#include "rules/rule.h"

typedef struct {
	const char *file;
	Rules *rules;
	const RuleNames *names;
	const CondRow *when;    /* of the section */
	bool left_out;          /* its rules are */

	/* the line */
	const char *at, *end, *line;
	int number, depth;
	int size;               /* expressions so far, and those of definitions */
	Rule *rule;             /* whose variables are in scope */
	bool right;             /* only variables that are there already */
	bool unknown;           /* it speaks of what this program has not */
} RuleParser;

/* Patterns within patterns, args within args. */
enum { NESTING = 50 };

/* Dies with MALFORMED: file:line:column: why. */
_Noreturn void parse_bad(RuleParser *p, const char *why);
/* Each passes over blanks first. True when s stood there, and is passed over. */
bool parse_eat(RuleParser *p, const char *s);
/* Letters, digits and _; "" when there are none. Malloc'd. */
const char *parse_word(RuleParser *p);
/* The number of the variable of that name, which is a part of an arg or is not. */
int parse_variable(RuleParser *p, const char *name, bool of_arg);
const CondRow *parse_condition(const RuleNames *names, const char *name);
/* Lines of a file, from behind line number on, into r; names may be NULL. */
void rules_read(Rules *r, const char *text, size_t n, const char *file, int number,
	const RuleNames *names);

/* ---- args.c */

/* What stands between [ and ], the [ being passed over. */
ArgEx *arg_parse(RuleParser *p);
#endif
