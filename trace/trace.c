/* trace FILE: anything → level graph.  The reader is picked by the file's suffix; what has none
 * of the known ones is a document. */
#include "onnx.h"

/* What could not be decided of sizes is left to run:
 * meta {checks: [["eq", "n*2", "m"], …]}. */
static Graph *note_checks(Graph *g)
{
	if (size_checks() != VNIL)
		g->meta = val_set(g->meta, "checks", size_checks());
	size_checks_reset();
	return g;
}

static const Pass passes[] = {
	{"expand", read_tensor, "functions of the tensor library become primitive ops"},
	{"bound", bound_sizes, "sizes that are data become buffers of their most, and counts"},
	{"checks", note_checks, "what is to be checked when the sizes are known"},
	{0},
};

static const Option options[] = {
	ONNX_OPTIONS,
	{0},
};

int main(int argc, char **argv)
{
	static const Stage trace = {
		.name = "trace", .usage = "[FILE]",
		.summary = "Reads a program (.t), an ONNX model (.onnx), or a document of level tensor or graph "
			"(.mp, or on standard input), and writes its graph.",
		.level_in = LV_TENSOR, .level_most = LV_GRAPH, .level_out = LV_GRAPH, .options = options,
		.passes = passes, .read = read_file,
	};
	argc = take_shapes_from(argc, argv);
	return stage_main(&trace, argc, argv);
}
