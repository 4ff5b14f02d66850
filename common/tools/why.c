/* why KERNEL [FILE]: where a kernel of a document comes from: what it computes in the words of the
 * program, the merges that made it with their costs, and what was done to it for the target.
 *
 *     K1 r_64_512 -> t4
 *       t4        MAX     /layer1/relu/Relu
 *       t3        REDUCE  /layer1/conv1/Conv, merged into t4: 100 against 228
 *       lower     because of a sum of 576 in which rows of r1 use vectors of r3 again: …
 *       actions   [["tile", 1, 1, 16], ["grid", 1]] */
#include "document/document.h"
#include "io/io.h"
#include "process/process.h"
#include <stdlib.h>

static const char *target;

static const Option options[] = {
	{'t', "target", "TARGET", "lower the document for it, and say what chose the actions",
		&target},
	{0},
};
static const Stage form = {
	.name = "why",
	.summary = "Says where a kernel comes from: lines, layers, merges, actions.",
	.usage = "KERNEL | K3 | BUFFER [FILE]",
	.options = options,
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

/* What `lower --reasons` has left about a kernel, or about those that it was made of. */
static void put_reasons(const Graph *g, const UOp *call)
{
	const Val *rows = val_get(g->meta, "reasons");
	const Val *parts = val_get(kernel_of(call)->arg, "parts");
	Buf names = {0};
	Map said = {0};
	for (size_t i = 0; parts && parts->kind == VAL_ARRAY && i < parts->n; i++)
		val_print(&names, parts->a[i]);
	for (size_t i = 0; rows && rows->kind == VAL_ARRAY && i < rows->n; i++) {
		const Val *row = rows->a[i];
		if (row->kind != VAL_ARRAY || row->n != 2 || row->a[0]->kind != VAL_STR ||
			row->a[1]->kind != VAL_STR)
			continue;
		const char *quoted = arena_printf("\"%s\"", row->a[0]->s);
		bool of = val_is_str(row->a[0], name_of(call)) || strstr(buf_str(&names), quoted);
		/* calls of one kernel may have been treated alike */
		if (of && !map_get(&said, PKEY(row->a[1])))
			printf("  %-9s %s\n", "lower", row->a[1]->s);
		if (of)
			map_put(&said, PKEY(row->a[1]), (void *)row->a[1]);
	}
	map_free(&said);
	buf_free(&names);
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
	put_reasons(g, call);
	put_key(kernel_of(call), "actions");
}

/* Explains the calls that are meant; with first, none: returns the first buffer that the first of
 * them writes. */
static const char *explain(const Graph *g, const char *what, bool first)
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
			if (first)
				return buffer_name(call->src[1]);
			put_call(g, call, number);
			found++;
		}
		number++;
	}
	if (!found)
		die(USAGE, "there is no kernel or buffer '%.80s'%s", what, nearest_hint(&near));
	return NULL;
}

/* The document as `lower` leaves it for the target, with its reasons. */
static Graph *lowered(Graph *g)
{
	char *const argv[] = {
		(char *)tool_find("lower"), "-t", (char *)target, "--reasons", NULL};
	char *const *const argvs[] = {argv, NULL};
	Buf in = {0}, out = {0};
	int failed;
	if (!argv[0])
		die(FAILED, "the stage 'lower' is not on the stage path %s", stage_path());
	wire_write(&in, g);
	int status = spawn_pipeline(argvs, in.s, in.n, &out, &failed);
	if (status)
		pipeline_failed(argvs, status, failed, in.s, in.n);
	buf_free(&in);
	g = wire_read(out.s, out.n, NULL, 0);
	verify(g);
	return g;
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
	if (target && g->level > LV_SCHEDULE)
		die(USAGE, "-t is for a document before lower: this one is of level %s",
			level_name[g->level]);
	const char *what = argv[first];
	if (target) {
		g = stage_raise(g, LV_SCHEDULE, NULL, true);
		what = explain(g, what, true);
		g = lowered(g);
	}
	explain(g, what, false);
	return stage_end();
}
