/* The frame of every main: parse options, read a document, run the stages it lacks, verify, run
 * passes, verify, write the document.
 *
 *     static const Pass passes[] = {{"fold", fold, "…"}, {"views", views, "…", true}, {0}};
 *     static const Stage stage = {"simplify", …, passes};
 *     int main(int argc, char **argv) { return stage_main(&stage, argc, argv); }
 */
#include "base/progress.h"
#include "io/io.h"
#include "process/process.h"
#include "process/prove_pass.h"
#include "document/document.h"
#include "shape/regions.h"
#include "prove/prove.h"
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static struct {
	const char *output, *stop, *wait;
	bool help, version, prove;
	VEC(const char *) dump, skip, limit;
} opt;

/* what every tool has */
static const Option common_options[] = {
	{'i', "input", "ENDPOINT", "read from a ZeroMQ endpoint, tcp://… or ipc://…, or a file",
		&process.input},
	{0, "keys", "DIR", "keys of this user and of peers, as keygen makes them", &process.keys},
	{0, "peer", "FILE", "the public key of the peer, if there are several", &process.peer},
	{0, "wait", "SECONDS", "give up a peer of an endpoint that says nothing for so long (300)",
		&opt.wait},
	{0, "limit", "WHAT=N,…", "limits: mem=BYTES, time=SECONDS, work=STEPS of a document",
		&opt.limit, .many = true},
	{0, "no-limit", NULL, "no limits, not even those that hold by default", &limits.none},
	{0, "no-walls", NULL, "do not confine the reading of documents (see SECURITY.md)",
		&process.open},
	{0, "allow-custom", NULL, "take a document with code in it (CUSTOM), which run will run",
		&process.custom_allowed},
	{0, "guard", NULL, "give places that cannot be proved a gate, instead of refusing them",
		&process.guard},
	{0, "allow-code", NULL, "take a program that is not marked as your own, and run its code",
		&process.code_allowed},
	{'v', "verbose", NULL, "print each command that is run", &process.verbose},
	{0, "version", NULL, "print the version", &opt.version},
	{'h', "help", NULL, "print this help", &opt.help},
	{0},
};
/* what stages have besides */
static const Option stage_options[] = {
	{'o', "output", "TO", "write to a file or a ZeroMQ endpoint instead of standard output",
		&opt.output},
	{'d', "dump", "PASS", "print the graph after PASS (or all) on standard error", &opt.dump,
		.many = true},
	{0, "stop-after", "PASS", "write the document as it is after PASS", &opt.stop},
	{0, "skip", "PASS", "leave out a pass that can be", &opt.skip, .many = true},
	{0, "prove", NULL, "prove that each pass leaves the meaning as it is", &opt.prove},
	{0},
};

void stage_begin(const char *name)
{
	process.stage = name;
	process.trace = source_bytes;
	/* make sure that descriptors 0 to 2 exist, so that no file or pipe gets their numbers */
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd ? O_WRONLY : O_RDONLY);
	/* a closed reader becomes an error of write, with a message and an exit status */
	signal(SIGPIPE, SIG_IGN);
	/* so does a file that grows too large */
	signal(SIGXFSZ, SIG_IGN);
	timeline_begin();
}

void stage_prints(void) { signal(SIGPIPE, SIG_DFL); }

int stage_end(void)
{
	if (fflush(stdout) || ferror(stdout))
		die_errno("standard output: cannot write");
	stream_out_close();
	return DONE;
}

/* ---- options */

static const Pass *pass_list(const Stage *s)
{
	if (s->passes)
		return s->passes;
	Pass *whole = arena_alloc(2 * sizeof *whole);
	whole[0] = (Pass){.name = s->name, .fn = s->body};
	return whole;
}

/* Is it a place within that pass, as "action:3" or "action"? */
static bool is_part(const Pass *p, const char *name)
{
	size_t n = p->parts ? strlen(p->parts->name) : 0;
	return n && !strncmp(name, p->parts->name, n) && (!name[n] || name[n] == ':');
}

/* The number of such a place: SIZE_MAX, each of them, where none is given. False: it is none. */
static bool part_number(const char *name, size_t *part)
{
	const char *number = strchr(name, ':');
	size_t digits = number ? strspn(number + 1, "0123456789") : 0;

	*part = digits && digits < 6 ? strtoul(number + 1, NULL, 10) : SIZE_MAX;
	return !number || (*part < SIZE_MAX && !number[1 + digits]);
}

