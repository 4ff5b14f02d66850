/* reduce: the smallest document that still is as a command says.
 *
 *     $ reduce wrong.mp -o small.mp -- sh -c '! bisect {} x=rand'
 *
 * Delta debugging: each way to make a document smaller (hunt/shrink.c) is tried on half of the
 * places where it can be done, on quarters, and so on to single ones, over and over until nothing
 * helps. A candidate is made and verified in a process of its own, which then becomes the command.
 * The first that is smaller and for which the command ends with 0 is the new document; candidates
 * are judged in the same order whatever -j is, so the result is always the same. */
#include "hunt/hunt.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NO_CANDIDATE = 125, NO_COMMAND = 127, JOBS_MOST = 64 };

static struct { const char *output, *seconds, *jobs; } opt;

static const Option options[] = {
	{'o', "output", "FILE", "write the document to FILE, whole, whenever it is smaller",
		&opt.output},
	{'j', "jobs", "N", "judge N candidates at a time (1)", &opt.jobs},
	{0, "time", "S", "the limit for each run of the command, in seconds (60)", &opt.seconds},
	{0},
};
static const Stage tool = {.name = "reduce",
	.usage = "FILE -- COMMAND [ARGUMENT]…",
	.options = options,
	.summary =
		"Makes a document or program as small as it can be while COMMAND, in which {} is\n"
		"the file, still ends with 0."};

typedef struct { const Shrink *way; size_t from, to; int variant; } Candidate;
/* Nothing of it is in the arena, which is emptied whenever the document is replaced. */
typedef struct {
	const Work *work;
	char **command;
	double seconds, measure;
	int jobs;
	Graph *g;
	Buf bytes;              /* the document */
	size_t tried, nodes;
	Map refused;            /* hashes of candidates that the command has refused */
} Reduction;

static double number(const char *text, const char *option, double least, double otherwise)
{
	char *end;
	double v = text ? strtod(text, &end) : otherwise;

	if (text && (*end || end == text || !(v >= least)))
		die(USAGE, "%s takes a number from %g, not '%s'", option, least, text);
	return v;
}

/* ---- the judge */

/* The word with each {} replaced by the file. */
static char *filled(const char *word, const char *file, bool *some)
{
	Buf b = {0};

	for (const char *at; (at = strstr(word, "{}")); word = at + 2) {
		buf_printf(&b, "%.*s%s", (int)(at - word), word, file);
		*some = true;
	}
	buf_printf(&b, "%s", word);
	return b.s;
}

static _Noreturn void become_judge(const Reduction *r, const char *file)
{
	Words w = {0};
	bool some = false;

	for (char **p = r->command; *p; p++)
		words_add(&w, filled(*p, file, &some));
	if (!some)
		words_add(&w, file);
	execvp(w.at[0], words_end(&w));
	_exit(NO_COMMAND);
}

static const char *candidate_file(const Reduction *r, size_t k)
{
	return arena_printf("%s/%zu.mp", r->work->path, k);
}

/* In a process of its own: makes the candidate, then judges it. */
static _Noreturn void try_candidate(const Reduction *r, const Candidate *c, size_t k)
{
	const char *file = candidate_file(r, k);
	Buf b = {0};
	Graph *g;

	int none = open("/dev/null", O_WRONLY);
	child_begin(process.verbose ? 2 : none, process.verbose ? 2 : none);
	g = c->way->apply(r->g, c->from, c->to, c->variant);
	if (!g || !(shrink_measure(g) < r->measure))
		_exit(NO_CANDIDATE);
	/* read back, for all checks that a reader makes */
	wire_write(&b, g);
	verify(wire_read(b.s, b.n, NULL, 0));
	if (map_get(&r->refused, hash_bytes(b.s, b.n, 0)))
		_exit(NO_CANDIDATE);
	file_write(file, b.s, b.n);
	become_judge(r, file);
}

static pid_t child_of(const Reduction *r, const Candidate *c, size_t k)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		die_errno("cannot start a process");
	if (!pid)
		try_candidate(r, c, k);
	return pid;
}

/* ---- the document */

static void take(Reduction *r, const char *file)
{
	size_t n;
	const void *bytes = file_map(file, &n);

	r->bytes.n = 0;
	buf_add(&r->bytes, bytes, n);
	arena_reset();
	r->g = wire_read(r->bytes.s, r->bytes.n, NULL, 0);
	r->measure = shrink_measure(r->g);
	r->nodes = walk(r->g->sink).n;
	if (opt.output)
		file_write(opt.output, r->bytes.s, r->bytes.n);
}

static void progress(const Reduction *r, const char *way)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[Kreduce: %zu nodes, %zu candidates tried, %s", r->nodes,
			r->tried, way);
}

/* Ways often come to the same candidate; it is judged once. */
static void refuse(Reduction *r, const char *file)
{
	char *bytes;
	struct stat st;
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	bytes = fstat(fd, &st) ? NULL : xmalloc(st.st_size + 1);
	if (bytes && read(fd, bytes, st.st_size) == st.st_size) {
		map_put(&r->refused, hash_bytes(bytes, st.st_size, 0), r);
		r->tried++;
	}
	free(bytes);
	close(fd);
}

