/* tune: the lists of actions with which a schedule's kernels are fastest on this machine, found by
 * trying.
 *
 *     trace model.t | fuse | tune --db tuned.db -o model.tuned && lower model.tuned | …
 *
 * The passes are lower's, up to the one that chooses actions. That one starts from the heuristic's
 * lists and searches from there (tune/search.c); what it finds goes into the kernels' args, where
 * lower keeps it, and into a database. With --measure it is the other side: it times what another
 * tune sends. */
#include "choose/choose.h"
#include "document/document.h"
#include "io/io.h"
#include "layout/layout.h"
#include "process/process.h"
#include "target/target.h"
#include "tune/parts.h"
#include <signal.h>
#include <stdlib.h>

static struct {
	const char *db, *seconds, *lap, *jobs, *clocks, *import;
	bool measure, export, again;
	VEC(const char *) size;
	double end;             /* of the search, over all documents and segments */
} opt;

static volatile int stopped;

static const Option options[] = {
	{'t', "target", "TARGET", "the target to tune for (default clang)", &lower_opt.target},
	{0, "march", "CPU", "its processor: native (default), x86-64-v3, armv8-a …",
		&lower_opt.processor},
	{0, "seconds", "S", "how long to search, in all (60)", &opt.seconds},
	{0, "db", "FILE", "a database: kernels that are in it are not searched, what is found goes "
		"there", &opt.db},
	{0, "again", NULL, "search kernels that are in the database too", &opt.again},
	{'j', "jobs", "N", "run kernels with N threads (all cores)", &opt.jobs},
	{0, "lap", "S", "how long candidates run side by side (0.15)", &opt.lap},
	{0, "size", "NAME=INT", "a size's value for timing (64, or the nearest it may have)",
		&opt.size, .many = true},
	{0, "clocks", "LIST", "machines that measure: 'IN,OUT …', endpoints of tune --measure",
		&opt.clocks},
	{0, "measure", NULL, "measure what another tune sends (-i IN -o OUT)", &opt.measure},
	{0, "export", NULL, "print the database as text, and end", &opt.export},
	{0, "import", "FILE", "add such a text's rows to the database, and end", &opt.import},
	{0, "machine", "NAME", "the processor's name in the database (this machine's)",
		&lower_opt.machine},
	{0, "explain", NULL, "print on standard error what was found for each kernel",
		&lower_opt.explain},
	{0, "measured", NULL, "for the processor that lower --measure has measured",
		&lower_opt.measured},
	{0, "strict", NULL, "no rewrite that changes the arithmetic", &lower_opt.strict},
	{0},
};

static double number(const char *text, const char *option, double least, double otherwise)
{
	char *end;
	double v = text ? strtod(text, &end) : otherwise;

	if (text && (*end || end == text || !(v >= least && v < 1e7)))
		die(USAGE, "%s takes a number from %g, not '%.60s'", option, least, text);
	return v;
}

/* ---- units */

static UOp *without_list(UOp *call)
{
	UOp *kernel = call->src[0];
	return call_with_kernel(call, node_like(kernel, kernel->nsrc, kernel->src,
		val_set(kernel->arg, "actions", NULL)));
}

static bool is_same(const Unit *a, const Unit *b)
{
	for (int k = 0; k < a->n; k++)
		if (a->n != b->n || a->call[k]->src[0] != b->call[k]->src[0])
			return false;
	return true;
}

/* A unit whose kernels are another's is counted there. */
static void unit_end(Units *units, const Unit *u)
{
	for (size_t i = 0; i < units->n; i++)
		if (is_same(u, &units->at[i])) {
			units->at[i].times++;
			return;
		}
	if (u->n)
		vec_push(units, *u);
}

/* The calls that run each time, those that share slices together; chosen has the same calls, with
 * lists. A kernel that the database has is left out. */
