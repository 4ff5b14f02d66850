/* --sandbox: walls around the program before its first instruction, and around the threads that
 * will run it. It may read the files of its own constants, what the machine says of itself and the
 * cache, and write to the cache and where its outputs go. Compiling and loading are done by then.
 */
#include "build/build.h"
#include "process/process.h"
#include "session/session.h"

typedef VEC(const char *) Paths;

const char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return !slash ? "." : slash == path ? "/" : arena_printf("%.*s", (int)(slash - path), path);
}

void session_seal(const Graph *g, const Exec *e, const SessionOptions *o)
{
	static const char *const machine[] = {"/proc", "/sys/devices/system/cpu", "/sys/fs/cgroup"};
	Paths reads = {0}, writes = {0};
	Nodes all = walk(g->sink);

	if (!e->host)
		die(UNSUPPORTED, "--sandbox: programs for another device than the CPU");
	for (size_t i = 0; i < sizeof machine / sizeof *machine; i++)
		vec_push(&reads, machine[i]);
	for (size_t i = 0; i < all.n; i++) {
		const Val *file = all.at[i]->op == OP_BUFFER ?
			val_get(all.at[i]->arg, "file") : NULL;
		if (file && file->kind == VAL_ARRAY && file->n && file->a[0]->kind == VAL_STR)
			vec_push(&reads, file->a[0]->s);
	}
	if (o->reads)
		vec_push(&reads, o->reads);
	for (size_t i = 0; i < sizeof o->writes / sizeof *o->writes; i++)
		if (o->writes[i])
			vec_push(&writes, folder_of(o->writes[i]));
	if (cache_folder())
		vec_push(&writes, cache_folder());
	confine_run(reads.n, reads.at, writes.n, writes.at);
}
