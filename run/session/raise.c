/* Raises a document to level program by running the stages. The result is cached under the hash of
 * the document's bytes, so the second run of the same graph starts no stage.
 *
 *     key: the bytes, the target, the stages' files, the processor
 *     entry: the document of level program
 *
 * The cache is not used with a stage path of the user's own, because it is not known what such
 * stages depend on. */
#include "io/io.h"
#include "process/process.h"
#include "session/session.h"
#include <sys/stat.h>

enum { MOST = 64 << 20 };       /* bytes of a document, including its constants */

/* Adds the versions of the project's stages, identified by their files' size and time; false when
 * one is missing. */
static bool add_stages(Key *k, const char *target)
{
	const char *const names[] = {"schedule", "fuse", "layout", "lower", "render",
		arena_printf("render-%.100s", target)};
	struct stat st;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *path = tool_find(names[i]);
		if (!path || stat(path, &st))
			return false;
		int64_t is[] = {st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec};
		*k = key_add(key_adds(*k, path), is, sizeof is);
	}
	return true;
}

static bool key_of(const Graph *g, const char *target, Key *k)
{
	Buf b = {0};
	bool good;

	if (strchr(stage_path(), ':') || custom_in(g) || !cache_limit())
		return false;
	wire_write(&b, g);
	*k = key_processor(key_adds(key_add(key_start("program 1"), b.s, b.n), target));
	good = b.n <= MOST && add_stages(k, target);
	buf_free(&b);
	return good;
}

Graph *program_raise(Graph *g, const char *target)
{
	const char *path;
	const void *p;
	size_t n;
	Buf b = {0};
	Key k;

	if (!key_of(g, target, &k))
		return stage_raise(g, LV_PROGRAM, target, true);
	if ((p = cache_read(k, ".mp", &n)))
		return wire_read(p, n, NULL, 0);
	g = stage_raise(g, LV_PROGRAM, target, true);
	wire_write(&b, g);
	if (b.n <= MOST)
		cache_store(1, &k, ".mp", b.s, b.n, &path);
	buf_free(&b);
	return g;
}
