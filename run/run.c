/* run: compiles a document, executes it and writes the outputs. With --interpret it needs no
 * compiler: the document is evaluated at its own level.
 *
 *     trace g.mp | schedule | fuse | render -t clang | run x=x.npy -o out/
 */
#include "io/io.h"
#include "process/process.h"
#include "prove/prove.h"
#include "session/session.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	const char *target, *to, *n, *j, *bench, *seconds, *profile, *laps, *only, *keep,
		*dump, *device, *function, *cc, *shuffle, *save, *load, *save_every, *until, *every;
	bool interpret, devices, numbered, cast, fast, range, nan, sandbox;
	VEC(const char *) feed;
	Bindings operands;
} opt;

static const Option options[] = {
	{'o', "output", "TO", "a folder for NAME.npy of each output, FILE.npy for the only one, "
		"FILE.npz or a ZeroMQ endpoint for all; -: standard output, as .npy", &opt.to},
	{0, "numbered", NULL, "name the outputs output_0, output_1, …", &opt.numbered},
	{'t', "target", "TARGET",
		"what to compile for when the document is not compiled yet (that of --device, else "
		"clang)", &opt.target},
	{0, "interpret", NULL, "evaluate the document at its own level, without a compiler",
		&opt.interpret},
	{0, "interpret-only", "LIST",
		"interpret these calls, K0,K7 or kernel names, and compile the rest", &opt.only},
	{0, "cast", NULL, "take an array of another dtype, as NumPy's f64, for an input's own",
		&opt.cast},
	{'n', "times", "N", "call it N times, keeping states from call to call (1; with --feed: "
		"until all is fed)", &opt.n},
	{0, "feed", "NAME=FILE,batch=N", "feed an input from a file, N rows a call", &opt.feed,
		.many = true},
	{0, "shuffle", "KEY", "feed the rows in a random order, a new one each epoch",
		&opt.shuffle},
	{0, "load", "FILE", "start from the states of a .safetensors and continue after its calls",
		&opt.load},
	{0, "save", "FILE", "write the states to a .safetensors after the last call", &opt.save},
	{0, "save-every", "K", "also write them after every K calls", &opt.save_every},
	{0, "until", "N", "call it until the states have seen N calls, with those before --load",
		&opt.until},
	{0, "every", "K", "print the floating-point scalar outputs and steps/s every K calls",
		&opt.every},
	{'j', "jobs", "N", "use N threads (all cores)", &opt.j},
	{0, "bench", "FILE", "repeat it and print minimum and median; to FILE as JSON", &opt.bench,
		.optional_arg = true},
	{0, "seconds", "S", "how long --bench repeats (1)", &opt.seconds},
	{0, "profile", "FILE",
		"print time by kernel and layer; to FILE with the document, or FILE.json",
		&opt.profile, .optional_arg = true},
	{0, "laps", "FILE", "write each kernel's name and the nanoseconds of its runs, a line each",
		&opt.laps},
	{0, "keep", "DIR", "save every buffer that a call writes as DIR/CALL.KERNEL.BUFFER.npy",
		&opt.keep},
	{0, "sandbox", NULL, "confine the program: no network, no processes, no files but its own",
		&opt.sandbox},
	{0, "dump", "LIST", "print what calls, K7 or a kernel's or buffer's name, read and write",
		&opt.dump},
	{0, "check-nan", NULL, "stop at the first op that makes a NaN or infinity of finite values",
		&opt.nan},
	{0, "check-range", NULL, "print the range of values of every buffer", &opt.range},
	{0, "devices", NULL, "list the devices and exit", &opt.devices},
	{0, "device", "NAME", "run on this device", &opt.device},
	{0, "cc", "CC", "the C compiler (cc, gcc or clang)", &opt.cc},
	{0, "function", "NAME", "of a library that pack has made, which of its functions",
		&opt.function},
	{0, "fast-compile", NULL, "compile C without optimising it", &opt.fast},
	{0},
};
static const Stage stage = {
	.name = "run",
	.summary = "Runs a document of any level and writes its outputs.",
	.usage = "[FILE] [NAME=FILE.npy | NAME=rand | NAME=zeros | NAME=NUMBER,… | @K=… | "
		 "SIZE=INT]…",
	.options = options,
};

static int whole_number(const char *text, const char *option, int otherwise)
{
	char *end;
	long v;

	if (!text)
		return otherwise;
	errno = 0;
	v = strtol(text, &end, 10);
	if (errno || *end || end == text || v < 1 || v > 1000000000)
		die(USAGE, "%s takes a number from 1, not '%s'", option, text);
	return (int)v;
}