static const Pass *pass_named(const Stage *s, const char *name)
{
	Nearest near = {.word = name};

	for (const Pass *p = pass_list(s); p->name; p++)
		if (!strcmp(p->name, name))
			return p;
		else
			nearest_try(&near, p->name);
	die(USAGE, "there is no pass '%.80s'%s (see --help)", name, nearest_hint(&near));
}

/* A pass, or a part of one; each of its parts only where they are printed. */
static void check_place(const Stage *s, const char *name, bool each)
{
	for (const Pass *p = pass_list(s); p->name; p++) {
		if (!is_part(p, name))
			continue;
		size_t part;
		if (!part_number(name, &part) || (part == SIZE_MAX && !each))
			die(USAGE, "'%.80s' is no place in the pass %s: it has %s:1, %s:2 …", name,
				p->name, p->parts->name, p->parts->name);
		return;
	}
	pass_named(s, name);
}

static void check_passes(const Stage *s)
{
	for (size_t i = 0; i < opt.dump.n; i++)
		if (strcmp(opt.dump.at[i], "all"))
			check_place(s, opt.dump.at[i], true);
	if (opt.stop)
		check_place(s, opt.stop, false);
	for (size_t i = 0; i < opt.skip.n; i++)
		if (!pass_named(s, opt.skip.at[i])->optional)
			die(USAGE, "the pass '%s' cannot be skipped", opt.skip.at[i]);
}

static void set_limits(void)
{
	char *end;

	for (size_t i = 0; i < opt.limit.n; i++)
		limits_read(opt.limit.at[i]);
	limits.wait = opt.wait ? strtod(opt.wait, &end) : limits.wait;
	if (opt.wait && (*end || end == opt.wait || !(limits.wait > 0 && limits.wait <= 1e6)))
		die(USAGE, "--wait takes seconds, not '%.80s'", opt.wait);
	limits_apply();
}

int options_parse(const Stage *s, int argc, char **argv)
{
	bool stage = s->passes || s->body;
	const Option *standard[] = {stage ? stage_options : common_options,
		stage ? common_options : NULL, NULL};
	int first = options_read(s, standard, argc, argv);
	if (opt.version) {
		version_print(s->name);
		exit(stage_end());
	}
	if (opt.help)
		options_help(s, standard);
	set_limits();
	process.custom_allowed |= process.code_allowed;
	if (stage)
		check_passes(s);
	return first;
}

static const char *target_of(const Stage *s)
{
	for (const Option *o = s->options; o && (o->letter || o->word); o++)
		if (o->letter == 't')
			return *(const char **)o->to;
	return NULL;
}

/* ---- missing stages */

typedef struct { char **at[8]; size_t n; bool custom, own; } Commands;

static void add_stage(Commands *c, const char *name, const char *target)
{
	const char *path = tool_find(name);
	if (!path)
		die(FAILED, "the stage '%s' is not on the stage path %s", name, stage_path());
	char **argv = arena_alloc(6 * sizeof *argv);
	size_t n = 0;
	argv[n++] = (char *)path;
	if (target) {
		argv[n++] = "-t";
		argv[n++] = (char *)target;
	}
	/* not passed unless needed: a user's own stage may not know this option */
	if (c->custom)
		argv[n++] = "--allow-custom";
	if (process.guard || (c->own && c->n))
		argv[n++] = "--guard";
	c->at[c->n++] = argv;
}

Graph *stage_raise(Graph *g, Level to, const char *target, bool with_fuse)
{
	/* a user's own stage has to write what can be proved */
	Commands c = {
		.custom = process.custom_allowed && custom_in(g),
		.own = !strchr(stage_path(), ':'),
	};
	if (to >= LV_LOOPS && !target && g->level < to)
		die(USAGE, "a target is needed (-t) to go from level %s to %s",
			level_name[g->level], level_name[to]);
	/* a name that is part of a command; whether there is such a target, lower says */
	if (target && !name_plain(target, strlen(target)))
		die(UNSUPPORTED, "no target %.60s: its name has more than letters, digits and _",
			target);
	if (g->level < LV_GRAPH && to >= LV_GRAPH)
		add_stage(&c, "trace", NULL);
	if (g->level < LV_SCHEDULE && to >= LV_SCHEDULE) {
		add_stage(&c, "schedule", NULL);
		if (with_fuse)
			add_stage(&c, "fuse", NULL);
	}
	if (g->level < LV_LOOPS && to >= LV_LOOPS)
		add_stage(&c, "lower", target);
	if (g->level < LV_PROGRAM && to >= LV_PROGRAM)
		add_stage(&c, "render", target);
	if (!c.n)
		return g;
	process.own_made = c.own;
	Buf in = {0}, out = {0};
	int failed;
	wire_write(&in, g);
	int status = spawn_pipeline((char *const *const *)c.at, in.s, in.n, &out, &failed);
	if (status)
		pipeline_failed((char *const *const *)c.at, status, failed, in.s, in.n);
	buf_free(&in);
	/* the bytes stay in the arena as long as bins point to them */
	void *bytes = arena_alloc(out.n);
	memcpy(bytes, buf_str(&out), out.n);
	size_t n = out.n;
	buf_free(&out);
	return wire_read(bytes, n, NULL, 0);
}

