/* Follows what steps whose sizes and branches are data go by: it is written down as it comes up, or
 * what was written down before is given again. A document that stops, as one does where a size is
 * outside its bounds, says so here instead of ending the process; what the interpreter had from
 * malloc is lost then. */
#include <setjmp.h>
#include "base/base.h"
#include "equal/parts.h"

enum { MOST_STEPS = 1024, MOST_SIZE = 4096, PATIENCE = 4 };

static Execution *followed;
static jmp_buf outside;

static int64_t follow(Op step, int64_t v)
{
	Execution *e = followed;
	const size_t most = e->patient ? MOST_STEPS * PATIENCE : MOST_STEPS;

	if (e->given && e->steps.n < e->given->n)
		v = e->given->at[e->steps.n];
	if (e->steps.n == most)
		die(FAILED, "more than %zu turns and branches", most);
	if (step == OP_BIND && v > MOST_SIZE)
		die(FAILED, "a size above %d", MOST_SIZE);
	vec_push(&e->steps, v);
	return v;
}

/* What is not supported ends the process as ever. */
static void stop(int status, const char *where, const char *text)
{
	if (status == UNSUPPORTED)
		return;
	followed->stopped = arena_printf("%s", text);
	followed->tired = status == FAILED;
	longjmp(outside, 1);
}

void run_followed(void (*fn)(Run *r), Run *r)
{
	followed = r->e;
	r->e->steps.n = 0;
	steps_follow = follow;
	process.refused = stop;
	if (!setjmp(outside))
		fn(r);
	process.refused = NULL;
	steps_follow = NULL;
}
