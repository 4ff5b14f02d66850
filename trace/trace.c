/* trace FILE: anything → level graph.  The reader is picked by the file's suffix; what has none of the known ones is a
 * document. */
#include "trace.h"

static bool suffix_is(const char *file, const char *suffix)
{
	size_t n = strlen(file), k = strlen(suffix);
	return n > k && !strcmp(file + n - k, suffix);
}

static Graph *read_file(const char *file)
{
	static const char *const later[] = {".onnx", ".c"};
	size_t n;
	for (size_t i = 0; i < sizeof later / sizeof *later; i++)
		if (suffix_is(file, later[i]))
			die(UNSUPPORTED, "%s: %s files are not supported", file, later[i]);
	if (!suffix_is(file, ".t"))
		return NULL;
	const char *text = file_map(file, &n);
	return read_text(text, n, file);
}

static const Pass passes[] = {
	{"expand", read_tensor, "functions of the tensor library become primitive ops"},
	{0},
};

int main(int argc, char **argv)
{
	static const Stage trace = {
		.name = "trace", .usage = "[FILE]",
		.summary = "Reads a program (.t), or a document of level tensor or graph (.mp, or on standard input), and "
			"writes its graph.",
		.level_in = LV_TENSOR, .level_most = LV_GRAPH, .level_out = LV_GRAPH, .passes = passes, .read = read_file,
	};
	return stage_main(&trace, argc, argv);
}