static double seconds(void)
{
	char *end;
	double s = opt.seconds ? strtod(opt.seconds, &end) : 1;

	if (opt.seconds && (*end || end == opt.seconds || !(s >= 0 && s <= 1e6)))
		die(USAGE, "--seconds takes a number, not '%s'", opt.seconds);
	return s;
}

/* What to compile for: what was said, or what the device runs. */
static const char *wanted_target(void)
{
	static const char *const of[] = {"opencl", "cuda"};
	size_t n = opt.device ? strcspn(opt.device, ":") : 0;

	for (size_t i = 0; !opt.target && i < sizeof of / sizeof *of; i++)
		if (strlen(of[i]) == n && !memcmp(opt.device, of[i], n))
			return of[i];
	return opt.target ? opt.target : "clang";
}

/* The document, raised to the level at which it runs. */
static Graph *raised(Graph *g)
{
	inputs_remember(g);
	if (opt.interpret)
		return g->level < LV_GRAPH ? stage_raise(g, LV_GRAPH, NULL, false) : g;
	return g->level < LV_PROGRAM ? program_raise(g, wanted_target()) : g;
}

typedef struct { double begin, ready, called; } Times;

static bool is_timeline(const char *profile) { return name_ends(profile, ".json"); }

/* own: the program is this user's, and stays so with its timings. */
static void write_profile(const Session *s, bool own, Times t)
{
	Graph *g = session_profile(s);
	Buf b = {0};

	session_trace(s);
	timeline_span("stages, build, constants", t.begin, t.ready - t.begin);
	timeline_span("calls", t.ready, t.called - t.ready);
	if (!*opt.profile || is_timeline(opt.profile))
		return;
	wire_write(&b, own && g->level == LV_PROGRAM ? mark_put(g) : g);
	file_write(opt.profile, b.s, b.n);
	buf_free(&b);
}

static CallOptions calls_wanted(void)
{
	if (opt.until && opt.n)
		die(USAGE, "-n and --until cannot be given together");
	if (opt.save_every && !opt.save)
		die(USAGE, "--save-every needs --save FILE");
	return (CallOptions){
		.times = whole_number(opt.n, "-n", opt.bench ? 1 : 0),
		.until = whole_number(opt.until, "--until", 0),
		.every = whole_number(opt.every, "--every", 0),
		.save_every = whole_number(opt.save_every, "--save-every", 0),
		.save = opt.save,
		.load = opt.load,
		.progress = !opt.bench,
	};
}

/* collected: what is gathered over the calls, or NULL. */
static void write_outputs(Session *s, const Graph *g, Collected *collected)
{
	const char *const *names;
	const Array *at;
	size_t n = collected ? collected_outputs(collected, s, &names, &at) :
			       session_outputs(s, &names, &at);

	if (opt.save)
		n = outputs_asked(g, n, &names, &at);
	outputs_write(n, names, at, opt.to, opt.numbered, val_get(g->meta, "output_groups"));
}

static const char *without_slash(const char *folder)
{
	size_t n = folder ? strlen(folder) : 0;

	while (n > 1 && folder[n - 1] == '/')
		n--;
	return folder ? xstrndup(folder, n) : NULL;
}

/* A path in the folder that is written to: that of -o if it is there, else where it will be. */
static const char *place_in(const char *folder)
{
	struct stat st;

	if (endpoint_is(folder) || (folder && !strcmp(folder, "-")))
		return NULL;
	return folder && !stat(folder, &st) && S_ISDIR(st.st_mode) ?
		arena_printf("%s/.", folder) : folder;
}

static void handle_read(Graph *g, const Stream *in);

/* The worker for another device, whose driver needs what walls take away: a verified document is
 * read again and run, by a process of its own, whose status is the result. */
static int run_outside(const void *in, size_t n, Buf *out)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		leftovers_forget();
		handle_read(wire_read(in, n, NULL, 0), NULL);
		exit(stage_end());
	}
	leftover_child(pid, true);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die_errno("cannot wait for a process");
	return WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
}

static void hand_over(const Graph *g)
{
	Buf in = {0}, out = {0};

	if (endpoint_is(opt.to))
		die(UNSUPPORTED, "-o %.200s: a program for another device is run by a process that "
			"has no sockets: --no-walls", opt.to);
	Graph whole = inputs_written(g);
	wire_write(&in, &whole);
	int status = worker_end(worker_start(DEVICE_WORKER, in.s, in.n), &out);
	if (status)
		die_silent(status < 0 ? FAILED : status);
	buf_free(&in);
}