/* ---- one document */

static bool dumped(const char *pass)
{
	for (size_t i = 0; i < opt.dump.n; i++)
		if (!strcmp(opt.dump.at[i], pass) || !strcmp(opt.dump.at[i], "all"))
			return true;
	return false;
}

static bool skipped(const char *pass)
{
	for (size_t i = 0; i < opt.skip.n; i++)
		if (!strcmp(opt.skip.at[i], pass))
			return true;
	return false;
}

static void dump(const Stage *s, const char *place, const Graph *g)
{
	Buf b = {0};
	buf_printf(&b, "# %s: after %s\n", s->name, place);
	text_print(&b, g);
	progress_clear();
	fwrite(b.s, 1, b.n, stderr);
	buf_free(&b);
}

static void refuse_steps(const Graph *g)
{
	Nodes all = steps_in(g) ? walk(g->sink) : (Nodes){0};
	for (size_t i = 0; i < all.n; i++) {
		const UOp *u = all.at[i];
		if (op_info[u->op].cls == CLASS_FLOW && u->op != OP_SIZE)
			die(UNSUPPORTED, "node %u %s: loops, branches and sizes that data gives "
				"are not supported here; run --interpret evaluates them", u->id,
				op_name(u->op));
	}
}

/* Raises g to a level that the stage takes and verifies it. */
static Graph *admit(const Stage *s, Graph *g)
{
	int most = s->level_most > s->level_in ? s->level_most : s->level_in;
	if ((int)g->level > most)
		die(UNSUPPORTED, "a document of level %s is too late for it: it takes %s",
			level_name[g->level], level_name[s->level_in]);
	process.own_made = false;
	verify(g);
	bool own = code_check(g);
	if (g->level <= LV_GRAPH)
		inputs_remember(g);
	if ((int)g->level < s->level_in) {
		g = stage_raise(g, s->level_in, target_of(s), s->level_out > LV_SCHEDULE);
		verify(g);
	}
	if (s->steps == STEPS_REFUSED)
		refuse_steps(g);
	/* what has a mark of this user's was proved before it was marked */
	bool order = !process.guard && !process.own_made;
	if (g->level < LV_PROGRAM ? !mark_proved(g, order) : !own)
		g = prove_admit(g);
	checks_remember(g);
	/* passes make a new graph, so the list of nodes that were read is dropped; functions are
	 * expanded, dead ones too */
	if (g->level > LV_TENSOR)
		g->all = (Nodes){0};
	return g;
}

/* A program that this tool made of a document without code, or of a marked one, is this user's. */
static void put(Graph *g)
{
	stream_write(opt.output, g->level == LV_PROGRAM ? mark_put(g) : g);
}

/* A pass on its way over segments, which --prove compares one by one; of its parts the first
 * `taken`. */
typedef struct { const Stage *stage; const Pass *pass; size_t taken; bool proves, listed; } Running;

static Graph *pass_taken(const Pass *p, Graph *g, size_t taken)
{
	if (!p->parts)
		return p->fn(g);
	p->parts->taken = taken;
	g = p->fn(g);
	p->parts->taken = SIZE_MAX;
	return g;
}

static Graph *pass_on(Graph *segment, void *running)
{
	const Running *r = running;
	const Pass *p = r->pass;
	size_t n = r->proves && p->parts ? p->parts->most(segment) : 0;

	if (r->proves && r->listed)
		prove_begin(segment);
	for (size_t k = 1; k <= n && k <= r->taken; k++)
		prove_pass(arena_printf("%s %s:%zu", r->stage->name, p->parts->name, k),
			pass_taken(p, segment, k));
	segment = pass_taken(p, segment, r->taken);
	if (r->proves && (!n || !r->taken || r->taken == SIZE_MAX))
		prove_pass(arena_printf("%s %s", r->stage->name, p->name), segment);
	return segment;
}

