/* Pictures and pages of documents. */
#ifndef COMMON_SHOW_SHOW_H
#define COMMON_SHOW_SHOW_H
#include "graph/graph.h"

/* ---- dot.c, html.c: they take a raw document */

void dot_print(Buf *out, const Graph *g);                    /* Graphviz text */
void html_print(Buf *out, const Graph *g);                   /* one self-contained page */
#endif