/* Whether g, or what it will be raised to, is for another device. */
static bool is_elsewhere(const Graph *g)
{
	return programs_elsewhere(g) ||
		(!opt.interpret && g->level < LV_PROGRAM && target_elsewhere(wanted_target()));
}

static void call_session(void *s) { session_call(s); }

static void handle(Graph *g, bool own)
{
	if (opt.only && opt.interpret && g->level <= LV_GRAPH)
		die(USAGE, "--interpret-only names kernels, and a graph that --interpret runs has "
			"none: leave --interpret out");
	Feeds *feeds = feeds_parse(opt.feed.n, opt.feed.at, opt.shuffle);
	CallOptions calls = calls_wanted();
	SessionOptions o = {
		.device = opt.device,
		.keep = opt.keep,
		.dump = opt.dump,
		.range = opt.range,
		.check_nan = opt.nan,
		.interpret_only = opt.only,
		.interpret = opt.interpret,
		.profile = opt.profile || opt.laps,
		.sandbox = opt.sandbox,
		.reads = opt.load,
		.writes = {place_in(opt.to), opt.save, opt.profile, opt.bench, place_in(opt.keep),
			opt.laps},
		.threads = whole_number(opt.j, "-j", 0),
		.often = opt.bench || calls.times > 1 || calls.until > 1 || (feeds && !calls.times),
		.feeds = feeds,
		.build = {.jobs = whole_number(opt.j, "-j", 0), .progress = true, .load = true},
	};
	double begin = now_ms(), ready, called, first = 0;
	Bindings operands = {0};
	Inputs in;
	Session *s;
	Graph *p;
	int64_t made;

	for (size_t i = 0; i < opt.operands.n; i++)
		vec_push(&operands, opt.operands.at[i]);
	feeds_bind(feeds, &operands);
	if (opt.keep && mkdir(opt.keep, 0777) && errno != EEXIST)
		die_errno("%s: cannot make the folder", opt.keep);
	if (g->level == LV_TENSOR)
		g = stage_raise(g, LV_GRAPH, NULL, false);
	devices_check(g);
	checks_remember(g);
	in = inputs_bind(g, &operands, feeds, opt.cast);
	limits_work(count_steps(g, &in.env));
	prove_sizes(g, &in.env);
	o.origin = opt.nan && !opt.interpret && g->level < LV_LOOPS ? g : NULL;
	p = raised(g);
	/* a target of the user's own; what is raised comes out of the cache then */
	if (process.confined && programs_elsewhere(p)) {
		hand_over(g);
		return;
	}
	s = session_open(p, &in, &o);
	ready = now_ms();
	calls.collected = feeds && !opt.save && !opt.bench ? collected_new(feeds) : NULL;
	made = calls_run(s, feeds, &calls, &first);
	called = now_ms();
	if (opt.bench)
		bench(call_session, s, seconds(), ready - begin, first,
			*opt.bench ? opt.bench : NULL);
	if (opt.profile)
		write_profile(s, own, (Times){begin, ready, called});
	if (opt.laps)
		session_laps(s, opt.laps);
	if (made && (opt.to || !opt.bench))
		write_outputs(s, g, calls.collected);
	else if (!made)
		warn("%s: these states have seen %lld calls or more: nothing is done", opt.load,
			(long long)calls.until);
	if (calls.collected)
		collected_free(calls.collected);
	feeds_stop(feeds);
	session_close(s);
	vec_free(&operands);
}

/* Splits the operands. FILE is the only one without "="; returns it, or NULL. */
static const char *operands_read(int argc, char **argv, int first, Bindings *operands)
{
	const char *file = NULL;
	Binding b;

	for (int i = first; i < argc; i++) {
		if (binding_parse(argv[i], &b))
			vec_push(operands, b);
		else if (file)
			die(USAGE, "one document is enough: '%.80s' is too much (an input is "
				"given as NAME=FILE.npy)", argv[i]);
		else
			file = argv[i];
	}
	if (file && process.input)
		die(USAGE, "one document is enough: '%.80s' is too much", file);
	file = file ? file : process.input;
	return file && strcmp(file, "-") ? file : NULL;
}

/* Standard input is the document or an array. */
static void check_standard(const char *file)
{
	for (size_t i = 0; !file && i < opt.operands.n; i++)
		if (!strcmp(opt.operands.at[i].value, "-"))
			die(USAGE, "'%.80s=-': standard input is the document already: give that "
				"as a FILE", opt.operands.at[i].name);
}

/* An array may come over an endpoint. */
static bool takes_endpoint(void)
{
	for (size_t i = 0; i < opt.operands.n; i++)
		if (endpoint_is(opt.operands.at[i].value))
			return true;
	return false;
}