static Graph *pass_run(const Stage *s, const Pass *p, Graph *g, size_t taken, bool proves)
{
	Running r = {s, p, taken, proves, s->steps == STEPS_SEGMENTS && steps_listed(g)};
	return r.listed ? segments_map(g, pass_on, &r) : pass_on(g, &r);
}

static void dump_parts(const Stage *s, const Pass *p, Graph *g)
{
	for (size_t i = 0; i < opt.dump.n; i++) {
		if (!is_part(p, opt.dump.at[i]))
			continue;
		size_t part;
		part_number(opt.dump.at[i], &part);
		bool each = part == SIZE_MAX;
		size_t most = each ? p->parts->most(g) : part;
		for (size_t k = each ? 1 : part; k <= most; k++)
			dump(s, arena_printf("%s:%zu", p->parts->name, k),
				pass_run(s, p, g, k, false));
	}
}

static void handle(const Stage *s, Graph *g)
{
	g = admit(s, g);
	if (opt.prove)
		prove_begin(g);
	const Pass *passes = pass_list(s);
	size_t n = 0;
	while (passes[n].name)
		n++;
	Progress progress = progress_start("", n, true);
	for (const Pass *p = passes; p->name; p++) {
		size_t taken = SIZE_MAX;
		bool within = opt.stop && is_part(p, opt.stop) && part_number(opt.stop, &taken);
		progress.what = p->name;
		progress_step(&progress, p - passes);
		if (!skipped(p->name)) {
			double begin = now_ms();
			dump_parts(s, p, g);
			g = pass_run(s, p, g, taken, opt.prove);
			timeline_span(p->name, begin, now_ms() - begin);
		}
		if (dumped(p->name))
			dump(s, p->name, g);
		if (within || (opt.stop && !strcmp(opt.stop, p->name))) {
			put(g);
			return;
		}
	}
	if (s->level_out >= 0)
		g->level = s->level_out;
	progress_end(&progress);
	verify(g);
	put(g);
}

/* What the tool reads itself, in place of documents; false when there are documents. */
static bool handle_source(const Stage *s, Stream *in)
{
	InputKind kind;
	size_t n;
	const void *p = s->source ? stream_source(in, &kind, &n) : NULL;

	if (p)
		handle(s, s->source(p, n, stream_name(in)));
	return p;
}

static const char *input_of(const Stage *s, int first, int argc, char **argv)
{
	const char *file = first < argc ? argv[first] : process.input;
	bool standard = !file || !strcmp(file, "-");

	if (argc - first > 1 || (first < argc && process.input))
		die(USAGE, "one input is enough: '%.80s' is too much", argv[argc - 1]);
	if (standard && isatty(0))
		die(USAGE, "standard input is a terminal: give a FILE, or pipe a document in");
	if ((!opt.output || !strcmp(opt.output, "-")) && isatty(1))
		die(USAGE, "standard output is a terminal: pipe it into a stage, or into show");
	process.from_socket = endpoint_is(file);
	return standard ? NULL : file;
}

/* A process fewer, and its reading, where another program takes the same arguments. */
static void become(const char *path, char **argv)
{
	if (!path)
		return;
	argv[0] = (char *)path;
	if (process.verbose)
		show_command(argv);
	execv(path, argv);
	die_errno("cannot run '%s'", path);
}

int stage_main(const Stage *s, int argc, char **argv)
{
	stage_begin(s->name);
	int first = options_parse(s, argc, argv);
	become(s->instead ? s->instead() : NULL, argv);
	const char *file = input_of(s, first, argc, argv);
	Stream *in = s->read ? NULL : source_open(file);
	/* a file before the broker, which gives it its name; an endpoint after: a copy of its
	 * sockets would keep them open */
	if (!endpoint_is(opt.output))
		stream_out_open(opt.output);
	if (s->workers)
		s->workers();
	broker_start();
	stream_out_open(opt.output);
	Graph *g = s->read && file && !endpoint_is(file) ? s->read(file) : NULL;
	if (g) {
		handle(s, g);
		return stage_end();
	}
	in = in ? in : stream_open(file);
	/* made at first use, which is no longer possible between walls */
	if (s->level_out == LV_PROGRAM)
		secret_missing();
	(s->confine ? s->confine : confine_stage)(endpoint_is(opt.output) || endpoint_is(file));
	if (handle_source(s, in))
		return stage_end();
	for (; (g = stream_next(in, 0)); arena_reset())
		handle(s, g);
	if (!stream_count(in) && file && !endpoint_is(file))
		die(MALFORMED, "%s: ends early at byte 0", file);
	if (!stream_count(in))
		die_silent(MALFORMED);
	return stage_end();
}
