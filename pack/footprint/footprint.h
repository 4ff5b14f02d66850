/* What a module needs where it runs, told before it is there. Sections follow the files. */
#ifndef PACK_FOOTPRINT_FOOTPRINT_H
#define PACK_FOOTPRINT_FOOTPRINT_H
#include "module/module.h"

/* ---- work.c */

/* Operations on floats that a call executes. A product with its addition is one multiply-add. Sizes
 * that are not known count as the greatest they can be; a loop of the list's as one turn. */
typedef struct { double multiply_adds, others; bool turns; } CallWork;
CallWork function_work(const Function *f);

/* ---- image.c: the module as a compiler makes it */

/* Bytes of a program that has nothing but these functions and what they call, and of the stack that
 * each takes. */
typedef struct {
	int64_t flash, ram;     /* what is only read; what is written, outside the workspace */
	bool linked;            /* functions of libraries are in it */
	int64_t *stack;         /* of each function, -1: the compiler does not tell */
} Image;
/* Before the broker starts: a command with its options, "arm-none-eabi-gcc -mcpu=cortex-m4", and
 * where the module's files will be. */
void image_offer(const char *cc, const char *folder, const char *name);
/* Compiles the files. n functions by their names in C. Dies when the compiler fails. */
Image image_make(const Module *m, size_t n, const char *const *functions);

/* ---- stack.c */

/* The deepest that calls of `function` go, by the call graph that gcc writes with
 * -fcallgraph-info=su; a function of which it knows no size, one of a library, counts LIBRARY_STACK
 * bytes. -1: not known. */
enum { LIBRARY_STACK = 128 };
int64_t stack_of(const char *graph, const char *function);

/* ---- footprint.c */

/* The statement as text. image: NULL, when there is no compiler to ask. */
void footprint_print(Buf *out, const Module *m, const Image *image);
/* The names in C of a module's calls. */
const char **footprint_functions(const Module *m);
#endif
