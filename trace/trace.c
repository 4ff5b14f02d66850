/* trace FILE: anything → level graph.  The reader is picked by the file's suffix; what has none of the known ones is a
 * document. */
#include "onnx.h"

OnnxWords onnx_shapes_from, onnx_consts, onnx_sets;

static bool suffix_is(const char *file, const char *suffix)
{
	size_t n = strlen(file), k = strlen(suffix);
	return n > k && !strcmp(file + n - k, suffix);
}

static Graph *read_file(const char *file)
{
	size_t n;
	if (suffix_is(file, ".onnx"))
		return read_onnx(file);
	if (suffix_is(file, ".c"))
		die(UNSUPPORTED, "%s: .c files are not supported", file);
	if (!suffix_is(file, ".t"))
		return NULL;
	const char *text = file_map(file, &n);
	return read_text(text, n, file);
}

/* The words behind --shapes-from are as many as there are, so that a list of inputs can be given as it stands:
 * what looks like @K=FILE or NAME=FILE there is taken out of the arguments. */
static int take_inputs(int argc, char **argv)
{
	int n = 0;
	bool taking = false;
	for (int i = 0; i < argc; i++) {
		bool word = argv[i][0] != '-' && strchr(argv[i], '=');
		if (!strcmp(argv[i], "--shapes-from"))
			taking = true;
		else if (taking && word)
			vec_push(&onnx_shapes_from, argv[i]);
		else {
			taking = false;
			argv[n++] = argv[i];
		}
	}
	argv[n] = NULL;
	return n;
}

static const Pass passes[] = {
	{"expand", read_tensor, "functions of the tensor library become primitive ops"},
	{0},
};

static const Option options[] = {
	{0, "shapes-from", "INPUT=FILE", "ONNX: an input's value, @K=FILE.npy or NAME=FILE.npy, for shapes that need it; as "
		"many as follow", &onnx_shapes_from, .many = true},
	{0, "const", "NAME=FILE", "ONNX: an input is a constant, FILE.npy", &onnx_consts, .many = true},
	{0, "set", "SIZE=N", "ONNX: a size of the model is N", &onnx_sets, .many = true},
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
	argc = take_inputs(argc, argv);
	return stage_main(&trace, argc, argv);
}
