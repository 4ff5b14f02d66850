/* The frame of every tool's main: options, missing stages, child processes. Sections follow the
 * files. */
#ifndef COMMON_PROCESS_PROCESS_H
#define COMMON_PROCESS_PROCESS_H
#include "graph/graph.h"

#define SLUICE_VERSION "0.1"

/* ---- stage.c: the frame of every main */

/* What a pass does one after another, of which it can take the first few alone: NAME:3 is a place
 * like a pass, for -d and --stop-after; -d NAME and --prove take each of them in turn. */
typedef struct {
	const char *name;               /* "action" */
	size_t taken;                   /* as many the pass takes; SIZE_MAX: all */
	size_t (*most)(Graph *g);       /* as many there are */
} PassParts;
typedef struct {
	const char *name;
	Graph *(*fn)(Graph *g);
	const char *help;
	bool optional;
	PassParts *parts;                   /* NULL: it is one whole */
} Pass;
typedef struct {
	char letter;            /* 'o', or 0 */
	const char *word;       /* "explain", or NULL */
	const char *arg;        /* "FILE" for the help text; NULL for a flag */
	const char *help;
	void *to;               /* bool *, const char **, or (for many) VEC(const char *) * */
	bool many;
	bool optional_arg;      /* --bench or --bench=FILE */
} Option;
typedef struct {
	const char *name, *summary, *usage;   /* usage: "[FILE]" */
	/* ends with a row of zeros; -h -d -i -o -v --stop-after are added */
	const Option *options;
	/* Level that the body takes and gives; level_out -1: unchanged */
	int level_in, level_out;
	const Pass *passes;                   /* ends with a row of zeros; run in this order */
	void (*help)(void);     /* prints what --help says after the passes, or NULL */
	Graph *(*body)(Graph *g);             /* instead of passes, when set */
	/* the highest level that it also takes; 0: only level_in */
	int level_most;
	/* documents with loops, branches and sizes that data gives: refused; taken as they are; or
	 * with each pass applied to one segment after another (document/segments.c) */
	enum { STEPS_REFUSED, STEPS_WHOLE, STEPS_SEGMENTS } steps;
	/* for a tool with workers: offers them, and what is called instead of confine_stage */
	void (*workers)(void), (*confine)(bool endpoint);
	/* for the tool that reads programs and models itself: FILE, NULL if it is a document; and
	 * what came over a pipe */
	Graph *(*read)(const char *file);
	Graph *(*source)(const void *p, size_t n, const char *name);
	/* the project's own program that does all of it, with the same arguments; NULL: none */
	const char *(*instead)(void);
} Stage;
/* The main of a stage: parse options, read, run missing stages, verify, run passes, verify, write.
 */
int stage_main(const Stage *s, int argc, char **argv);
/* Parses options, for tools that are not stages. Returns the index of the first operand (operands
 * are moved to the end, as in GNU getopt). For --help, prints the help and exits with 0. */
int options_parse(const Stage *s, int argc, char **argv);
/* options.c: the same, with tables of rows to add to the tool's own (the last one NULL), and no
 * help; the help, printed, with status 0. */
int options_read(const Stage *s, const Option *const *standard, int argc, char **argv);
_Noreturn void options_help(const Stage *s, const Option *const *standard);
/* "fuse (Sluice) 0.1, …", for --version */
void version_print(const char *tool);
/* Raises g to a level by running the stages between as processes found on the stage path, with the
 * target and extra flags from the running tool's options. */
Graph *stage_raise(Graph *g, Level to, const char *target, bool with_fuse);
/* The end of main: flushes and checks standard output and returns the exit status. */
int stage_end(void);
/* For a tool whose output is read by people: a reader that leaves (show | head) ends it without a
 * word, as it does other programs. After stage_begin. */
void stage_prints(void);
/* Sets up name, descriptors and SIGPIPE: the first call in the main of a tool that does not use
 * stage_main. */
void stage_begin(const char *name);

/* ---- timeline.c: when what ran, with the stages that this process starts, and those beside it */

/* By stage_begin: this process is on the timeline of the file that SLUICE_PROFILE names, if any. */
void timeline_begin(void);
/* It is on that of `file`, which is made anew unless SLUICE_PROFILE names it already, and so are
 * the stages that it starts. Before the walls, and before broker_start. */
