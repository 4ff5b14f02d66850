/* trace FILE: anything → level graph.  The reader is picked by the file's suffix; what has none of the known ones is a
 * document. */
#include "onnx.h"

static const Pass passes[] = {
	{"expand", read_tensor, "functions of the tensor library become primitive ops"},
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
		.summary = "Reads a program (.t), an ONNX model (.onnx), or a document of level tensor or graph (.mp, or on "
			"standard input), and writes its graph.",
		.level_in = LV_TENSOR, .level_most = LV_GRAPH, .level_out = LV_GRAPH, .options = options, .passes = passes,
		.read = read_file,
	};
	argc = take_shapes_from(argc, argv);
	return stage_main(&trace, argc, argv);
}