static void units_find(const Graph *g, const Graph *chosen, Units *units)
{
	Unit u = {.times = 1};
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		UOp *call = g->sink->src[i];
		bool takes = call_has_kernel(call) && !call_prepares(call);
		if (!takes || slice_starts(call) || u.n == MAX_SLICE_CALLS) {
			unit_end(units, &u);
			u = (Unit){.times = 1};
		}
		KernelUse use = {call->src[0], call, call_aliases(call)};
		if (!takes || (!opt.again && tuned_has() && tuned_find(&use, NULL)))
			continue;
		u.call[u.n] = without_list(call);
		u.list[u.n++] = val_get(chosen->sink->src[i]->src[0]->arg, "actions");
	}
	unit_end(units, &u);
}

/* ---- what is found */

typedef struct { Map list; const Graph *g; } Found;     /* by kernel without its list */

static void store(const UOp *call, const Val *list, double before, double after)
{
	KernelUse use = {call->src[0], (UOp *)call, call_aliases(call)};
	Buf b = {0};
	if (!tuned_has())
		return;
	actions_text(&b, list);
	tuned_put(&(TunedRow){tuned_kernel(&use), tuned_target(), tuned_device(), buf_str(&b),
		before, after});
	buf_free(&b);
}

static void better(const Unit *u, void *ctx)
{
	Found *found = ctx;
	for (int k = 0; k < u->n; k++) {
		Buf b = {0};
		map_put(&found->list, PKEY(u->call[k]->src[0]), (void *)u->list[k]);
		store(u->call[k], u->list[k], u->start, u->ns);
		actions_text(&b, u->list[k]);
		explain(u->call[k]->src[0], "%.4f ms instead of %.4f, of %zu lists: %s",
			u->ns / 1e6, u->start / 1e6, u->tried, buf_str(&b));
		buf_free(&b);
	}
}

static const Val *sizes_given(void)
{
	const Val *sizes = val_map(0, NULL);
	for (size_t i = 0; i < opt.size.n; i++) {
		const char *equals = strchr(opt.size.at[i], '=');
		char *end;
		long long n = equals ? strtoll(equals + 1, &end, 10) : 0;
		if (!equals || end == equals + 1 || *end)
			die(USAGE, "--size takes NAME=INT, not '%.60s'", opt.size.at[i]);
		sizes = val_set(sizes, arena_printf("%.*s", (int)(equals - opt.size.at[i]),
			opt.size.at[i]), val_int(n));
	}
	return sizes;
}

static SearchOptions search_options(Found *found)
{
	double begin = now_ms() / 1000;
	opt.end = opt.end ? opt.end : begin + number(opt.seconds, "--seconds", 0, 60);
	return (SearchOptions){
		.seconds = opt.end - begin,
		.trial = {.seconds = number(opt.lap, "--lap", 0, 0.15),
			.threads = (int)number(opt.jobs, "-j", 1, 0), .sizes = sizes_given()},
		.better = better,
		.ctx = found,
		.stop = &stopped,
	};
}

/* Where nothing is faster the heuristic's lists are what was found. */
static void tell_rest(const Units *units)
{
	for (size_t i = 0; i < units->n; i++) {
		const Unit *u = &units->at[i];
		if (u->why)
			explain(u->call[0]->src[0], "left as it is: %s", u->why);
		else if (u->tried && u->ns == u->start)
			explain(u->call[0]->src[0], "nothing faster than %.4f ms in %zu lists",
				u->ns / 1e6, u->tried);
		for (int k = 0; k < u->n && u->tried && u->ns == u->start; k++)
			store(u->call[k], u->list[k], u->start, u->ns);
	}
}

/* The calls with the lists that were found. */
static Graph *with_lists(const Graph *chosen, const Graph *g, const Found *found)
{
	VEC(UOp *) calls = {0};
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		UOp *call = chosen->sink->src[i], *kernel = call->src[0];
		const Val *list = call_has_kernel(call) ?
			map_get(&found->list, PKEY(without_list(g->sink->src[i])->src[0])) : NULL;
		vec_push(&calls, !list ? call : call_with_kernel(call, node_like(kernel,
			kernel->nsrc, kernel->src, val_set(kernel->arg, "actions", list))));
	}
	Graph *r = graph_with_calls(chosen, calls.n, calls.at);
	vec_free(&calls);
	return r;
}