void timeline_to(const char *file);
/* In a process that was forked from it: a part of the timeline of its own, until its end. */
void timeline_forked(void);
void timeline_end(void);
/* A part of this process, and a run of a kernel (layer: ""), from now_ms() `begin` on. */
void timeline_span(const char *name, double begin, double ms);
void timeline_kernel(const char *name, const char *layer, double begin, double ms);

/* ---- source.c: programs and models in place of documents */

/* What `trace` makes of FILE, as a stream; NULL when it holds documents or is none (standard input,
 * an endpoint). To be called before broker_start. */
struct Stream *source_open(const char *file);
void source_bytes(const void *p, size_t n, Buf *out);    /* process.trace */

/* ---- confine.c, broker.c: walls around a process that reads what anybody may have written */

/* From here on this process opens no file for writing, and starts and connects to nothing. Stages
 * are started by a broker, which a process with an endpoint has to start before that. Does nothing
 * where the kernel cannot, or with process.open. With an endpoint sockets stay allowed. */
void confine_stage(bool endpoint);
/* The same for a tool that loads what its workers have compiled: files may be opened, and new ones
 * made where these are (folders: in them). */
void confine_build(bool endpoint, size_t nwrite, const char *const *writes);
/* run --sandbox: all threads, and no files but these (folders: those in them) and what they are
 * given. Dies with UNSUPPORTED where the kernel cannot. */
void confine_run(size_t nread, const char *const *reads, size_t nwrite, const char *const *writes);
void broker_start(void);
bool broker_has(void);
/* From here on the broker opens the files that this process maps. */
void broker_opens(void);
/* spawn_pipeline, by the broker */
int broker_run(char *const *const *argvs, const void *in, size_t n, Buf *out, int *failed);
/* A worker is a function of the tool's own that needs what walls take away. It runs in a process of
 * its own, which is as it was when the broker started, with nothing but those bytes, which it must
 * not trust; what it returns and puts into out is what worker_end gets. */
typedef int (*Worker)(const void *in, size_t n, Buf *out);
enum { WORKERS = 3 };
void worker_offer(int k, Worker fn);     /* before broker_start */
/* Starts worker k; the descriptor can be polled for its end. */
int worker_start(int k, const void *in, size_t n);
/* Waits for it; -1 when it has died, with a message of its own. */
int worker_end(int fd, Buf *out);
/* reproducer_save, by the broker */
const char *broker_keep(char *const *const *argvs, const void *in, size_t n);

/* ---- spawn.c: child processes, the stage path */

/* Full path of a tool, from SLUICE_PATH's folders, then the folder of this program. NULL when there
 * is none. */
const char *tool_find(const char *name);
const char *stage_path(void);            /* its folders, separated by colons */
/* full path of a program in PATH; NULL when there is none */
const char *program_find(const char *name);
void show_command(char *const argv[]);   /* prints it on standard error, quoted for a shell */
void command_print(Buf *b, char *const argv[]);
/* A file of the project such as "include/sluice/tensor.h", looked for below the folder of the
 * project's tools, its parent (as built) and its grandparent (as installed). NULL when there is
 * none. */
const char *own_file(const char *path);
/* Runs argv with `in` as standard input; appends its standard output to out. Returns the exit
 * status. */
int spawn_filter(char *const argv[], const void *in, size_t n, Buf *out);
/* The same for a pipeline of filters; argvs ends with NULL. *failed gets the index of the first
 * that failed. When it refuses what another one wrote, the input is kept, and the end of its
 * message says where. */
int spawn_pipeline(char *const *const *argvs, const void *in, size_t n, Buf *out, int *failed);

/* ---- reproducer.c: what is left of a crash */

/* Dies as a pipeline has failed, with its status if that is one of ours: such a filter has printed
 * its own message. When it has crashed, the input is kept. */
_Noreturn void pipeline_failed(
	char *const *const *argvs, int status, int failed, const void *in, size_t n);
/* Keeps the input of a pipeline of filters and a script that runs it again, in the folder
 * $XDG_STATE_HOME/sluice/crash (~/.local/state/sluice/crash), which holds the last few. argvs ends
 * with NULL. Returns the script's path; NULL when it cannot be kept or the input is too large. */
const char *reproducer_save(char *const *const *argvs, const void *in, size_t n);
#endif
