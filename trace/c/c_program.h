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
/* The arguments of a word of the header. */
typedef struct { size_t n; const SluiceValue *arg; } Words;
/* A value (of library.h) by its number, and a number for one. */
struct Value;
const struct Value *c_value(SluiceValue v);
SluiceValue c_given(const struct Value *v);
/* How many there are; those from … on may not be used any more: they were made in the body of the
 * step at this place. */
size_t c_values(void);
void c_close(size_t from, SluicePlace step);

/* ---- c_steps.c: the words of LOOP, WHILE, IF and APPEND; each dies with a message */

SluiceValue word_loop(const Words *w);       /* limit, variables: the step */
SluiceValue word_while(const Words *w);      /* condition, variables: the step */
SluiceValue word_if(const Words *w);
SluiceValue word_turn(const Words *w);       /* step: its turn */
SluiceValue word_append(const Words *w);     /* step, list, element */
SluiceValue word_step(const Words *w);       /* step, condition, variables: the body is made */
SluiceValue word_now(const Words *w);        /* step, k: variable k here, or list k - variables */
SluiceValue word_left(const Words *w);       /* step: its body was left by break */
void steps_closed(void);                     /* dies when a step has not come to its end */

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
