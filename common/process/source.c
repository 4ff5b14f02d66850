/* Programs and models in place of documents: every tool takes them, and `trace` reads them, in a
 * process of its own.
 *
 *     run f.t          =    trace f.t | run
 *     cat f.t | fuse   =    cat f.t | trace | fuse
 *
 * A file is looked at before the walls, where `trace` can still be given its name: of a model it
 * puts no numbers into the document, only their place. What comes over a pipe is handed over when
 * it is met. */
#include "io/io.h"
#include "process/process.h"

/* Standard input of `trace`, when file is NULL. */
static void trace_run(const char *file, const void *p, size_t n, Buf *out)
{
	const char *path = tool_find("trace");
	if (!path)
		die(FAILED, "the stage 'trace' is not on the stage path %s", stage_path());
	const char *argv[5] = {path};
	size_t k = 1;
	if (process.custom_allowed)
		argv[k++] = "--allow-custom";
	if (file && *file == '-')
		argv[k++] = "--";
	if (file)
		argv[k++] = file;
	char *const *const argvs[] = {(char *const *)argv, NULL};
	int failed, status = spawn_pipeline(argvs, p, n, out, &failed);
	if (status)
		pipeline_failed(argvs, status, failed, p, n);
}

void source_bytes(const void *p, size_t n, Buf *out) { trace_run(NULL, p, n, out); }

Stream *source_open(const char *file)
{
	Buf out = {0};
	if (!file || !strcmp(file, "-") || endpoint_is(file))
		return NULL;
	switch (file_kind(file)) {
	case INPUT_TEXT: case INPUT_MODEL: case INPUT_CODE: break;
	default: return NULL;
	}
	trace_run(file, "", 0, &out);
	return stream_of(out.s, out.n, file);
}
