/* bisect: which stage, pass, action, kernel and op changed a result.
 *
 *     $ bisect mlp.t x=rand n=2
 *     schedule: the same
 *     fuse: changed the result: y: f32[8,4]: 32 of 32 differ, most at [7,2]: 0.31 and 0.47
 *       pass: produce
 *       kernel: K1 r_8_4
 *       op: ADD f32 (mlp.t:4, y)
 *
 * A document is interpreted after each stage; at the end it is compiled and run. Exit statuses are
 * those of `git bisect run`. */
#include "hunt/hunt.h"
#include <stdlib.h>
#include <unistd.h>

enum { CANNOT = 125, STAGES = 32 };

static struct {
	const char *stages, *target, *seconds, *rtol, *atol;
	bool prove;
} opt = {.target = "clang"};

static const Option options[] = {
	{0, "stages", "LIST", "the stages, 'schedule | fuse --strict | lower | render | run'",
		&opt.stages},
	{'t', "target", "TARGET", "what to lower and render for (clang)", &opt.target},
	{0, "prove", NULL, "ask `prove` after each stage and pass, instead of comparing results",
		&opt.prove},
	{0, "time", "S", "the limit for each command, in seconds (60)", &opt.seconds},
	{0, "rtol", "R", "the relative tolerance (from the sums and dtypes)", &opt.rtol},
	{0, "atol", "A", "the absolute tolerance (from the sums and dtypes)", &opt.atol},
	{0},
};
static const Stage tool = {.name = "bisect",
	.usage = "FILE [NAME=VALUE]…",
	.options = options,
	.summary =
		"Names the first stage, pass, action, kernel and op that changed a program's\n"
		"results: status 0 if none did, 1 if one did, 125 if that cannot be told."};

typedef VEC(Words) Stages;

static double number(const char *text, const char *option, double otherwise)
{
	char *end;
	double v = text ? strtod(text, &end) : otherwise;

	if (text && (*end || end == text || !(v >= 0)))
		die(USAGE, "%s takes a number from 0, not '%s'", option, text);
	return v;
}

/* ---- the stages */

/* The level from which a stage of ours is left out: the document is beyond it. */
static bool applies(const char *stage, Level have)
{
	static const struct { const char *name; Level most; } last[] = {{"simplify", LV_GRAPH},
		{"schedule", LV_GRAPH}, {"fuse", LV_SCHEDULE}, {"layout", LV_SCHEDULE},
		{"lower", LV_SCHEDULE}, {"render", LV_LOOPS}};

	for (size_t i = 0; i < sizeof last / sizeof *last; i++)
		if (!strcmp(stage, last[i].name))
			return have <= last[i].most;
	return true;
}

static Stages stages_read(const char *list, bool given, Level have)
{
	Stages all = {0};

	for (const char *s = list; *s; s += *s == '|') {
		size_t n = strcspn(s, "|");
		Words w = {0};
		char *part = arena_printf("%.*s", (int)n, s), *save, *t;
		for (; (t = strtok_r(part, " \t\n", &save)); part = NULL)
			words_add(&w, t);
		s += n;
		if (!w.n)
			die(USAGE, "--stages: a stage is missing in '%s'", list);
		words_end(&w);
		if (given || applies(w.at[0], have))
			vec_push(&all, w);
	}
	return all;
}

static const char *const *arguments(const Words *stage)
{
	return (const char *const *)stage->at;
}

/* ---- what is wrong */

static void print_place(const Place *p)
{
	const char *const name[] = {"pass", "action", "kernel", "op"},
		   *const what[] = {p->pass, p->action, p->kernel, p->op};

	for (size_t i = 0; i < 4; i++)
		if (what[i])
			printf("  %s: %s\n", name[i], what[i]);
}

static void keep_input(const char *file, const Words *stage)
{
	size_t n;
	const void *bytes = file_map(file, &n);
	Words w = *stage;
	Words full = {0};

	words_add(&full, tool_find(w.at[0]));
	for (size_t i = 1; i < w.n; i++)
		words_add(&full, w.at[i]);
	const char *script =
		reproducer_save((char *const *const[]){words_end(&full), NULL}, bytes, n);
	if (script)
		printf("  again: %s\n", script);
}

static int blame_crash(Hunt *h, const Words *stage, const char *file, const Outcome *o)
{
	Place p = {0};

	printf("%s: %s\n", stage->at[0], outcome_text(o, h->seconds));
	if (outcome_crash(o))
		place_pass(h, arguments(stage), file, SEEK_CRASH, &p);
	print_place(&p);
	keep_input(file, stage);
	return 1;
}

static int blame_result(Hunt *h, const Words *stage, const char *file, const char *after,
	Verdict v, const char *why)
{
	Place p = {.before = file, .after = after};
	bool compared = h->compared;

	printf("%s: %s%s\n", stage->at[0], compared ? "changed the result: " :
		v == BAD ? "" : "wrote what cannot be run: ", why);
	place_pass(h, arguments(stage), file, v == BAD ? SEEK_WRONG : SEEK_REFUSED, &p);
	if (compared) {
		place_kernel(h, &p);
		place_action(h, arguments(stage), file, &p);
	}
	print_place(&p);
	return 1;
}

static int blame_compiled(Hunt *h, const char *file, const char *why)
{
	Place p = {0};
	const char *ignored;

	printf("run: compiled, %s%s\n", h->compared ? "the result is another: " : "", why);
	if (hunt_read(file)->level == LV_PROGRAM && place_compiled(h, file, &p)) {
		print_place(&p);
		if (hunt_judge(h, NULL, file, (const char *const[]){"--fast-compile", NULL},
			    &ignored) == GOOD)
			puts("  right with --fast-compile: it is what the compiler optimises");
	}
	return 1;
}

