/* trace FILE: anything → level graph. The reader is selected by what the file begins with
 * (read_file.c). */
#include "process/process.h"
#include "shape/regions.h"
#include "trace.h"
#include "c/c_program.h"
#include "derive/derive.h"
#include <stdlib.h>

/* The conditions that the nodes ask for, whoever reads them. */
static const Val *checks_of_nodes(const Graph *g)
{
	Nodes all = walk(g->sink);
	sizes_defer();
	for (size_t i = 0; i < all.n; i++) {
		const UOp *u = all.at[i];
		const Shape *shape;
		int status;
		if (op_info[u->op].cls != CLASS_FLOW && u->op != OP_SINK)
			node_infer(u->op, u->dtype, u->nsrc, u->src, u->arg, &shape, &status);
	}
	const Val *rows = size_checks();
	size_checks_reset();
	return rows;
}

static bool has_row(const Val *rows, const Val *row)
{
	for (size_t i = 0; rows && rows->kind == VAL_ARRAY && i < rows->n; i++)
		if (rows->a[i] == row)
			return true;
	return false;
}

/* Conditions on sizes that could not be decided are checked by run: meta {checks: [["eq", "n*2",
 * "m"], …]}. Where there are steps, those of a node are checked where it is computed. */
static Graph *note_checks(Graph *g)
{
	const Val *old = val_get(g->meta, "checks"), *own = size_checks();
	size_checks_reset();
	if (own == VNIL)
		return g;
	const Val *nodes = steps_in(g) ? checks_of_nodes(g) : VNIL;
	VEC(const Val *) all = {0};
	for (size_t i = 0; old && old->kind == VAL_ARRAY && i < old->n; i++)
		vec_push(&all, old->a[i]);
	for (size_t i = 0; i < own->n; i++)
		if (!has_row(nodes, own->a[i]) && !has_row(old, own->a[i]))
			vec_push(&all, own->a[i]);
	if (!all.n)
		return g;
	g->meta = val_set(g->meta, "checks", val_array(all.n, all.at));
	vec_free(&all);
	return g;
}

static const Pass passes[] = {
	{"expand", read_tensor, "functions of the tensor library become primitive ops"},
	{"states", keep_states, "pairs of an input and an output become states (--state)"},
	{"loops", join_loops, "one loop of those that derivatives made differ in what they save"},
	{"unbound", steps_prune, "sizes that no output needs are not bound"},
	{"checks", note_checks, "what is to be checked when the sizes are known"},
	{0},
};

static const Option options[] = {
	ONNX_OPTIONS,
	C_OPTIONS,
	{0, "state", "IN=OUT", "keep an input between calls: it starts as zeros, and output OUT is "
		"its next content", &state_pairs, .many = true},
	{0},
};

int main(int argc, char **argv)
{
	static const Stage trace = {
		.name = "trace",
		.usage = "[FILE]",
		.summary = "Reads a program (.t), a program in C or C++ (.c, .cpp; or compiled, "
			   ".so), an ONNX model (.onnx), "
			   "or a document of level tensor or graph (.mp), and writes its "
			   "graph. A program (.t) or document may be on standard input.",
		.level_in = LV_TENSOR,
		.level_most = LV_GRAPH,
		.level_out = LV_GRAPH,
		.options = options,
		.passes = passes,
		.steps = STEPS_WHOLE,
		.read = read_file,
		.source = read_source,
	};
	argc = take_shapes_from(argc, argv);
	return stage_main(&trace, argc, argv);
}
