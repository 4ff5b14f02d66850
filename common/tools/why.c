/* why KERNEL [FILE]: where a kernel of a document comes from: what it computes in the words of the
 * program, the merges that made it with their costs, and what was done to it for the target.
 *
 *     K1 r_64_512 -> t4
 *       t4        MAX     /layer1/relu/Relu
 *       t3        REDUCE  /layer1/conv1/Conv, merged into t4: 100 against 228
 *       actions   [["tile", 1, 1, 16], ["grid", 1]] */
#include "document/document.h"
#include "io/io.h"
#include "process/process.h"
#include <stdlib.h>

static const Option none[] = {{0}};
static const Stage form = {
	.name = "why",
	.summary = "Says where a kernel comes from: lines, layers, merges, actions.",
	.usage = "KERNEL | K3 | BUFFER [FILE]",
	.options = none,
};

static UOp *kernel_of(const UOp *call)
{
	UOp *callee = call->src[0];
	return callee->op == OP_PROGRAM && callee->nsrc ? callee->src[0] : callee;
}

static const char *name_of(const UOp *call)
{
	const Val *name = val_get(call->src[0]->arg, "name");
	return name && name->kind == VAL_STR ? name->s : "";
}

static bool writes(const UOp *call, uint32_t k) { return call_writes(call) >> (k - 1) & 1; }

static bool is_meant(const UOp *call, size_t number, const char *what, Nearest *near)
{
	bool is = !strcmp(name_of(call), what) || !strcmp(arena_printf("K%zu", number), what);
	nearest_try(near, name_of(call));
	for (uint32_t k = 1; k < call->nsrc && writes(call, k); k++) {
		is |= !strcmp(buffer_name(call->src[k]), what);
		nearest_try(near, buffer_name(call->src[k]));
	}
	return is;
}

static void put_origin(const Origin *o)
{
	const char *name = o->name ? o->name : o->loc ? o->loc : "(made by the tools)";
	printf("  %-9s %-7s %s", o->buffer, o->op ? o->op : "", name);
	if (o->loc && strcmp(o->loc, name))
		printf(" (%s)", o->loc);
	if (o->into)
		printf(", merged into %s", o->into);
	if (o->into && (o->with || o->without))
		printf(": %.4g against %.4g apart", o->with, o->without);
	printf("\n");
}

static void put_key(const UOp *kernel, const char *key)
{
	const Val *v = val_get(kernel->arg, key);
	Buf b = {0};
	if (!v || v == VNIL)
		return;
	val_print(&b, v);
	printf("  %-9s %s\n", key, buf_str(&b));
	buf_free(&b);
}

static void put_call(const Graph *g, const UOp *call, size_t number)
{
	const Origin *at;
	size_t n = origins_of(g, call, &at);
	printf("K%zu %s ->", number, name_of(call));
	for (uint32_t k = 1; k < call->nsrc && writes(call, k); k++)
		printf(" %s", buffer_name(call->src[k]));
	printf("\n");
	for (size_t i = 0; i < n; i++)
		put_origin(&at[i]);
	put_key(kernel_of(call), "target");
	put_key(kernel_of(call), "actions");
}

static void explain(const Graph *g, const char *what)
{
	Nodes all = walk(g->sink);
	Nearest near = {.word = what};
	size_t number = 0, found = 0;
	if (g->level < LV_SCHEDULE)
		die(UNSUPPORTED, "a document of level %s has no kernels: schedule makes them",
			level_name[g->level]);
	for (size_t i = 0; i < all.n; i++) {
		const UOp *call = all.at[i];
		if (call->op != OP_CALL)
			continue;
		if (is_meant(call, number, what, &near)) {
			put_call(g, call, number);
			found++;
		}
		number++;
	}
	if (!found)
		die(USAGE, "there is no kernel or buffer '%.80s'%s", what, nearest_hint(&near));
}

int main(int argc, char **argv)
{
	Graph *g;

	stage_begin(form.name);
	int first = options_parse(&form, argc, argv);
	if (argc - first < 1 || argc - first > 2)
		die(USAGE, "why takes the name of a kernel or buffer, and a FILE");
	broker_start();
	Stream *in = stream_open(argc - first > 1 ? argv[first + 1] : process.input);
	confine_stage(false);
	if (!(g = stream_next(in, 0)))
		die(MALFORMED, "there is no document");
	verify(g);
	explain(g, argv[first]);
	return stage_end();
}
