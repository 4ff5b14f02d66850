/* The reader for a file, by its suffix, and the words of the command line that go with it. */
#include "c_program.h"
#include "onnx.h"

OnnxOptions onnx_opt;

static bool suffix_is(const char *file, const char *suffix)
{
	size_t n = strlen(file), k = strlen(suffix);
	return n > k && !strcmp(file + n - k, suffix);
}

bool file_is_onnx(const char *file) { return suffix_is(file, ".onnx"); }

Graph *read_file(const char *file)
{
	size_t n;
	if (file_is_onnx(file))
		return read_onnx(file);
	if (file_is_c(file))
		return read_c(file);
	if (suffix_is(file, ".so"))
		return read_compiled(file);
	if (!suffix_is(file, ".t"))
		return NULL;
	const char *text = file_map(file, &n);
	return read_text(text, n, file);
}

int take_shapes_from(int argc, char **argv)
{
	int n = 0;
	bool taking = false;
	for (int i = 0; i < argc; i++) {
		bool word = argv[i][0] != '-' && strchr(argv[i], '=');
		if (!strcmp(argv[i], "--shapes-from")) {
			taking = true;
		} else if (taking && word) {
			vec_push(&onnx_opt.shapes_from, argv[i]);
		} else {
			taking = false;
			argv[n++] = argv[i];
		}
	}
	argv[n] = NULL;
	return n;
}
