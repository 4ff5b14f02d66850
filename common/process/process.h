/* The form of every main: options, missing stages, children.  Sections follow the files. */
#ifndef COMMON_PROCESS_PROCESS_H
#define COMMON_PROCESS_PROCESS_H
#include "graph/graph.h"

/* ---- stage.c: the form of every main ------------------------------------------------------------------------ */

typedef struct { const char *name; Graph *(*fn)(Graph *g); const char *help; bool optional; } Pass;
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
	const Option *options;                /* ends with a row of zeros; -h -d -i -o -v --stop-after are added */
	int level_in, level_out;              /* Level; level_in is what the body takes; level_out -1: as it came */
	const Pass *passes;                   /* ends with a row of zeros; run in this order */
	Graph *(*body)(Graph *g);             /* instead of passes, when set */
	int level_most;                       /* the highest level it also takes as it is; 0: level_in alone */
	/* Reads FILE when it is no document (source text, another format): NULL when it is one. */
	Graph *(*read)(const char *file);
} Stage;
/* The whole of a stage's main: options, read, run missing stages, verify, passes, verify, write. */
int stage_main(const Stage *s, int argc, char **argv);
/* Option parsing alone, for the tools that are not stages. Returns the index of the first operand (operands
 * are moved to the end, as GNU getopt does). Prints help and exits 0 for --help. */
int options_parse(const Stage *s, int argc, char **argv);
/* options.c: the same with the rows that are added to the tool's own; *want_help is what the help row sets. */
int options_read(const Stage *s, const Option *standard, const bool *want_help, int argc, char **argv);
/* brings g up to a level by running the stages between as processes found on the stage path (target and extra
 * flags from the running tool's options) */
Graph *stage_raise(Graph *g, Level to, const char *target, bool with_fuse);
/* end of main: flush, test standard output, status */
int stage_end(void);
/* A tool that is no stage starts with this (stage_main does it itself): name, descriptors, SIGPIPE. */
void stage_begin(const char *name);

/* ---- spawn.c: children, stage path ---------------------------------------------------------------------------- */

/* Full path of a tool: SLUICE_PATH's folders, then the one this program is in. NULL when there is none. */
const char *tool_find(const char *name);
const char *stage_path(void);            /* the folders with colons */
const char *program_find(const char *name);      /* full path of a program in PATH; NULL when there is none */
void show_command(char *const argv[]);   /* as a shell would take it, on standard error */
/* A file of the project that is no tool, by its path below the folder of the project's tools or the folder above (as
 * built) or two above (as installed): "include/sluice/tensor.h". NULL when there is none. */
const char *own_file(const char *path);
/* Runs argv with in as standard input; returns its standard output in out. Returns the exit status. */
int spawn_filter(char *const argv[], const void *in, size_t n, Buf *out);
/* a pipeline of filters; argvs ends with NULL; names the first that failed in *failed */
int spawn_pipeline(char *const *const *argvs, const void *in, size_t n, Buf *out, int *failed);
#endif
