/* The foundation of every file: failing, memory, containers, values. Sections follow the files. */
#ifndef COMMON_BASE_BASE_H
#define COMMON_BASE_BASE_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

/* ---- die.c: the one way to fail ------------------------------------------------------------ */

/* Exit statuses of every tool (contract, section 4). FAILED_APART: FAILED where 1 is a result. */
enum { DONE = 0, FAILED = 1, USAGE = 2, UNSUPPORTED = 3, MALFORMED = 4, FAILED_APART = 5 };

/* How a file is opened for reading: waiting for the other end of a FIFO, or not, or as own_open. */
enum { OPEN_WAIT, OPEN_NOW, OPEN_OWN };

typedef struct Buf Buf;

/* State of the whole process. */
typedef struct {
	const char *stage;      /* name of the running tool; set once by stage_begin */
	const char *where;      /* when set, put before a message: "file:line:col" of a front end */
	/* when set, printed after the message on a terminal: a source line and a caret */
	const char *context;
	/* when set, hears of a failure before its line is printed, and may end the process itself:
	 * where and text, fit for a line of text */
	void (*refused)(int status, const char *where, const char *text);
	int failed;             /* the status for FAILED in a tool whose 1 is a result; or 0 */
	int *told;              /* when set, shared with processes that end together: the first to
				   die sets it, and prints the line for all */
	const char *input;      /* -i ENDPOINT, or NULL */
	/* --keys: the folder of this user's keys for tcp; --peer: the other side's; or NULL */
	const char *keys, *peer;
	bool verbose;           /* -v */
	bool drawn;             /* a line of progress stands on the terminal (progress.h) */
	bool open, confined;    /* --no-walls: not to be confined; it is (confine.c) */
	/* when set, opens files for reading, since this process may not; -1 and errno */
	int (*opener)(const char *path, int how);
	/* when set, gives what was written by output_open its name, or removes it (io/files.c) */
	void (*output_end)(bool keep);
	/* makes documents of a program or a model, whose bytes are not looked at here */
	void (*trace)(const void *p, size_t n, Buf *out);
	bool from_socket;       /* the document at hand came over an endpoint */
	const char *folder;     /* of the file that it came from; NULL: the working folder */
	size_t memory_limit;    /* --limit mem=…, in bytes; 0: as much as the machine gives */
	bool custom_allowed;    /* --allow-custom: without it a CUSTOM is refused, status 3 */
	bool guard;             /* --guard: places that cannot be proved get gates */
	bool own_made;          /* the document at hand comes from stages of the project's that this
				   process has started */
	bool code_allowed;      /* --allow-code: a program that carries no mark is executed */
} Process;
extern Process process;

/* Prints "stage: [where: ]message" as one line of at most 1000 bytes, control characters escaped,
 * on standard error, runs the registered cleanups and exits with status. */
