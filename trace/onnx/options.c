/* The options of the command line for a model's inputs. */
#include "onnx/onnx.h"

OnnxOptions onnx_opt;

bool file_is_onnx(const char *file)
{
	size_t n = strlen(file), k = strlen(".onnx");
	return n > k && !strcmp(file + n - k, ".onnx");
}

void onnx_options_idle(void)
{
	if (onnx_opt.sets.n || onnx_opt.consts.n || onnx_opt.shapes_from.n)
		die(USAGE, "--%s is for ONNX models: it does nothing for this input",
			onnx_opt.sets.n ? "set" : onnx_opt.consts.n ? "const" : "shapes-from");
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
