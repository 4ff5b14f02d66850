/* Pictures and pages of documents. */
#ifndef COMMON_SHOW_SHOW_H
#define COMMON_SHOW_SHOW_H
#include "graph/graph.h"

/* ---- dot.c: takes a raw document */

void dot_print(Buf *out, const Graph *g);                    /* Graphviz text */

/* ---- loops.c: takes a raw document */

/* The nests of loops of each kernel. Dies with USAGE below level schedule. */
void loops_print(Buf *out, const Graph *g);

/* ---- html.c: one self-contained page */

/* What was added to it, as JSON; initially zero. */
typedef struct { Buf documents, sources; } Page;
/* A raw document; name: what people know it by. */
void page_add(Page *p, const Graph *g, const char *name);
/* The text of a program, UTF-8, to which the names of lines in documents lead. */
void page_source(Page *p, const char *name, const char *text, size_t n);
/* Appends the page, and frees what was added. */
void page_print(Buf *out, Page *p);
#endif
