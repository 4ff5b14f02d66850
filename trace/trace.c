/* trace FILE: anything → level graph. The reader is selected by what the file begins with
 * (read_file.c). */
#include "process/process.h"
#include "trace.h"
#include "c/c_program.h"
#include "derive/derive.h"
#include <stdlib.h>

static const Pass passes[] = {
	{"expand", read_tensor, "functions of the tensor library become primitive ops"},
	{"states", keep_states, "pairs of an input and an output become states (--state)"},
	{"loops", join_loops, "one loop of those that derivatives made differ in what they save"},
	{"unbound", steps_prune, "sizes that no output needs are not bound"},
	{"files", settle_files, "files of numbers are looked at, and hashed (or --embed)"},
	{"checks", note_checks, "what is to be checked when the sizes are known"},
	{"least", raise_sizes, "sizes begin where the checks of one alone hold", .optional = true},
	{0},
};

static const Option options[] = {
	ONNX_OPTIONS,
	C_OPTIONS,
	{0, "embed", NULL, "put the numbers that are in files into the document", &embeds_files},
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
			   "graph. A program (.t), a model or a document may be on standard input.",
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
