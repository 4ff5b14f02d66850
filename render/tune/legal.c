/* Whether a list fits a kernel: it is read by the very functions by which lower reads it, and what
 * makes these die is the reason. */
#include "tune/parts.h"
#include <setjmp.h>

static ARENA struct { jmp_buf back; const char *why; } refusal;

static void refused(int status, const char *where, const char *text)
{
	refusal.why = arena_strdup(text);
	longjmp(refusal.back, 1);
}

static void fit(UOp *kernel, const Val *list, Fitted *to)
{
	KernelUse use = {.kernel = node_like(kernel, kernel->nsrc, kernel->src,
		val_set(kernel->arg, "actions", list))};
	*to = (Fitted){0};
	UOp *rewritten = kernel_rewritten(&use, &to->w);
	facts_find(&to->f, rewritten, false);
	plan_read(&to->p, &to->f);
}

bool list_fits(UOp *kernel, const Val *list, Fitted *to, const char **why)
{
	void (*before)(int, const char *, const char *) = process.refused;
	if (setjmp(refusal.back)) {
		process.refused = before;
		if (why)
			*why = refusal.why;
		return false;
	}
	process.refused = refused;
	fit(kernel, list, to);
	process.refused = before;
	return true;
}
