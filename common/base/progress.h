/* What a tool is doing, on a terminal, while it takes over a second. */
#ifndef COMMON_BASE_PROGRESS_H
#define COMMON_BASE_PROGRESS_H
#include "base/base.h"

typedef struct { const char *what; size_t of; double since; bool wanted; } Progress;
/* Begins work of `of` steps; 0: their number is not known, and the line has seconds. */
Progress progress_start(const char *what, size_t of, bool wanted);
/* So many are done. Cheap enough for steps of a microsecond. */
void progress_step(Progress *p, size_t done);
void progress_end(Progress *p);
/* Erases the line, before something else is printed. */
void progress_clear(void);
#endif
