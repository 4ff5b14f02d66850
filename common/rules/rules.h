/* Rewriting by rules that are data. */
#ifndef COMMON_RULES_RULES_H
#define COMMON_RULES_RULES_H
#include "shape/shape.h"

/* ---- match.c, rules.c, rewrite.c: rewriting by rules */

typedef struct Rules Rules;
/* Compiles the text of a .rules file (grammar in common/README.md); dies with file:line:column. */
Rules *rules_parse(const char *text, size_t n, const char *file);
/* The built-in file of that name (compiled in at build time). */
Rules *rules_builtin(const char *name);
/* Rewrites to a fixed point, sources first; linear in nodes. *count gets the number of rules
 * applied, unless it is NULL. */
UOp *rewrite(UOp *root, Rules *rules, size_t *count);
/* One sweep: rewrites each node by the first rule that matches and leaves the result as it is (so a
 * rule may match a part of its own result). */
UOp *rewrite_once(UOp *root, Rules *rules, size_t *count);
#endif
