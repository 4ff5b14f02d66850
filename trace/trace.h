/* trace: selects the reader for a file. Sections follow the files. */
#ifndef TRACE_H
#define TRACE_H
#include "onnx/onnx.h"

/* ---- read_mp.c, read_text.c: from a file to a graph ------------------------------------------ */

Graph *read_tensor(Graph *doc);              /* level tensor (or graph) document → level graph */

/* ---- read_file.c */

/* Reads a file selected by its suffix: a graph, or a document of level tensor; NULL when the file
 * is a document itself. */
Graph *read_file(const char *file);

/* ---- checks.c: passes */

Graph *note_checks(Graph *g);                /* into meta.checks */
Graph *raise_sizes(Graph *g);                /* least values of size variables, by those checks */

/* ---- keep_states.c: pairs of an input and an output that keep their content between calls */

typedef VEC(const char *) StatePairs;
extern StatePairs state_pairs;              /* "IN=OUT", from the command line */
Graph *keep_states(Graph *g);                /* pass */
#endif
