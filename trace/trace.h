/* trace: which reader takes a file.  Sections follow the files. */
#ifndef TRACE_H
#define TRACE_H
#include "onnx/onnx.h"

/* ---- read_mp.c, read_text.c: a file to a graph ---------------------------------------------------------- */

Graph *read_tensor(Graph *doc);              /* level tensor (or graph) document → level graph */

/* ---- read_file.c */

/* The graph (or document of level tensor) of a file by its suffix; NULL when it is a document. */
Graph *read_file(const char *file);
#endif