_Noreturn void die(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same, and errno's text after a colon. Status FAILED. */
_Noreturn void die_errno(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Exits like die, but prints nothing: another process has reported the cause. */
_Noreturn void die_silent(int status);
/* A bug in the project itself: prints file and line, exits with FAILED. */
_Noreturn void die_bug(const char *file, int line, const char *what);
#define CHECK(c) ((c) ? (void)0 : die_bug(__FILE__, __LINE__, #c))
/* One line on standard error, same form as die, without exiting. */
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* fn(arg) runs when die exits (tells a peer). */
void die_cleanup(void (*fn)(void *), void *arg);

/* ---- leftovers.c: what goes when the process ends before its time --------------------------- */

/* The path is removed when the process exits, dies, or is ended by SIGINT, SIGTERM or SIGHUP: a
 * file, an empty folder, or (whole) a folder with the files in it. The path is copied. */
void leftover_add(const char *path, bool whole);
/* A new file by a template as mkstemp's, which is such a leftover from its first moment: its
 * descriptor, or -1 and errno. */
int leftover_make(char *template);
/* The same for a folder, by mkdtemp; whether it could be made. */
bool leftover_folder(char *template);
/* It stays: it is complete, or has been removed. */
void leftover_drop(const char *path);
/* A child has been started, or (!runs) has been reaped: such a signal ends it too. */
void leftover_child(pid_t pid, bool runs);
void leftovers_remove(void);
void leftovers_forget(void);    /* in a child that was forked: all that is its parent's */
/* Stops the children and removes all; may be called in a signal handler. */
void leftovers_leave(void);
/* a folder and the files in it, without those below */
void folder_remove(const char *path);

/* ---- limits.c: what a document may take ------------------------------------------------------ */

/* In bytes, seconds, steps; 0: none. memory 0 is most of the machine's. socket_time is for each
 * document that came over an endpoint, when time is 0; wait is how long a peer may say nothing. */
typedef struct {
	double memory, time, work, socket_time, wait;
	bool none;
	size_t machine;                 /* memory_most(), once it is known */
} Limits;
extern Limits limits;
/* Reads "mem=2G,time=60,work=1e15"; dies with USAGE. */
void limits_read(const char *list);
/* From here on memory is limited, and the time of the first document runs. */
void limits_apply(void);
/* The limit of memory in bytes, when it is what n more bytes meet; else 0. */
size_t limits_memory(size_t n);
/* A document begins, or (!begins) nothing is worked on. */
void limits_time(bool begins);
/* Dies with MALFORMED when a call of so many steps is more than the limit. */
void limits_work(double steps);

/* ---- arena.c: memory and state of the current documents ------------------------------------ */

/* Memory from the arena: zeroed, 16-byte aligned, freed only by arena_reset. Never NULL. */
void *arena_alloc(size_t bytes);
/* The same, as a block that can be released earlier, by arena_release (NULL: nothing). */
void *arena_block(size_t bytes);
void arena_release(void *block);
char *arena_strdup(const char *s);
char *arena_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* static ARENA Map seen; a variable that arena_reset sets to zero: use it for whatever refers to
 * nodes or other memory in the arena, and for caches that may be dropped with it. A VEC, Map, TABLE
 * or Buf declared so (or a part of such a variable) takes its memory from the arena too. No initial
 * value. */
#define ARENA __attribute__((section("arena")))
/* Drops every node, value and shape, and all variables declared ARENA: called between two documents
 * of a stream. */
void arena_reset(void);
/* The same, but the old content can still be read, to be copied, until arena_drop of the result. */
void *arena_aside(void);
void arena_drop(void *aside);
/* The containers' memory: from the arena for an owner declared ARENA, else from malloc. _zeros:
 * zeroed; _grow: as realloc. */
void *owned_zeros(const void *owner, size_t n);
void *owned_grow(const void *owner, void *p, size_t n);
void owned_free(const void *owner, void *p);

/* ---- util.c: growing arrays, string buffers, checked sizes, hash map ------------------------ */

/* malloc family that dies on failure; for memory that outlives or outgrows the arena. */
void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n);
/* at a multiple of align, a power of two; freed with free */
void *xaligned(size_t align, size_t n);
/* There is none for `what` of n bytes: MALFORMED when a limit stops it, FAILED when the machine has
 * no more. */
_Noreturn void die_memory(const char *what, size_t n);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
/* Zeroed memory for large tables, on large pages where available; freed with its size. */
void *pages_new(size_t n);
void *pages_grow(void *p, size_t had, size_t n);              /* new bytes are uninitialized */
void pages_free(void *p, size_t n);
/* The most bytes that this process can have: memory and swap, the limit of its control group, or
 * its own. */
size_t memory_most(void);

/* A growing array: VEC(int) v = {0}; vec_push(&v, 3); v.at[i]; v.n; vec_free(&v). */
#define VEC(T) struct { T *at; size_t n, cap; }
#define vec_push(v, x) \
	((v)->n == (v)->cap ? vec_grow((void **)&(v)->at, &(v)->cap, sizeof *(v)->at) : (void)0, \
		(v)->at[(v)->n++] = (x))
#define vec_free(v) (owned_free((v), (v)->at), (v)->at = NULL, (v)->n = (v)->cap = 0)
void vec_grow(void **at, size_t *cap, size_t size);

/* A string buffer; s is always NUL-terminated after the first call (buf_str never returns NULL). */
struct Buf { char *s; size_t n, cap; };
void buf_add(Buf *b, const void *bytes, size_t n);
void buf_printf(Buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* the same with its arguments in ap */
void buf_vprintf(Buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
const char *buf_str(Buf *b);
void buf_free(Buf *b);
/* Its text, in the arena; frees it. */
const char *buf_keep(Buf *b);

/* Products and sums of sizes; return false on overflow beyond int64. */
static inline bool mul_ok(int64_t a, int64_t b, int64_t *r)
{
	return !__builtin_mul_overflow(a, b, r);
}
static inline bool add_ok(int64_t a, int64_t b, int64_t *r)
{
	return !__builtin_add_overflow(a, b, r);
}

/* Open-addressing map from a 64-bit key (a pointer, an id, a hash that is good enough) to a
 * pointer. Map m = {0}; map_get returns NULL when absent. Putting NULL removes the key. */
typedef struct { uint64_t *key; void **val; size_t n, cap; } Map;
void *map_get(const Map *m, uint64_t key);
void map_put(Map *m, uint64_t key, void *val);
void map_free(Map *m);
#define PKEY(p) ((uint64_t)(uintptr_t)(p))

/* XXH3, for tables that compare what they find; where equal hashes mean equal content: secret.c */
uint64_t hash_bytes(const void *p, size_t n, uint64_t seed);
/* h is scrambled before x comes to it: both may be ids or places, which differ by little. */
static inline uint64_t hash_mix(uint64_t h, uint64_t x)
{
	h = (h + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
	h = (h ^ h >> 29 ^ x) * 0xff51afd7ed558ccdu;
	return h ^ h >> 32;
}

/* ---- nearest.c: the name that somebody may have meant --------------------------------------- */

/* Nearest n = {.word = given}; nearest_try for each name there is (which must live on), and then
 * nearest_hint: "; did you mean 'fold'?", or "" when none is like it. */
typedef struct { const char *word, *name; size_t edits; } Nearest;
void nearest_try(Nearest *n, const char *name);
const char *nearest_hint(const Nearest *n);

/* Monotonic clock in milliseconds. */
double now_ms(void);

/* ---- secret.c: BLAKE2b-256, plain or with the user's secret; the user's own files ------------ */

typedef struct { uint8_t b[32]; } Digest;
typedef struct { char s[65]; } DigestText;      /* hexadecimal digits */
typedef struct { _Alignas(64) uint8_t state[384]; } Hash;
/* begin, add …, end. The purpose is hashed too, so that a hash for one is none for another. */
void hash_begin(Hash *h, const char *purpose);
/* The same with the user's secret: only this user's processes can make that hash. False when there
 * is no secret. */
bool hash_begin_secret(Hash *h, const char *purpose);
void hash_add(Hash *h, const void *p, size_t n);
Digest hash_end(Hash *h);
Digest digest_of(const char *purpose, const void *p, size_t n);
bool digest_same(const Digest *a, const Digest *b);
DigestText digest_text(const Digest *d);
/* A regular file that the user or root owns and nobody else may write, opened for reading without
 * following a link; -1, and errno, for anything else. */
int own_open(const char *path);
/* The hash of a file's bytes; false when it cannot be read. */
bool file_digest(int fd, const char *purpose, Digest *d);
/* NULL when the user has a secret, which is made at first use; else why there is none. */
const char *secret_missing(void);

/* ---- val.c: args, notes, meta: immutable interned values of msgpack's kinds ------------------ */

typedef enum {
	VAL_NIL,
	VAL_BOOL,
	VAL_INT,
	VAL_UINT,
	VAL_FLOAT,
	VAL_STR,
	VAL_BIN,
	VAL_ARRAY,
	VAL_MAP
} ValKind;
typedef struct Val Val;
struct Val {
	ValKind kind;
	uint32_t seq;               /* order of creation */
	size_t n;                   /* bytes of STR and BIN, elements of ARRAY, pairs of MAP */
	uint64_t hash;
	union {
		bool b;
		int64_t i;          /* VAL_INT: any integer that fits int64 */
		uint64_t u;         /* VAL_UINT: only a value that does not fit int64 */
		double f;           /* compared and interned by its bits */
		const char *s;      /* STR (NUL-terminated too; may hold NULs within n) and BIN */
		const Val *const *a; /* ARRAY: n; MAP: 2n, key then value, in document order */
	};
};
/* Equal values are one Val: compare with ==. */
extern const Val val_nil;      /* a NULL const Val * is never a Val: nil is &val_nil */
#define VNIL (&val_nil)
const Val *val_bool(bool b);
const Val *val_int(int64_t i);
const Val *val_uint(uint64_t u);
const Val *val_float(double f);
const Val *val_str(const char *s);
const Val *val_strn(const char *s, size_t n);
const Val *val_bin(const void *p, size_t n);      /* refers to p, which must live on; not copied */
const Val *val_array(size_t n, const Val *const *a);
const Val *val_map(size_t n, const Val *const *kv);
/* VARR(val_int(1), val_str("a")) */
#define VARR(...) \
	val_array(sizeof((const Val *[]){__VA_ARGS__}) / sizeof(Val *), \
		(const Val *[]){__VA_ARGS__})
/* VMAP(val_str("name"), v, …): keys and values alternate */
#define VMAP(...) \
	val_map(sizeof((const Val *[]){__VA_ARGS__}) / sizeof(Val *) / 2, \
		(const Val *[]){__VA_ARGS__})
const Val *val_ints(size_t n, const int64_t *v);
/* The value at a string key, or NULL (also when m is not a map). */
const Val *val_get(const Val *m, const char *key);
/* m with key set to v (m may be nil); with v NULL, without key. */
const Val *val_set(const Val *m, const char *key, const Val *v);
static inline bool val_is_str(const Val *v, const char *s)
{
	return v && v->kind == VAL_STR && v->n == strlen(s) && !memcmp(v->s, s, v->n);
}
/* Text of a value as the text form has it (JSON-like; NaN, inf; b"hex" for bin). */
void val_print(Buf *out, const Val *v);
#endif
