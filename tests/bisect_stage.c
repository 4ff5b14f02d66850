/* A stage with a fault, for bisect.bats: `wrong FAULT`. Its passes leave a schedule as it is, but
 * for the second, which adds 1 to what is stored, crashes, or never ends. */
#include "process/process.h"
#include <signal.h>
#include <unistd.h>

static const char *fault;

static Graph *nothing(Graph *g) { return g; }

static UOp *add_one(UOp *u, void *ctx)
{
	UOp *src[2] = {u};
	if (u->op != OP_EXP2 || *(bool *)ctx)
		return u;
	*(bool *)ctx = true;
	src[1] = const_num(u->dtype, 1);
	return node_new(OP_ADD, u->dtype, 2, src, VNIL);
}

static Graph *second(Graph *g)
{
	bool done = false;
	if (fault && !strcmp(fault, "crash"))
		raise(SIGSEGV);
	if (fault && !strcmp(fault, "hang"))
		for (;;)
			sleep(1);
	if (fault && !strcmp(fault, "add"))
		g->sink = walk_replace(g->sink, add_one, &done);
	return g;
}

static const Option options[] = {
	{0, "fault", "F", "add, crash, hang", &fault},
	{0, "opt", "LIST", "none", &fault},
	{0},
};
static const Pass passes[] = {
	{"first", nothing, "nothing"}, {"second", second, "the fault"}, {"third", nothing, "nothing"}, {0}};
static const Stage stage = {.name = "wrong", .summary = "a stage with a fault", .usage = "[FILE]",
	.options = options, .level_in = LV_SCHEDULE, .level_out = -1, .passes = passes};

int main(int argc, char **argv) { return stage_main(&stage, argc, argv); }
