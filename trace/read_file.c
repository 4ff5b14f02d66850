/* Selects the reader for a file: by what it begins with, or, for programs in C and compiled ones,
 * by its suffix. */
#include "io/io.h"
#include "process/process.h"
#include "trace.h"
#include "text/text.h"
#include "c/c_program.h"
#include "derive/derive.h"

static Graph *read_by_kind(const char *file)
{
	InputKind kind = file_kind(file);
	size_t n;
	if (file_is_c(file))
		return read_c(file);
	if (name_ends(file, ".so"))
		return read_compiled(file);
	if (kind != INPUT_MODEL && kind != INPUT_TEXT && !file_is_onnx(file) &&
		(kind != INPUT_EMPTY || !name_ends(file, ".t")))
		return NULL;
	confine_stage(stream_writes());
	if (kind == INPUT_MODEL || file_is_onnx(file))
		return read_onnx(file);
	onnx_options_idle();
	const char *text = file_map(file, &n);
	return read_text(text, n, file);
}

Graph *read_file(const char *file)
{
	Graph *g = read_by_kind(file);
	/* derivatives in the program leave versions of its loops */
	return g ? join_loops(g) : NULL;
}

Graph *read_source(const void *p, size_t n, const char *name)
{
	if (input_kind(p, n, NULL) == INPUT_MODEL) {
		/* there is no file in which its numbers could stay */
		embeds_files = true;
		data_give(name, p, n);
		return join_loops(read_onnx(name));
	}
	onnx_options_idle();
	return join_loops(read_text(p, n, name));
}
