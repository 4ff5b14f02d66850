/* The arena: memory and state that live as long as the current documents.
 *
 *     static ARENA Map shapes;        a cache: empty after arena_reset, its memory freed
 *
 * ARENA puts a variable into a section of its own in the program, which arena_reset sets to zero as
 * a whole: declaring such state registers it. Containers (VEC, Map, TABLE, Buf) declared ARENA take
 * their memory from the arena, so nothing has to be freed by hand. */
#include "base/base.h"
#include <stdlib.h>

/* the ends of the section, defined by the linker */
extern char __start_arena[], __stop_arena[];

/* Chunks double up to 16 MiB; large pieces and growing blocks have chunks of their own. */
typedef struct Chunk Chunk;
struct Chunk { Chunk *next, *prev; size_t used, cap; };
enum { HEAD = 32, CHUNK_MIN = 1 << 16, CHUNK_MAX = 1 << 24 };
static ARENA struct { Chunk *top; size_t size; } chunks;

static Chunk *chunk_new(size_t cap)
{
	Chunk *c = pages_new(HEAD + cap);
	c->cap = cap;
	return c;
}

/* Adds a new chunk, which is filled next. */
static void add_on_top(Chunk *c)
{
	c->next = chunks.top;
	if (c->next)
		c->next->prev = c;
	chunks.top = c;
}

/* Adds a full chunk: the one on top is still being filled. */
static void add_below(Chunk *c)
{
	Chunk *top = chunks.top;
	c->used = c->cap;
	if (!top) {
		add_on_top(c);
		return;
	}
	c->prev = top;
	c->next = top->next;
	if (c->next)
		c->next->prev = c;
	top->next = c;
}

void *arena_alloc(size_t n)
{
	n = (n + 15) & ~(size_t)15;
	Chunk *top = chunks.top;
	if (!top || top->cap - top->used < n) {
		size_t size = chunks.size ? chunks.size : CHUNK_MIN;
		if (n > size / 4) {
			add_below(top = chunk_new(n));
			return (char *)top + HEAD;
		}
		add_on_top(top = chunk_new(size - HEAD));
		chunks.size = size < CHUNK_MAX ? size * 2 : size;
	}
	void *p = (char *)top + HEAD + top->used;
	top->used += n;
	return p;
}

void *arena_block(size_t n)
{
	Chunk *c = chunk_new(n);
	add_below(c);
	return (char *)c + HEAD;
}

static Chunk *take_out(void *block)
{
	Chunk *c = (Chunk *)((char *)block - HEAD);
	if (c->next)
		c->next->prev = c->prev;
	*(c->prev ? &c->prev->next : &chunks.top) = c->next;
	c->next = c->prev = NULL;
	return c;
}

/* The block with n bytes; those beyond its old size are uninitialized. */
static void *block_grow(void *block, size_t n)
{
	if (!block)
		return arena_block(n);
	Chunk *c = take_out(block);
	c = pages_grow(c, HEAD + c->cap, HEAD + n);
	c->cap = n;
	add_below(c);
	return (char *)c + HEAD;
}

void arena_release(void *p)
{
	if (!p)
		return;
	Chunk *c = take_out(p);
	pages_free(c, HEAD + c->cap);
}

char *arena_strdup(const char *s)
{
	size_t n = strlen(s) + 1;
	return memcpy(arena_alloc(n), s, n);
}

char *arena_printf(const char *fmt, ...)
{
	char text[256], *s;             /* most texts are shorter, and formatted once */
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	s = arena_alloc(n + 1);
	if (n < (int)sizeof text)
		memcpy(s, text, n + 1);
	else
		vsnprintf(s, n + 1, fmt, again);
	va_end(again);
	return s;
}

/* ---- containers, in the arena or not, depending on where their owner is */

static bool in_arena(const void *owner)
{
	return (const char *)owner >= __start_arena && (const char *)owner < __stop_arena;
}

void *owned_zeros(const void *owner, size_t n)
{
	return in_arena(owner) ? arena_block(n) : xcalloc(1, n);
}

void *owned_grow(const void *owner, void *p, size_t n)
{
	return in_arena(owner) ? block_grow(p, n) : xrealloc(p, n);
}

void owned_free(const void *owner, void *p)
{
	if (in_arena(owner))
		arena_release(p);
	else
		free(p);
}

/* ---- the whole arena */

void *arena_aside(void)
{
	Chunk *all = chunks.top;
	memset(__start_arena, 0, __stop_arena - __start_arena);
	return all;
}

void arena_drop(void *aside)
{
	for (Chunk *c = aside, *next; c; c = next) {
		next = c->next;
		pages_free(c, HEAD + c->cap);
	}
}

void arena_reset(void) { arena_drop(arena_aside()); }
