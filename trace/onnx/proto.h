/* Internals of the ONNX front end: the model in protobuf-c's structures, and the state of the walk
 * over it. Only the files that read the model include this; without protobuf-c at build time (no
 * HAVE_ONNX) they are empty. */
#ifndef ONNX_PROTO_H
#define ONNX_PROTO_H
#include "onnx/onnx.h"
#ifdef HAVE_ONNX
#include "onnx/onnx.pb-c.h"

enum { ONNX_DEPTH = 48,                 /* nested graphs, and nested functions */
	ONNX_EXPANDED = 1 << 20 };      /* nodes, counted at each expansion */

/* ---- wire.c, reader.c */

/* The message's bytes without the fields that trace does not need, and without the data of large
 * tensors: their doc_string says "offset:bytes" instead, a place in the file. MALFORMED when the
 * message is truncated or nests too deep. */
void onnx_reduce(Buf *out, const uint8_t *p, size_t n);
/* Reads the whole model into the arena. Sets onnx_file. */
Onnx__ModelProto *onnx_read(const char *file);
extern const char *onnx_file, *onnx_folder;      /* both absolute */

/* ---- tensor.c */

/* The value of a TensorProto; stem names its BUFFER. process.where names the tensor in messages. */
OnnxValue onnx_tensor(const Onnx__TensorProto *t, const char *stem);

/* ---- words.c */

OnnxValue onnx_text(size_t n, const ProtobufCBinaryData *text, const Shape *s);
/* makes the inputs that are texts share one list of words */
void onnx_share_words(OnnxCall *c);

/* ---- graph.c */

typedef struct OnnxScope OnnxScope;
struct OnnxScope {
	/* the enclosing graph, whose names it sees; NULL for the model and functions */
	OnnxScope *outer;
	/* the node that called this function, for ref_attr_name */
	OnnxCall *caller;
	Map values, initializers;       /* by interned name: OnnxValue *, TensorProto * */
	size_t n_opset;
	Onnx__OperatorSetIdProto **opset;
	/* in a branch: a size of the graph around it, and what it is there; or NULL */
	UOp *size, *is;
	const char *path;               /* prefix of node names: "block/"; "" for the model */
	int depth;
};
struct OnnxCall {
	const Onnx__NodeProto *node;
	OnnxScope *scope;
	int version;
	size_t n_out;
	OnnxValue *in, *out;
	UOp *size, *is;                 /* for the scope of a body */
	bool chose, then;               /* an If whose branches differ in rank; which to take */
};
/* the version of a domain; 0: not imported */
int onnx_opset(size_t n, Onnx__OperatorSetIdProto *const *opset, const char *domain);
/* "" for the standard's own domain, in all its spellings */
const char *onnx_domain(const Onnx__NodeProto *n);
const OnnxValue *onnx_lookup(OnnxScope *s, const char *name);    /* NULL for an unknown name */
void onnx_bind(OnnxScope *s, const char *name, OnnxValue v);
const Onnx__AttributeProto *onnx_attr(const OnnxCall *c, const char *name);
const Onnx__FunctionProto *onnx_function(const char *domain, const char *name);
void onnx_collect_functions(const Onnx__ModelProto *m);
void onnx_expand_graph(OnnxScope *s, const Onnx__GraphProto *g);

/* ---- support.c: dies, naming all that is missing; MALFORMED for a model that would never end */
void onnx_check_support(const Onnx__ModelProto *m);
/* "Foo-12 (node a), …", or NULL when nothing is missing */
const char *onnx_missing(const Onnx__ModelProto *m);

/* ---- inputs.c */

/* looks at the names that g's inputs have for their sizes, for onnx_size_name */
void onnx_name_sizes(const Onnx__GraphProto *g);
/* The dim_param of an axis, or what an axis without one is called; NULL for a number. */
const char *onnx_size_name(const Onnx__TensorShapeProto__Dimension *d, const char *input,
	size_t axis);
/* Dies with USAGE when --set, --const or --shapes-from names what the model did not ask for. */
void onnx_check_options(void);
void onnx_make_inputs(OnnxScope *s, const Onnx__GraphProto *g);
const Val *onnx_vars(void);
const Val *onnx_inputs_meta(const Val *meta);
#endif

/* ---- names.c: names that the contract allows, distinct where the function says fresh */
/* no control characters, / or =; "_" when nothing is left */
const char *onnx_clean(const char *name);
const char *onnx_identifier(const char *name);       /* [A-Za-z_][A-Za-z0-9_]* */

/* ---- advice.c: from here on refusals speak of options, which are those of a model read alone */
void onnx_advise(void);

/* ---- const.c: the assumed value of an input, for shapes */
void onnx_assume(UOp *input, const char *path);
bool onnx_is_assumed(const UOp *input);
/* the assumed values that were needed: name → bytes, or VNIL */
const Val *onnx_assumed(void);
#endif
