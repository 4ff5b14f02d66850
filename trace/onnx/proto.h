/* Inside of the ONNX front end: the model as protobuf-c gives it, and what is kept while it is
 * walked.  Only the files that touch the model include this; with no protobuf-c at build time (no
 * HAVE_ONNX) they are empty. */
#ifndef ONNX_PROTO_H
#define ONNX_PROTO_H
#include "onnx/onnx.h"
#ifdef HAVE_ONNX
#include "onnx/onnx.pb-c.h"

enum { ONNX_DEPTH = 48,                 /* graphs in graphs, functions in functions */
	ONNX_EXPANDED = 1 << 20 };      /* nodes, each time that they are expanded */

/* ---- wire.c, reader.c */

/* The message's bytes without what trace has no use for, and without the data of large tensors:
 * their doc_string says "offset:bytes" instead, a place in the file.  MALFORMED when it is cut
 * short or nests too deep. */
void onnx_reduce(Buf *out, const uint8_t *p, size_t n);
/* The whole model; it lives in the arena. Sets onnx_file. */
Onnx__ModelProto *onnx_read(const char *file);
extern const char *onnx_file, *onnx_folder;      /* both absolute */

/* ---- tensor.c */

/* A TensorProto's value; stem names its BUFFER.  process.where says whose it is. */
OnnxValue onnx_tensor(const Onnx__TensorProto *t, const char *stem);

/* ---- graph.c */

typedef struct OnnxScope OnnxScope;
struct OnnxScope {
	/* the graph around it, whose names it sees; NULL for the model and functions */
	OnnxScope *outer;
	/* the node that called this function: its attributes stand for the refs */
	OnnxCall *caller;
	Map values, initializers;       /* by interned name: OnnxValue *, TensorProto * */
	size_t n_opset;
	Onnx__OperatorSetIdProto **opset;
	const char *path;               /* before node names: "block/"; "" for the model */
	int depth;
};
struct OnnxCall {
	const Onnx__NodeProto *node;
	OnnxScope *scope;
	int version;
	size_t n_out;
	OnnxValue *in, *out;
};
/* 0: not imported */
int onnx_opset(size_t n, Onnx__OperatorSetIdProto *const *opset, const char *domain);
/* "" for the standard's own, however it is spelled */
const char *onnx_domain(const Onnx__NodeProto *n);
const OnnxValue *onnx_lookup(OnnxScope *s, const char *name);    /* NULL when nothing has it */
void onnx_bind(OnnxScope *s, const char *name, OnnxValue v);
const Onnx__AttributeProto *onnx_attr(const OnnxCall *c, const char *name);
const Onnx__FunctionProto *onnx_function(const char *domain, const char *name);
void onnx_collect_functions(const Onnx__ModelProto *m);
void onnx_expand_graph(OnnxScope *s, const Onnx__GraphProto *g);

/* ---- support.c: dies with all that is missing; MALFORMED for what would never end */
void onnx_check_support(const Onnx__ModelProto *m);
/* "Foo-12 (node a), …", NULL when all is there */
const char *onnx_missing(const Onnx__ModelProto *m);

/* ---- inputs.c */

void onnx_make_inputs(OnnxScope *s, const Onnx__GraphProto *g);
const Val *onnx_vars(void);
const Val *onnx_inputs_meta(const Val *meta);
#endif

/* ---- names: names.c; what the contract allows, distinct where it says fresh */
/* no control characters, / or =; "_" when nothing is left */
const char *onnx_clean(const char *name);
const char *onnx_identifier(const char *name);       /* [A-Za-z_][A-Za-z0-9_]* */

/* ---- const.c: the value that the command line gives an input, for shapes */
void onnx_assume(UOp *input, const char *path);
/* those that were needed: name → bytes, or VNIL */
const Val *onnx_assumed(void);
#endif
