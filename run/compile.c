/* compile: compiles each PROGRAM's source to an object through the cache and writes the document
 * with the objects' paths. */
#include "io/io.h"
#include "process/process.h"
#include "build/build.h"
#include <errno.h>
#include <stdlib.h>

static struct {
	const char *target, *j, *cc;
	bool fast;
} opt = {.target = "clang"};

static const Option options[] = {
	{'t', "target", "TARGET",
		"what to compile for when the document is not rendered yet (clang)", &opt.target},
	{'j', "jobs", "N", "compile N units at a time (all cores)", &opt.j},
	{0, "cc", "CC", "the C compiler (cc, gcc or clang)", &opt.cc},
	{0, "fast-compile", NULL, "compile C without optimising it", &opt.fast},
	{0},
};

static Graph *objects_here(Graph *g)
{
	BuildOptions o = {.progress = true};
	Programs p = programs_of(g);
	Program **all = arena_alloc((p.n + 1) * sizeof *all);
	char *end;
	long jobs = opt.j ? strtol(opt.j, &end, 10) : 0;

	if (opt.j && (*end || jobs < 1 || jobs > 1000000000))
		die(USAGE, "-j takes a number from 1, not '%s'", opt.j);
	o.jobs = (int)jobs;
	for (size_t i = 0; i < p.n; i++)
		all[i] = &p.at[i];
	build_programs(p.n, all, &o);
	return programs_put(g, &p);
}

/* The worker for another device: a verified document, to the same with objects. */
static int compile_outside(const void *in, size_t n, Buf *out)
{
	Graph *g = wire_read(in, n, NULL, 0);

	verify(g);
	wire_write(out, objects_here(g));
	return DONE;
}

static Graph *objects(Graph *g)
{
	Buf in = {0}, out = {0};

	if (!process.confined || !programs_elsewhere(g))
		return objects_here(g);
	wire_write(&in, g);
	if (worker_end(worker_start(DEVICE_WORKER, in.s, in.n), &out) < 0)
		die_silent(FAILED);
	char *bytes = arena_alloc(out.n);
	memcpy(bytes, buf_str(&out), out.n);
	return wire_read(bytes, out.n, NULL, 0);
}

static void workers(void)
{
	build_offer(opt.cc, opt.fast, NULL);
	worker_offer(DEVICE_WORKER, compile_outside);
}

/* It writes to the cache alone. */
static void confine(bool endpoint)
{
	const char *folder = cache_folder();

	confine_build(endpoint, folder != NULL, &folder);
}

static const Pass passes[] = {
	{ "objects", objects, "source to object, through the cache" },
	{ 0 }
};

int main(int argc, char **argv)
{
	static const Stage stage = {
		.name = "compile",
		.summary = "Compiles the sources of a program, through a cache.",
		.usage = "[FILE]",
		.options = options,
		.level_in = LV_PROGRAM,
		.steps = STEPS_WHOLE,
		.level_out = LV_PROGRAM,
		.passes = passes,
		.workers = workers,
		.confine = confine,
	};
	return stage_main(&stage, argc, argv);
}
