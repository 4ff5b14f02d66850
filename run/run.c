/* run: compiles, executes, writes the outputs.  --interpret: the same without a compiler, at the
 * level given.
 *
 *     trace g.mp | schedule | fuse | render -t clang | run x=x.npy -o out/ */
#include "run.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *opt_target = "clang", *opt_to, *opt_n, *opt_j, *opt_bench, *opt_seconds,
	*opt_profile, *opt_only, *opt_keep, *opt_device, *opt_cc;
static bool opt_interpret, opt_devices, opt_numbered, opt_fast;

static const Option options[] = {
	{'o', "output", "TO", "a folder for NAME.npy of each output, or a FILE.npz for all", &opt_to},
	{0, "numbered", NULL, "name the outputs output_0, output_1, …", &opt_numbered},
	{'t', "target", "TARGET", "what to compile for when the document is not compiled yet (clang)",
		&opt_target},
	{0, "interpret", NULL, "evaluate the document at its own level, without a compiler",
		&opt_interpret},
	{0, "interpret-only", "LIST",
		"interpret these calls, K0,K7 or kernel names, and compile the rest", &opt_only},
	{'n', "times", "N", "call it N times; states go from call to call", &opt_n},
	{'j', "jobs", "N", "use N threads (all cores)", &opt_j},
	{0, "bench", "FILE", "repeat it and print minimum and median; to FILE as JSON", &opt_bench,
		.optional_arg = true},
	{0, "seconds", "S", "how long --bench repeats (1)", &opt_seconds},
	{0, "profile", "FILE", "print each call's time; to FILE the document with meta.timings",
		&opt_profile, .optional_arg = true},
	{0, "keep", "DIR", "write what each call of a schedule writes to DIR/CALL.KERNEL.BUFFER.npy",
		&opt_keep},
	{0, "devices", NULL, "list the devices and exit", &opt_devices},
	{0, "device", "NAME", "run on this one of them", &opt_device},
	{0, "cc", "CC", "the C compiler (cc, gcc or clang)", &opt_cc},
	{0, "fast-compile", NULL, "compile C without optimising it", &opt_fast},
	{0},
};
static const Stage stage = {
	.name = "run",
	.summary = "Runs a document of any level and writes its outputs.",
	.usage = "[FILE] [NAME=FILE.npy | NAME=rand | NAME=zeros | NAME=NUMBER,… | @K=… | SIZE=INT]…",
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
	double s = opt_seconds ? strtod(opt_seconds, &end) : 1;

	if (opt_seconds && (*end || end == opt_seconds || !(s >= 0 && s <= 1e6)))
		die(USAGE, "--seconds takes a number, not '%s'", opt_seconds);
	return s;
}

/* The document at the level where it is run. */
static Graph *raise(Graph *g)
{
	inputs_remember(g);
	if (opt_interpret)
		return g->level < LV_GRAPH ? stage_raise(g, LV_GRAPH, NULL, false) : g;
	return g->level < LV_PROGRAM ? stage_raise(g, LV_PROGRAM, opt_target, true) : g;
}

static void write_profile(const Session *s)
{
	Graph *g = session_profile(s);
	Buf b = { 0 };

	if (!*opt_profile)
		return;
	wire_write(&b, g);
	file_write(opt_profile, b.s, b.n);
	buf_free(&b);
}

static void handle(Graph *g, Bindings *operands)
{
	SessionOptions o = {
		.device = opt_device,
		.keep = opt_keep,
		.interpret_only = opt_only,
		.interpret = opt_interpret,
		.profile = opt_profile != NULL,
		.threads = whole_number(opt_j, "-j", 0),
		.often = opt_bench || whole_number(opt_n, "-n", 1) > 1,
		.build = {opt_cc, whole_number(opt_j, "-j", 0), true, opt_fast},
	};
	int n = whole_number(opt_n, "-n", 1);
	double begin = now_ms(), ready, first;
	const char *const *names;
	const Array *at;
	Inputs in;
	Session *s;
	size_t count;

	verify(g);
	if (opt_keep && mkdir(opt_keep, 0777) && errno != EEXIST)
		die_errno("%s: cannot make the folder", opt_keep);
	if (g->level == LV_TENSOR)
		g = stage_raise(g, LV_GRAPH, NULL, false);
	devices_check(g);
	checks_remember(g);
	counts_declare(g);
	in = inputs_bind(g, operands);
	s = session_open(raise(g), &in, &o);
	ready = now_ms();
	session_call(s);
	first = now_ms() - ready;
	for (int i = 1; i < n; i++)
		session_call(s);
	if (opt_bench)
		bench(s, seconds(), ready - begin, first, *opt_bench ? opt_bench : NULL);
	if (opt_profile)
		write_profile(s);
	count = session_outputs(s, &names, &at);
	count = outputs_trim(g, &in.env, count, names, &at);
	if (opt_to || !opt_bench)
		outputs_write(count, names, at, opt_to, opt_numbered, val_get(g->meta, "output_groups"));
	session_close(s);
}

/* FILE is the one operand without "="; returns it, or NULL. */
static const char *operands_read(int argc, char **argv, int first, Bindings *operands)
{
	const char *file = NULL;
	Binding b;

	for (int i = first; i < argc; i++) {
		if (binding_parse(argv[i], &b))
			vec_push(operands, b);
		else if (file)
			die(USAGE, "one document is enough: '%.80s' is too much", argv[i]);
		else
			file = argv[i];
	}
	if (file && opt_input)
		die(USAGE, "one document is enough: '%.80s' is too much", file);
	return file ? file : opt_input;
}

int main(int argc, char **argv)
{
	Bindings operands = { 0 };
	bool whole;             /* kernels are looked into, or written again */
	const char *file;
	Stream *in;
	Graph *g;

	stage_begin("run");
	file = operands_read(argc, argv, options_parse(&stage, argc, argv), &operands);
	if (opt_devices) {
		exec_list(stdout);
		return stage_end();
	}
	if ((!file || !strcmp(file, "-")) && isatty(STDIN_FILENO))
		die(USAGE, "standard input is a terminal: give a FILE, or pipe a document in (see --help)");
	whole = opt_interpret || opt_only || opt_keep || opt_profile;
	in = stream_open(file);
	for (; (g = stream_next(in, 0)); arena_reset()) {
		g = whole ? g : lean(g);
		stream_rest(in);
		handle(g, &operands);
	}
	if (!stream_count(in) && file && strcmp(file, "-"))
		die(MALFORMED, "%s: ends early at byte 0", file);
	if (!stream_count(in))
		die_silent(MALFORMED);
	return stage_end();
}
