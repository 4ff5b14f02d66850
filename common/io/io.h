/* Documents as bytes and as text, and the streams that carry them. Sections follow the files. */
#ifndef COMMON_IO_IO_H
#define COMMON_IO_IO_H
#include "document/document.h"

/* ---- wire_scan.c, wire.c, text.c, text_parse.c: finding complete values; document ↔ bytes,
 * document ↔ text */

enum { WIRE_DEPTH = 100 };
enum { WIRE_BAD = -1, WIRE_MORE = 0, WIRE_WHOLE = 1 };
/* The state of a scan, initially zero. When more bytes have arrived it continues where it stopped.
 */
typedef struct {
	/* bytes scanned; the value's length if it is whole, the fault's offset if it is bad */
	size_t at;
	int depth;
	const char *err;
	struct { uint64_t left; bool map; } open[WIRE_DEPTH];
} WireScan;
/* Checks that one msgpack value starts at p: its form, depth, UTF-8, and that keys are strings.
 * Allocates nothing. */
int wire_scan(WireScan *s, const void *p, size_t n);
bool utf8_ok(const void *s, size_t n);
/* Decodes the head of the value at p: n is its count or length, or its integer, bits or bool.
 * Returns the length of the head, 0 when it is cut short or malformed. */
typedef struct { ValKind kind; uint64_t n; bool bad; } WireHead;
size_t wire_head(const uint8_t *p, size_t left, WireHead *h);
/* The same of a head that is its first byte alone, as most are; false for others. */
static inline bool wire_small(uint8_t c, WireHead *h)
{
	h->bad = false;
	if (c < 0x80 || c >= 0xe0) {
		h->kind = VAL_INT;
		h->n = (uint64_t)(int64_t)(int8_t)c;
	} else if (c < 0xc0) {
		h->kind = c < 0x90 ? VAL_MAP : c < 0xa0 ? VAL_ARRAY : VAL_STR;
		h->n = c & (c < 0xa0 ? 15 : 31);
	} else {
		return false;
	}
	return true;
}
/* The document in n bytes that wire_scan has found whole; dies with MALFORMED when it is not a
 * document. */
Graph *wire_build(const void *p, size_t n, int flags);
/* Reads one document; dies with MALFORMED when it is not one. *used gets its length. Bins point
 * into p. */
Graph *wire_read(const void *p, size_t n, size_t *used, int flags);
/* the version of the format */
enum { WIRE_VERSION = 1 };
/* Appends the document's bytes: the nodes that the sink reaches, in walk order, or all nodes of a
 * raw graph. */
void wire_write(Buf *out, const Graph *g);
/* The same for a file in this folder (path_folder), to which its paths are relative. */
void wire_write_in(Buf *out, const Graph *g, const char *folder);
/* Adds to a hash the bytes of the document with that meta and without notes. */
void wire_hash(Hash *h, const Graph *g, const Val *meta);
void text_print(Buf *out, const Graph *g);
/* Reads the next document of a text, which may hold several, and moves *at past it; NULL at the
 * end. Dies with "file:line:column: message", then, on a terminal, the line and a caret. */
Graph *text_next(const char *s, size_t n, const char *file, size_t *at);
/* appends an arg or another value in the text form */
void text_value(Buf *out, const Val *v);
/* Appends the line of node i of g.all, without its newline and comment. index has the number of
 * each node in the text, by id. */
void text_node(Buf *out, const Graph *g, size_t i, const uint32_t *index);
/* The position in g.all (or in walk order) of each node, by id; malloc'd. */
uint32_t *text_index(const Graph *g);

/* ---- kind.c: what an input is, by its first bytes */

/* CODE: a program in C, C++ or compiled, by its name; SHOWN: a document as text. */
typedef enum { INPUT_EMPTY, INPUT_DOCUMENT, INPUT_TEXT, INPUT_MODEL, INPUT_CODE, INPUT_SHOWN,
	INPUT_OTHER } InputKind;
/* name: of the file, or NULL */
InputKind input_kind(const void *p, size_t n, const char *name);
/* The same of a file; INPUT_EMPTY of one that is not there, or is no regular file. */
InputKind file_kind(const char *path);
/* Dies with MALFORMED: says what it is instead, and who reads it. */
_Noreturn void input_refuse(const void *p, size_t n);
bool name_ends(const char *name, const char *ending);

/* ---- stream.c: standard input and output, files, ZeroMQ endpoints */

typedef struct Stream Stream;
Stream *stream_open(const char *path_or_endpoint);           /* NULL or "-": standard input */
/* The documents in n bytes, which stay; name for messages. */
Stream *stream_of(const void *p, size_t n, const char *name);
/* All that the input has, when it is a program or a model rather than documents; NULL when it is
 * not. Waits for its first bytes. */
const void *stream_source(Stream *s, InputKind *kind, size_t *n);
/* The next document, or NULL at the end. An empty input has no documents. The bins of a document
 * are valid until the next call. */
Graph *stream_next(Stream *s, int flags);
/* Drops the pages of a mapped file from memory; they are read again when touched. */
void stream_rest(const Stream *s);
size_t stream_count(const Stream *s);                        /* documents read so far */
const char *stream_name(
	const Stream *s); /* for messages: the path, "standard input", the endpoint */
