/* Programs in C: how trace compiles, loads and traces them. Sections follow the files. */
#ifndef C_PROGRAM_H
#define C_PROGRAM_H
#include "graph/graph.h"
#include "c/tensor_api.h"

/* The options of the command line. */
typedef struct { const char *function, *cc, *cflags; } COptions;
extern COptions c_opt;

/* ---- c_calls.c: the table that the program calls */

extern const SluiceApi c_api;
SluicePlace c_place(void);                   /* of the last call; file is NULL before the first */
const char *c_place_text(SluicePlace at);    /* "arm.c:12" */

/* ---- trace_c.c: a compiled program (.so), loaded and traced in this process */

/* The graph of the function that --function names, or of the only one. Output that the program
 * prints goes to standard error. */
Graph *read_compiled(const char *file);

/* ---- read_c.c: a source file (.c, .cpp) compiled, and traced in its own process */

bool file_is_c(const char *file);
Graph *read_c(const char *file);

#define C_OPTIONS \
	{0, "function", "NAME", "C: the function to trace, if the program has several", \
		&c_opt.function}, \
	{0, "cc", "CC", "C, C++: the compiler", &c_opt.cc}, \
	{0, "cflags", "FLAGS", "C, C++: additional compiler flags, such as -DN=7", &c_opt.cflags}
#endif