static bool is_whole(void)
{
	return opt.interpret || opt.only || opt.keep || opt.dump || opt.nan || opt.profile ||
		opt.laps;
}

static void handle_read(Graph *g, const Stream *in)
{
	verify(g);
	bool own = !opt.interpret && code_check(g);
	if (process.confined && is_elsewhere(g)) {
		hand_over(g);
		return;
	}
	/* a program of this user's own has been proved before it was marked */
	if (g->level < LV_PROGRAM || !own)
		g = prove_admit(g);
	g = is_whole() ? g : lean(g);
	if (in)
		stream_rest(in);
	handle(g, own);
}

/* Where files are written, and the cache. With leave for code of others that code may do what the
 * user may, and there are no walls: --sandbox puts some up. */
static void confine(bool endpoint)
{
	const char *to[] = {place_in(opt.to), opt.save, opt.profile, opt.bench, place_in(opt.keep),
		opt.laps};
	const char *writes[sizeof to / sizeof *to + 1];
	size_t n = 0;

	if (process.custom_allowed)
		return;
	for (size_t i = 0; i < sizeof to / sizeof *to; i++)
		if (to[i] && *to[i])
			writes[n++] = folder_of(to[i]);
	if (cache_folder())
		writes[n++] = cache_folder();
	confine_build(endpoint, n, writes);
}

/* ---- a library of pack's */

static void call_packed(void *p) { packed_call(p); }

static void packed_run(const char *file)
{
	const char *const *names;
	const Array *at;
	double begin = now_ms();

	if (!process.code_allowed)
		die(UNSUPPORTED, "%s: a library is code, which is run: if you trust where it comes "
			"from, give --allow-code", file);
	if (is_whole() || opt.feed.n || opt.until || opt.every || opt.save_every || opt.range ||
		opt.sandbox)
		die(USAGE, "a library takes -o, -n, -j, --numbered, --bench, --seconds, --save, "
			"--load, --device and --function alone");
	Packed *p = packed_open(file, opt.function, opt.device, &opt.operands,
		opt.j ? whole_number(opt.j, "-j", 0) : cores());
	size_t states = packed_states(p, &names, &at);
	int64_t calls = opt.load ? states_read(states, names, at, opt.load) : 0;
	double ready = now_ms();
	packed_call(p);
	double first = now_ms() - ready;
	for (int n = whole_number(opt.n, "-n", 1), k = 1; k < n; k++)
		packed_call(p);
	if (opt.save)
		states_write(states, names, at, opt.save,
			calls + whole_number(opt.n, "-n", 1));
	if (opt.bench)
		bench(call_packed, p, seconds(), ready - begin, first,
			*opt.bench ? opt.bench : NULL);
	if (opt.to || !opt.bench) {
		size_t n = packed_outputs(p, &names, &at);
		outputs_write(n, names, at, opt.to, opt.numbered, NULL);
	}
	packed_close(p);
}

int main(int argc, char **argv)
{
	const char *file;
	Stream *in;
	Graph *g;

	stage_begin("run");
	file = operands_read(argc, argv, options_parse(&stage, argc, argv), &opt.operands);
	if (opt.devices) {
		exec_list(stdout);
		return stage_end();
	}
	check_standard(file);
	outputs_check_place(opt.to);
	opt.to = without_slash(opt.to);
	if (!file && isatty(STDIN_FILENO))
		die(USAGE,
			"standard input is a terminal: give a FILE, or pipe a document in (see "
			"--help)");
	if (packed_is(file)) {
		packed_run(file);
		return stage_end();
	}
	if (opt.function)
		die(USAGE, "--function is for a library that pack has made");
	if (opt.profile && is_timeline(opt.profile))
		timeline_to(opt.profile);
	build_offer(opt.cc, opt.fast, opt.interpret ? NULL : wanted_target());
	worker_offer(DEVICE_WORKER, run_outside);
	process.from_socket = endpoint_is(file);
	in = source_open(file);
	/* before an endpoint is opened: a copy of its sockets would keep them open */
	if (!process.custom_allowed)
		broker_start();
	if (endpoint_is(opt.to))
		stream_out_open(opt.to);
	in = in ? in : stream_open(file);
	confine(endpoint_is(file) || endpoint_is(opt.to) || takes_endpoint());
	for (; (g = stream_next(in, 0)); arena_reset())
		handle_read(g, in);
	if (!stream_count(in) && file && !endpoint_is(file))
		die(MALFORMED, "%s: ends early at byte 0", file);
	if (!stream_count(in))
		die_silent(MALFORMED);
	return stage_end();
}