/* Writes whole documents to standard output (NULL, "-"), an endpoint or a file. */
void stream_write(const char *to, const Graph *g);
void stream_put(const char *to, const void *p, size_t n);   /* the same for bytes */
/* Opens the output early: a file before the walls, an endpoint so that its reader gets an end even
 * if nothing is written. */
void stream_out_open(const char *to);
bool stream_writes(void);        /* to an endpoint */
/* Flushes and ends the output; dies if the last bytes cannot be written. */
void stream_out_close(void);

/* ---- paths.c: paths in documents */

/* The folder of a file that may not be there yet, absolute and without links; NULL when there is no
 * such folder. The caller frees it. */
char *path_folder(const char *file);
/* The same, but NULL for the working folder: what its documents' paths are relative to anyway. */
char *path_other_folder(const char *file);
/* An absolute path for one that is relative to the working folder. */
const char *path_whole(const char *path);
/* The path relative to a folder, which is as path_folder gives it; absolute where the two have no
 * folder in common. */
const char *path_from_folder(const char *folder, const char *path);

/* ---- private.c: folders of the user's from which no document gets anything */

/* Opens a file for reading; -1 and errno, which is EKEYREJECTED for one in such a folder. */
int file_open_public(const char *path, int how);

/* ---- files.c: whole files */

/* A whole file that the user names, mapped read-only, or what a pipe, standard input ("-") or an
 * endpoint gives; dies when it cannot be opened. */
const void *file_map(const char *path, size_t *n);
/* The same for a file that a document names: it has to be a regular one (else MALFORMED), is not
 * waited for, and is none of the user's secrets (else UNSUPPORTED). data_open gives its descriptor
 * and size. */
const void *data_map(const char *path, size_t *n);
/* From now on data_map gives these bytes, which stay the caller's, for a name that is no path:
 * what came over a pipe. data_given: the number of such bytes, -1 when the name has none. */
void data_give(const char *name, const void *p, size_t n);
int64_t data_given(const char *name);
int data_open(const char *path, int64_t *n);
/* n bytes of an open file from `at` on, and their XXH3. */
typedef struct { int fd; const char *path; int64_t at; size_t n; uint64_t hash; } DataPart;
/* Sets the hashes of parts, which are not mapped; threads share them. Dies when one cannot be
 * read. */
void data_hash_parts(DataPart *part, size_t n);
/* A hash as a document has it: in hexadecimal digits. */
const Val *data_hash_text(uint64_t hash);
/* Dies with MALFORMED when the n bytes at p, those that `file` = [path, offset, bytes, hash] of a
 * BUFFER names, have another hash; without one, anything is right. */
void data_check(const Val *file, const void *p, size_t n);
/* A part of a file, mapped read-only from an offset that is a multiple of the page's size; NULL
 * when it cannot be. When the file becomes shorter the process ends with MALFORMED, naming the
 * file. */
void *file_part(int fd, const char *name, int64_t at, size_t n);
/* Writes bytes to path atomically, through a temporary file and rename. */
void file_write(const char *path, const void *p, size_t n);
/* A file that gets its name when it is whole: output_open gives what to write to; output_end gives
 * it the name or (!keep) removes it, and process.output_end does so where this process may not. */
int output_open(const char *path);
void output_end(bool keep);
/* In a process that was forked since: it is this one's to end. */
void output_inherit(void);
/* From files_hold on no file that file_write has written gets its name, until files_release gives
 * it to all; a process that ends before leaves none, and none of the folders that folder_new has
 * made. */
void files_hold(void);
void files_release(void);
void folder_new(const char *path);                          /* it may be there */
/* Some of what is to be read, 0 at the end; all of what is to be written. Die when they cannot. */
size_t file_get(int fd, void *to, size_t n);
void file_put(int fd, const char *name, const void *p, size_t n);

/* ---- mark.c: what this user's own tools made or proved */

/* Puts the mark of this user into g.meta, and the hash of each object beside it. Without a secret
 * there is no mark. */
Graph *mark_put(Graph *g);
/* The same for a document that this process has proved (order: also the order in which items touch
 * memory), which it hands to a stage that it starts; whether g has a mark that says so. */
void mark_put_proved(Graph *g, bool order);
bool mark_proved(const Graph *g, bool order);
/* Dies with UNSUPPORTED when g is a program that may not be executed: one without this user's mark,
 * or from a socket, and no --allow-code. False when that option alone allows it. */
bool code_check(const Graph *g);

/* ---- endpoint.c, curve.c: ZeroMQ, loaded when an endpoint is used */

/* Makes a pair of keys in a folder (NULL: the usual one); returns the public one. */
const char *keys_make(const char *folder);

bool endpoint_is(const char *name);                          /* has "://" */
void *endpoint_in(const char *name);                         /* binds */
/* The next message, valid until the next call; false at the end. */
bool endpoint_get(void *e, const void **p, size_t *n);
/* connects; sends an end mark when the process dies */
void *endpoint_out(const char *name);
void endpoint_put(void *e, const void *p, size_t n);
/* sends the end mark and waits until all is delivered */
void endpoint_close(void *e);
#endif
