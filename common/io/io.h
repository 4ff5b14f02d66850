/* Documents as bytes and text; where they come from and go to.  Sections follow the files. */
#ifndef COMMON_IO_IO_H
#define COMMON_IO_IO_H
#include "document/document.h"

/* ---- wire_scan.c, wire.c, text.c, text_parse.c: bytes into whole values; document ↔ bytes, document ↔ text ----------------- */

enum { WIRE_DEPTH = 100 };
enum { WIRE_BAD = -1, WIRE_MORE = 0, WIRE_WHOLE = 1 };
/* Where a scan stands; starts as zeros. It goes on where it stopped when more bytes have come. */
typedef struct {
	size_t at;              /* bytes looked at; the value's length when whole, the place of the fault when bad */
	int depth;
	const char *err;
	struct { uint64_t left; bool map; } open[WIRE_DEPTH];
} WireScan;
/* Checks that one msgpack value starts at p: form, depth, UTF-8, keys that are strings. Allocates nothing. */
int wire_scan(WireScan *s, const void *p, size_t n);
bool utf8_ok(const void *s, size_t n);
/* what stands at p, decoded: n is the count or length, int, bits or bool; returns its head's bytes, 0 when cut short or bad */
typedef struct { ValKind kind; uint64_t n; bool bad; } WireHead;
size_t wire_head(const uint8_t *p, size_t left, WireHead *h);
/* The document in n bytes that wire_scan has found whole; dies with MALFORMED when it is no document. */
Graph *wire_build(const void *p, size_t n, int flags);
/* One document from bytes; dies with MALFORMED when it is not one. *used gets its length. Bins refer into p. */
Graph *wire_read(const void *p, size_t n, size_t *used, int flags);
/* Appends the document's bytes: what the sink reaches, in walk order; all nodes for a raw graph. */
void wire_write(Buf *out, const Graph *g);
void text_print(Buf *out, const Graph *g);
/* The next document of a text that may hold several; *at moves past it. NULL at the end. Dies with "file:line:column:
 * message", then the line and a caret. */
Graph *text_next(const char *s, size_t n, const char *file, size_t *at);
void text_value(Buf *out, const Val *v);                     /* an arg or such, in the text form */
/* One line for node i of g.all, without its newline and comment; index: place of each node in the text, by id */
void text_node(Buf *out, const Graph *g, size_t i, const uint32_t *index);
/* place in g.all (or in walk order) of each node, by id; malloc'd */
uint32_t *text_index(const Graph *g);

/* ---- stream.c: standard input and output, files, ZeroMQ endpoints ----------------------------------------- */

typedef struct Stream Stream;
Stream *stream_open(const char *path_or_endpoint);           /* NULL or "-": standard input */
/* The next document, or NULL at the end. An empty input is no document at all. The bins of a document live until the
 * next call. */
Graph *stream_next(Stream *s, int flags);
/* The pages of a file that is mapped leave memory, and come back where its bytes are asked for. */
void stream_rest(const Stream *s);
size_t stream_count(const Stream *s);                        /* documents read so far */
const char *stream_name(const Stream *s);                    /* for messages: the path, "standard input", the endpoint */
/* Writes whole documents to standard output or an endpoint. */
void stream_write(const char *endpoint, const Graph *g);
void stream_put(const char *endpoint, const void *p, size_t n);   /* the same for bytes: a document, or text */
/* Opens an output endpoint early, so that the reader learns of the end also when nothing is written. */
void stream_out_open(const char *endpoint);
/* Ends what was written: the last bytes are out, or it dies. */
void stream_out_close(void);
/* the whole of a file, mapped read-only; dies when it cannot be opened */
const void *file_map(const char *path, size_t *n);
/* writes bytes to path through a temporary file and rename: whole or not at all */
void file_write(const char *path, const void *p, size_t n);

/* ---- endpoint.c: ZeroMQ, loaded when an endpoint is named --------------------------------------------------- */

bool endpoint_is(const char *name);                          /* has "://" */
void *endpoint_in(const char *name);                         /* binds */
/* The next message, valid until the next call; false at the sender's end. */
bool endpoint_get(void *e, const void **p, size_t *n);
void *endpoint_out(const char *name);                        /* connects; closes with an end mark when the process dies */
void endpoint_put(void *e, const void *p, size_t n);
void endpoint_close(void *e);                                /* sends the end mark; waits until all is delivered */
#endif
