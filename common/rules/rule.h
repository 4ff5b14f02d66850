/* Rules: a file of lines, a pattern against a node, a replacement built, the driver of rewriting.
 * The grammar is in ../README.md.  Sections follow the files. */
#ifndef RULES_H
#define RULES_H
#include "rules/rules.h"

enum { MAX_VARS = 16, MAX_CONDS = 4, MAX_COND_ARGS = 2, MAX_PARTS = 8, SELF = -1, NONE = -1 };

typedef struct Ex Ex;
typedef struct ArgEx ArgEx;
typedef struct Definition Definition;
typedef struct Rule Rule;

/* A function of C that a rule calls on a node: what it gives stands for the call, the node itself
 * where nothing is left to do. */
typedef UOp *RuleFn(UOp *u);
/* A predicate on as many nodes as its row says. */
typedef bool CondFn(UOp *const *x);
typedef struct { const char *name; int nargs; CondFn *fn; } CondRow;

/* ---- rules.c: the lines of a file ------------------------------------------------------------ */

/* A pattern, or what a node is built from. */
typedef enum { EX_VAR, EX_SELF, EX_LITERAL, EX_OP, EX_ANY, EX_FUNCTION, EX_DEFINED } ExKind;
struct Ex {
	ExKind kind;
	int var;                /* the variable that it is, or that is bound to it; NONE */
	Val literal;            /* a copy, which lives as long as the rules */
	Op op;
	DType dtype;            /* OP:dtype(…); DT_NONE: none is said */
	int dtype_of;           /* OP:variable(…), else NONE */
	ArgEx *arg;             /* OP[…](…); NULL: none is said */
	int nsrc;
	Ex *src[8];
	RuleFn *fn;
	const Definition *defined;
};

/* name(a, b) := value, …; its parameters are its first variables */
struct Definition {
	const char *name;
	int nparams, nvalues;
	int gives;              /* values, those of definitions within counted each */
	int size;
	Ex *value[MAX_PARTS];
};

/* On variables, by number, and SELF. */
typedef struct { const CondRow *row; int arg[MAX_COND_ARGS]; bool negate; } Cond;
/* A line, which is one of
 *
 *     pattern -> to[0] if cond, …
 *     OP(x, y): g -> to[0], to[1]        from is the op over distinct variables, `none` is NULL
 *     OP: word                           what the word names
 */
struct Rule {
	Ex *from, *to[MAX_PARTS];
	int nto, g;
	const void *what;
	bool (*set)(Op op);     /* of `elementwise: word`: the ops that it is for */
	const CondRow *when;    /* of the section it stands in, or NULL */
	Cond cond[MAX_CONDS];
	int nconds, nvars;
	const char *var[MAX_VARS];
	bool of_arg[MAX_VARS];  /* the variable is a part of an arg */
	const char *where;      /* file:line */
};

typedef struct Unread Unread;
struct Rules {
	Rule *at;
	size_t n, cap;
	VEC(int) by_op[OP_COUNT];
	VEC(const Definition *) defs;
	Unread *unread;         /* of a file that was opened, else NULL */
};

/* What the lines of a file may speak of beside what rule_functions.c has; each list ends with a
 * row of zeros, or is NULL. */
typedef struct { const char *name; RuleFn *fn; } RuleFunction;
typedef struct RuleNames {
	/* rows give a value for each source, or one */
	enum { REWRITINGS, PARTS, VALUES } lines;
	const RuleFunction *functions;
	const CondRow *conditions;
	const void *(*named)(const char *word);         /* of a row; NULL: no such word */
	bool partial;           /* rules that speak of what is not known are left out */
} RuleNames;

/* The rules of before (NULL: none) and then those of a text, which may use its definitions;
 * before is used up. names may be NULL. Dies with file:line:column. */
Rules *rules_add(Rules *before, const char *text, size_t n, const char *file,
	const RuleNames *names);

/* ---- builtin.c: the files that are compiled in ----------------------------------------------- */

/* The same for a built-in file, by its name; dies with USAGE when there is none. */
Rules *rules_add_builtin(Rules *before, const char *name, const RuleNames *names);
/* One that is kept for the next time; a section is read when rewriting comes to a node that it
 * holds for. names are those of the first time. */
Rules *rules_open(const char *name, const RuleNames *names);
/* Reads what there is for u. */
void rules_reach(Rules *r, UOp *u);
/* The names of the built-in files; NULL beyond the last. */
const char *rules_builtin_name(size_t i);
/* The text of one; dies likewise. */
const char *rules_builtin_text(const char *name);
/* The line for op of a built-in file of rows, which is kept; NULL where it has none. What must have
 * one, the build has seen to (graph/op_check.sh). */
const Rule *rules_row(const char *name, const RuleNames *names, Op op);

/* ---- match.c, args.c, build.c ---------------------------------------------------------------- */

/* What a variable stands for: a node, or a value (a part of an arg; a literal given to a
 * definition). An array of MAX_VARS of them goes with a rule. */
typedef struct { UOp *node; const Val *value; } Bound;
/* Binds the rule's variables in env when u matches. */
bool rule_match(const Rule *r, UOp *u, Bound *env);
bool arg_match(const ArgEx *e, const Val *arg, Bound *env);
/* The arg that e stands for; dies with MALFORMED where a value is not of the kind it takes. */
const Val *arg_build(const ArgEx *e, const Bound *env);

/* What is done with each node that is built but the last, its sources being done already; NULL:
 * nothing. */
typedef struct { UOp *(*settle)(UOp *u, void *ctx); void *ctx; } Builder;
/* What e stands for when rule_match has bound env at self. */
UOp *rule_build(const Builder *b, const Ex *e, UOp *self, const Bound *env);

/* ---- rewrite.c ------------------------------------------------------------------------------- */

/* As rewrite, but where rules do not come to an end it gives NULL, and the node it was
 * at in *endless. */
UOp *rewrite_try(UOp *root, Rules *rules, const UOp **endless);

/* ---- rule_functions.c ------------------------------------------------------------------------ */

RuleFn *rule_function(const char *name);
const CondRow *rule_condition(const char *name);
#endif
