/* Rules: a file of lines, a pattern against a node, a replacement built, the driver of rewriting.
 * The grammar is in ../README.md. Sections follow the files. */
#ifndef RULES_H
#define RULES_H
#include "rules/rules.h"

enum { MAX_VARS = 16, MAX_CONDS = 4, MAX_COND_ARGS = 2, MAX_PARTS = 8, SELF = -1, NONE = -1 };

typedef struct Ex Ex;
typedef struct ArgEx ArgEx;
typedef struct Definition Definition;
typedef struct Rule Rule;

/* A function of C that a rule calls on a node: its result replaces the call; the node itself where
 * nothing is left to do, NULL for a node that it is not for. */
typedef UOp *RuleFn(UOp *u);
/* A predicate on as many nodes as its row gives. */
typedef bool CondFn(UOp *const *x);
typedef struct { const char *name; int nargs; CondFn *fn; } CondRow;

/* ---- rules.c: the lines of a file ------------------------------------------------------------ */

/* A pattern, or an expression from which nodes are built. */
typedef enum { EX_VAR, EX_SELF, EX_LITERAL, EX_OP, EX_ANY, EX_FUNCTION, EX_DEFINED } ExKind;
struct Ex {
	ExKind kind;
	int var;                /* its variable, or the one bound to it; NONE */
	Val literal;            /* a copy, which lives as long as the rules */
	Op op;
	DType dtype;            /* OP:dtype(…); DT_NONE: not given */
	int dtype_of;           /* OP:variable(…), else NONE */
	ArgEx *arg;             /* OP[…](…); NULL: not given */
	int nsrc;
	Ex *src[8];
	RuleFn *fn;
	const Definition *defined;
};

/* name(a, b) := value, …; the parameters are the first variables */
struct Definition {
	const char *name;
	int nparams, nvalues;
	int gives;              /* the number of values, including those of definitions inside */
	int size;
	Ex *value[MAX_PARTS];
};

/* On variables, by number, and SELF. */
typedef struct { const CondRow *row; int arg[MAX_COND_ARGS]; bool negate; } Cond;
/* A line, which is one of
 *
 *     pattern -> to[0] if cond, …
 *     OP(x, y): g -> to[0], to[1]        from is the op over distinct variables, `none` is NULL
 *     OP: word                           the thing that the word names
 */
struct Rule {
	Ex *from, *to[MAX_PARTS];
	int nto, g;
	const void *what;
	bool (*set)(Op op);     /* of `elementwise: word`: the ops to which it applies */
	const CondRow *when;    /* the condition of its section, or NULL */
	Cond cond[MAX_CONDS];
	int nconds, nvars;
	const char *var[MAX_VARS];
	bool of_arg[MAX_VARS];  /* the variable stands for a part of an arg */
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

/* What the lines of a file may use in addition to rule_functions.c; each list ends with a row of
 * zeros, or is NULL. */
typedef struct { const char *name; RuleFn *fn; } RuleFunction;
typedef struct RuleNames {
	/* rows give a value for each source, or one */
	enum { REWRITINGS, PARTS, VALUES } lines;
	const RuleFunction *functions;
	const CondRow *conditions;
	const void *(*named)(const char *word);         /* for a row's word; NULL: no such word */
	bool partial;           /* rules that use unknown names are left out */
} RuleNames;

/* The rules of `before` (NULL: none), then those of a text, which may use the definitions of
 * `before`; `before` is consumed. names may be NULL. Dies with file:line:column. */
Rules *rules_add(Rules *before, const char *text, size_t n, const char *file,
	const RuleNames *names);

/* ---- builtin.c: the files that are compiled in ----------------------------------------------- */

/* The same for a built-in file, by its name; dies with USAGE when there is none. */
Rules *rules_add_builtin(Rules *before, const char *name, const RuleNames *names);
/* A built-in file that is kept for further use; a section is read when rewriting reaches a node for
 * which its condition holds. names are those of the first call. */
Rules *rules_open(const char *name, const RuleNames *names);
/* Reads the sections that apply to u. */
void rules_reach(Rules *r, UOp *u);
/* The names of the built-in files; NULL beyond the last. */
const char *rules_builtin_name(size_t i);
/* The text of a built-in file; dies likewise. */
const char *rules_builtin_text(const char *name);
/* The line for op of a built-in file of rows, which is kept; NULL where it has none. What must have
 * one, the build has seen to (graph/op_check.sh). */
const Rule *rules_row(const char *name, const RuleNames *names, Op op);

/* ---- match.c, args.c, build.c ---------------------------------------------------------------- */

/* The binding of a variable: a node, or a value (a part of an arg; a literal given to a
 * definition). Each rule is used with an array of MAX_VARS of them. */
typedef struct { UOp *node; const Val *value; } Bound;
/* Binds the rule's variables in env when u matches. */
bool rule_match(const Rule *r, UOp *u, Bound *env);
bool arg_match(const ArgEx *e, const Val *arg, Bound *env);
/* The arg that e stands for; dies with MALFORMED where a variable's value is of the wrong kind. */
const Val *arg_build(const ArgEx *e, const Bound *env);

/* Applied to each node that is built except the last, after its sources; NULL: nothing is. */
typedef struct { UOp *(*settle)(UOp *u, void *ctx); void *ctx; } Builder;
/* The node that e stands for, after rule_match has bound env at self. */
UOp *rule_build(const Builder *b, const Ex *e, UOp *self, const Bound *env);

/* ---- rewrite.c ------------------------------------------------------------------------------- */

/* Like rewrite, but where rewriting does not end it returns NULL, and the current node in
 * *endless. */
UOp *rewrite_try(UOp *root, Rules *rules, const UOp **endless);

/* ---- rule_functions.c ------------------------------------------------------------------------ */

RuleFn *rule_function(const char *name);
const CondRow *rule_condition(const char *name);
#endif
