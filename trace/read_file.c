/* Selects the reader for a file by its suffix. */
#include "io/io.h"
#include "process/process.h"
#include "trace.h"
#include "text/text.h"
#include "c/c_program.h"
#include "derive/derive.h"

static bool suffix_is(const char *file, const char *suffix)
{
	size_t n = strlen(file), k = strlen(suffix);
	return n > k && !strcmp(file + n - k, suffix);
}

static Graph *read_by_suffix(const char *file)
{
	size_t n;
	if (file_is_c(file))
		return read_c(file);
	if (suffix_is(file, ".so"))
		return read_compiled(file);
	if (!file_is_onnx(file) && !suffix_is(file, ".t"))
		return NULL;
	confine_stage(stream_writes());
	if (file_is_onnx(file))
		return read_onnx(file);
	const char *text = file_map(file, &n);
	return read_text(text, n, file);
}

Graph *read_file(const char *file)
{
	Graph *g = read_by_suffix(file);
	/* derivatives in the program leave versions of its loops */
	return g ? join_loops(g) : NULL;
}