/* ---- from stage to stage */

/* Runs one stage on *file, which becomes what it wrote. Returns an exit status, -1 to go on. */
static int one_stage(Hunt *h, const Words *stage, const char **file)
{
	const char *out = hunt_file(h, ".mp"), *why;
	Outcome o = hunt_tool(h, out, stage->at[0], *file, arguments(stage) + 1);
	Verdict v;

	if (!outcome_good(&o))
		return blame_crash(h, stage, *file, &o);
	v = hunt_judge(h, *file, out, NULL, &why);
	if (v == BAD || (v == UNTESTABLE && !h->prove))
		return blame_result(h, stage, *file, out, v, why);
	printf("%s: %s\n", stage->at[0], v == GOOD ? "the same" : "not decided");
	*file = out;
	return -1;
}

static int compiled(Hunt *h, const Words *stage, const char *file)
{
	const char *why;
	Verdict v = hunt_judge(h, NULL, file, arguments(stage) + 1, &why);

	/* without the target's device, the compiler is not asked for */
	if (v == UNTESTABLE && h->status == UNSUPPORTED && !opt.stages) {
		printf("run: not tried: %s\n", why);
		return 0;
	}
	if (v == UNTESTABLE)
		die(CANNOT, "%s", why);
	if (v == BAD)
		return blame_compiled(h, file, why);
	puts("run: the same");
	return 0;
}

static bool is_program(const char *file)
{
	InputKind kind = file_kind(file);

	return kind == INPUT_TEXT || kind == INPUT_MODEL || kind == INPUT_CODE;
}

/* The document to begin with: the file itself, or what `trace` makes of a program. */
static const char *first_document(Hunt *h, const char *file, const char *const *trace)
{
	const char *out = hunt_file(h, ".mp");
	Outcome o = hunt_tool(h, out, "trace", file, trace);

	if (outcome_crash(&o)) {
		printf("trace: %s\n", outcome_text(&o, h->seconds));
		exit(1);
	}
	if (!outcome_good(&o))
		die(CANNOT, "trace %s", outcome_text(&o, h->seconds));
	return out;
}

static Level level_of(Hunt *h, const char *file)
{
	const char *out = hunt_file(h, ".txt");
	Outcome o = hunt_tool(h, out, "show", file, (const char *const[]){"--count", NULL});
	size_t n;
	const char *text;

	if (!outcome_good(&o))
		die(CANNOT, "%s: %s", file, *o.says ? o.says : outcome_text(&o, h->seconds));
	text = file_map(out, &n);
	for (int i = 0; i <= LV_PROGRAM; i++)
		if (!strncmp(text, level_name[i], n < strlen(level_name[i]) ? n :
								strlen(level_name[i])))
			return (Level)i;
	die(CANNOT, "%s: of no known level", file);
}

static int bisect(Hunt *h, const char *file)
{
	const char *list = opt.stages ? opt.stages :
		arena_printf("simplify | schedule | fuse | layout -t %s | lower -t %s | "
			     "render -t %s | run", opt.target, opt.target, opt.target), *why;
	Stages stages = stages_read(list, opt.stages != NULL, LV_TENSOR);
	bool reads = stages.n && !strcmp(stages.at[0].at[0], "trace");
	int status = -1;

	if (is_program(file) || level_of(h, file) == LV_TENSOR)
		file = first_document(h, file, reads ? arguments(&stages.at[0]) + 1 : NULL);
	stages = stages_read(list, opt.stages != NULL, level_of(h, file));
	if (!h->prove && !hunt_begin(h, file, &why))
		die(CANNOT, "the first document cannot be run: %s", why);
	for (size_t i = reads; i < stages.n && status < 0; i++) {
		bool last = i + 1 == stages.n && !strcmp(stages.at[i].at[0], "run");
		if (!last)
			status = one_stage(h, &stages.at[i], &file);
		else if (!h->prove)
			status = compiled(h, &stages.at[i], file);
	}
	return status < 0 ? 0 : status;
}

/* When the tool itself fails, nothing is known of the program. */
static void cannot_tell(void *none)
{
	fflush(stdout);
	_exit(CANNOT);
}

int main(int argc, char **argv)
{
	Hunt h = {0};
	VEC(const char *) inputs = {0};
	const char *file = NULL;
	int first, status;

	stage_begin("bisect");
	first = options_parse(&tool, argc, argv);
	for (int i = first; i < argc; i++) {
		if (strchr(argv[i], '='))
			vec_push(&inputs, argv[i]);
		else if (file)
			die(USAGE, "one program is enough: '%.80s' is too much", argv[i]);
		else
			file = argv[i];
	}
	if (!file)
		die(USAGE, "a program or document is needed: bisect FILE [NAME=VALUE]…");
	h = (Hunt){.target = opt.target, .ninputs = inputs.n, .inputs = inputs.at,
		.prove = opt.prove, .seconds = number(opt.seconds, "--time", 60),
		.rtol = number(opt.rtol, "--rtol", -1), .atol = number(opt.atol, "--atol", -1)};
	die_cleanup(cannot_tell, NULL);
	Work *work = work_new();
	h.work = work->path;
	status = bisect(&h, file);
	work_remove(work);
	stage_end();
	return status;
}