/* Judges n candidates at a time; returns the first that is taken, n when none is. */
static size_t judge(Reduction *r, const Candidate *c, size_t n)
{
	pid_t pid[JOBS_MOST];
	size_t best = n;
	int status;

	for (size_t i = 0; i < n; i++) {
		unlink(candidate_file(r, i));
		pid[i] = child_of(r, &c[i], i);
	}
	for (size_t i = 0; i < n; i++) {
		bool late = child_wait(pid[i], r->seconds, &status);
		if (late || !WIFEXITED(status) || WEXITSTATUS(status))
			refuse(r, candidate_file(r, i));
		else if (best == n)
			best = i;
	}
	progress(r, c->way->name);
	if (best < n) {
		r->tried++;
		take(r, candidate_file(r, best));
	}
	return best;
}

/* ---- delta debugging */

/* The candidate after c with chunks of this size; false at the end. */
static bool next_candidate(const Reduction *r, Candidate *c, size_t chunk)
{
	size_t n = c->way->count(r->g);

	if (++c->variant >= c->way->variants) {
		c->variant = 0;
		c->from += chunk;
	}
	c->to = c->from + chunk < n ? c->from + chunk : n;
	return c->from < n;
}

/* Goes once over all places in chunks of a size. Where one is taken, the places after it have moved
 * to where it was, and are next. Returns whether one was. */
static bool sweep(Reduction *r, const Shrink *way, size_t chunk)
{
	Candidate next = {way, 0, 0, -1}, c[JOBS_MOST];
	bool some = false, more = next_candidate(r, &next, chunk);

	while (more) {
		size_t n = 0, best;
		for (; more && n < (size_t)r->jobs; more = next_candidate(r, &next, chunk))
			c[n++] = next;
		best = judge(r, c, n);
		if (best == n)
			continue;
		some = true;
		next = c[best];
		next.variant = -1;
		more = next_candidate(r, &next, chunk);
	}
	return some;
}

static bool shrink(Reduction *r, const Shrink *way)
{
	bool some = false;
	size_t n = way->count(r->g), chunk = n > 1 ? n / 2 : n;

	for (; chunk; chunk /= 2)
		some |= sweep(r, way, chunk);
	return some;
}

static void reduce(Reduction *r)
{
	for (bool some = true; some;) {
		some = false;
		for (const Shrink *way = shrinks; way->name; way++)
			some |= shrink(r, way);
	}
}

/* ---- the first document */

static void begin(Reduction *r, const char *file)
{
	const char *first = candidate_file(r, 0);
	Buf b = {0};
	Graph *g;

	InputKind kind = file_kind(file);
	if (kind == INPUT_TEXT || kind == INPUT_MODEL || kind == INPUT_CODE) {
		const char *trace = tool_find("trace");
		Outcome o = command_run((char *[]){(char *)trace, (char *)file, NULL}, NULL, first,
			r->seconds);
		if (!outcome_good(&o))
			die(o.status >= USAGE && o.status <= MALFORMED ? o.status : FAILED,
				"trace %s", outcome_text(&o, r->seconds));
		file = first;
	}
	g = hunt_read(file);
	if (g->level == LV_TENSOR)
		g = stage_raise(g, LV_GRAPH, NULL, false);
	wire_write(&b, g);
	file_write(first, b.s, b.n);
	buf_free(&b);
	take(r, first);
}

static Graph *as_it_is(Graph *g, size_t from, size_t to, int variant) { return g; }

/* The command has to accept the document that it is given first. */
static void check_first(Reduction *r)
{
	static const Shrink nothing = {"the first", NULL, as_it_is, 1};
	Candidate c = {&nothing, 0, 0, 0};
	double measure = r->measure;
	int status;

	r->measure = measure + 1;
	if (child_wait(child_of(r, &c, 0), r->seconds, &status))
		die(FAILED, "the command does not end within %g s", r->seconds);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_COMMAND)
		die(FAILED, "'%.200s' is not found, or ends with 127", r->command[0]);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		die(FAILED, "the command does not end with 0 for the document as it is: %s %d",
			WIFEXITED(status) ? "status" : "signal",
			WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	r->measure = measure;
}

/* The operands before "--", which begins the command. */
static char **command_after(int *argc, char **argv)
{
	for (int i = 1; i < *argc; i++)
		if (!strcmp(argv[i], "--")) {
			*argc = i;
			argv[i] = NULL;
			return &argv[i + 1];
		}
	return NULL;
}

int main(int argc, char **argv)
{
	Reduction r = {0};
	Work *work;
	size_t from;
	int first;

	stage_begin("reduce");
	r.command = command_after(&argc, argv);
	first = options_parse(&tool, argc, argv);
	if (argc - first != 1)
		die(USAGE, "one document is needed: reduce FILE -- COMMAND [ARGUMENT]…");
	if (!r.command || !*r.command)
		die(USAGE, "a command is needed after --: reduce FILE -- COMMAND [ARGUMENT]…");
	if (!opt.output && isatty(STDOUT_FILENO))
		die(USAGE, "standard output is a terminal: give -o FILE");
	r.seconds = number(opt.seconds, "--time", 0, 60);
	r.jobs = (int)number(opt.jobs, "-j", 1, 1);
	r.jobs = r.jobs < JOBS_MOST ? r.jobs : JOBS_MOST;
	r.work = work = work_new();
	begin(&r, argv[first]);
	from = r.nodes;
	check_first(&r);
	reduce(&r);
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[Kreduce: %zu nodes of %zu, %zu candidates tried\n", r.nodes,
			from, r.tried);
	if (!opt.output)
		stream_put(NULL, r.bytes.s, r.bytes.n);
	work_remove(work);
	return stage_end();
}
