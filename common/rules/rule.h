/* What rules.c, match.c, rewrite.c and rule_functions.c share. */
#ifndef RULES_H
#define RULES_H
#include "rules/rules.h"

enum { MAX_VARS = 16, MAX_CONDS = 4, MAX_PARTS = 8 };

/* A pattern or a replacement: a variable, a literal, an op, or (replacement) a function of C
 * called on self. */
typedef enum { EX_VAR, EX_SELF, EX_LITERAL, EX_OP, EX_ANY, EX_FUNCTION } ExKind;
typedef struct Ex Ex;
typedef UOp *RuleFn(UOp *self);
typedef UOp *RuleCall(UOp *const *arg);
struct Ex {
	ExKind kind;
	int var;
	const Val *literal;
	Op op;
	int nsrc;
	Ex *src[8];
	RuleFn *fn;
	RuleCall *call;
};

typedef bool CondFn(const UOp *u);
typedef struct { CondFn *fn; int var; bool negate; } Cond;
typedef struct { Ex *from,
	*to; int nvars; const char *var[MAX_VARS]; Cond cond[MAX_CONDS]; int nconds; int line;
	/* a derivative: the part of each source (NULL: none) with g for variable number g, or
	 * the functions named pair */
	Ex *part[MAX_PARTS];
	int nparts, g;
	const char *pair;
} Rule;

struct Rules { size_t n; Rule *at; const char *file; VEC(int) by_op[OP_COUNT]; };

/* Binds the rule's variables in env when u matches; env has MAX_VARS entries. */
bool rule_match(const Rule *r, UOp *u, UOp **env);
/* What e stands for when rule_match has bound env at self; literals take self's dtype. Nothing
 * is rewritten. */
UOp *rule_build(const Ex *e, UOp *self, UOp **env);
/* The built-in file of derivatives of that name; calls, a row of zeros at the end, are the
 * functions it may call on what it pleases. */
typedef struct { const char *name; RuleCall *fn; } RuleCallRow;
Rules *rules_derivatives(const char *name, const RuleCallRow *calls);
/* a lone pattern, for `match` */
RuleFn *rule_function(const char *name);
CondFn *rule_condition(const char *name);
#endif