static Graph *search(Graph *g)
{
	Found found = {.g = g};
	Units units = {0};
	SearchOptions o = search_options(&found);
	bool explains = lower_opt.explain;
	lower_opt.explain = false;
	lower_opt.tuned = opt.again ? NULL : opt.db;
	Graph *chosen = lower_actions(g);
	lower_opt.explain = explains;
	units_find(g, chosen, &units);
	units_search(g, &units, &o);
	tell_rest(&units);
	g = with_lists(chosen, g, &found);
	map_free(&found.list);
	vec_free(&units);
	return g;
}

/* ---- the other side */

static Graph *measure(Graph *g)
{
	Graph *answer = val_get(g->meta, "trial") ? worker_ask(MEASURE, g) : NULL;
	if (!answer)
		die(MALFORMED, "it is no trial of tune's, or the process that measured has died");
	g->meta = val_set(g->meta, "laps", val_get(answer->meta, "laps"));
	return g;
}

/* ---- the process */

static void stop(int signal) { stopped = 1; }

/* An interrupt ends the search, not the process: what was found is written. */
static void workers(void)
{
	struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART};
	if (!opt.measure)
		sigaction(SIGINT, &action, NULL);
	worker_offer(MEASURE, measure_worker);
	worker_offer(PROPOSE, propose_worker);
	target_remember();
	tuned_device();
	if (opt.db && !opt.measure)
		tuned_open(opt.db);
}

static void confine(bool endpoint)
{
	const char *folder = opt.db ? path_folder(opt.db) : NULL;
	if (opt.clocks)
		clocks_open(opt.clocks);
	if (folder)
		confine_build(endpoint || opt.clocks, 1, &folder);
	else
		confine_stage(endpoint || opt.clocks);
}

static const Pass passes[] = {
	{"target", target_choose, "read the target's description"},
	{"layout", layout_all, "memory layout, as by the stage layout", .optional = true},
	{"dtypes", lower_dtypes, "compute f16 and bf16 as f32"},
	{"decompose", lower_decompose, "write ops that the target lacks with others"},
	{"index", lower_index, "one row-major index for each place"},
	{"collapse", lower_collapse, "loops that are contiguous in memory become one",
		.optional = true},
	{"search", search, "find the actions of each kernel"},
	{0},
};

#define TUNE .name = "tune", .usage = "[FILE]", .options = options, \
	.summary = "find the actions with which kernels are fastest, by trying", \
	.level_in = LV_SCHEDULE, .steps = STEPS_SEGMENTS, .level_out = LV_SCHEDULE, \
	.workers = workers, .confine = confine

static int rows_main(const Stage *tune, int argc, char **argv)
{
	Buf b = {0};
	size_t n;

	stage_begin(tune->name);
	options_parse(tune, argc, argv);
	if (!opt.db)
		die(USAGE, "--export and --import need --db FILE");
	tuned_open(opt.db);
	if (opt.import) {
		const char *text = file_map(opt.import, &n);
		tuned_import(text, n, opt.import);
		return stage_end();
	}
	tuned_export(&b);
	stream_put(NULL, b.s, b.n);
	return stage_end();
}

static bool given(int argc, char **argv, const char *option)
{
	size_t n = strlen(option);
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (!strncmp(argv[i], option, n) && (!argv[i][n] || argv[i][n] == '='))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	static const Stage tune = {TUNE, .passes = passes}, clock = {TUNE, .body = measure};

	if (given(argc, argv, "--export") || given(argc, argv, "--import"))
		return rows_main(&tune, argc, argv);
	int status = stage_main(given(argc, argv, "--measure") ? &clock : &tune, argc, argv);
	clocks_close();
	return status;
}
