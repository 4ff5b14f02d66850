/* Parts of the comparison of two documents. Sections follow the files. */
#ifndef COMMON_EQUAL_PARTS_H
#define COMMON_EQUAL_PARTS_H
#include "interp/interp.h"
#include "interp/elements.h"
#include "equal/equal.h"

/* A good mixture of two words (splitmix64's finalizer). */
static inline uint64_t equal_mix(uint64_t a, uint64_t b)
{
	uint64_t x = a * UINT64_C(0x9e3779b97f4a7c15) + b + UINT64_C(0x632be59bd9b4e019);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* ---- field.c: floats as elements of a prime field */

#define WORD_NEGATIVE_INF (UINT64_MAX - 2)
#define WORD_INF (UINT64_MAX - 1)
#define WORD_NAN UINT64_MAX
extern const Arithmetic field_arithmetic;
/* Draws the uninterpreted functions and the order anew; true_order: the one of small integers. */
void field_key(uint64_t key, bool true_order);
/* How many values were drawn, quotients taken and decisions made since then. */
uint64_t field_drawn(void);
/* Whether two elements got the same bits since then, so that what goes by bits takes them for one:
 * what differs may be equal, and what is equal differ. */
bool field_collided(void);
/* n floats as words. */
void field_words(DType dt, const void *from, size_t n, uint64_t *to);
/* The element that 64 random bits stand for; an integer's. */
uint64_t field_random(uint64_t bits);
uint64_t field_integer(int64_t i);

/* ---- rounding.c: elements of the field of which some are rounded */

/* The last one is no class: the product of a MULACC is one of the products. */
enum { ROUND_SUMS = 1, ROUND_PRODUCTS = 2, ROUND_QUOTIENTS = 4, ROUND_CASTS = 8,
	ROUND_UNFUSED = 16 };
extern const Arithmetic rounding_arithmetic;
/* Which of these are rounded. */
void rounding_of(unsigned classes);
/* Whether floats are elements of the field now, rounded or not. */
bool over_field(void);

/* ---- degree.c: how high the degree is of what is computed, in the inputs and in what is drawn */

extern const Arithmetic degree_arithmetic;
/* The highest so far; begins anew. */
double degree_most(void);
uint64_t degree_word(double degree);

/* ---- sample.c: sizes and inputs, drawn by name, so that both documents get the same */

/* How inputs are drawn: uniformly from the field, from the integers -3 … 3 (both of them words),
 * or IEEE floats and integers with edge values among them; or of degree 1. */
typedef enum { DRAW_FIELD, DRAW_SMALL, DRAW_EDGES, DRAW_DEGREES } DrawKind;
typedef struct {
	DrawKind kind;
	uint64_t seed;
	/* of DRAW_EDGES: the input in which one element is the greatest there is, with no other
	 * edge in any; NULL: all other edges */
	const char *greatest;
	bool tiny;      /* the smallest normal and subnormal numbers are among the edges */
	bool rough;     /* no edges: digits to the end, and some numbers beyond f16 */
	bool zeros;     /* the sign of 0 is compared */
	bool calm;      /* neither infinities nor NaN are among the edges */
	/* the BINDs of the first document whose size is an input, which is drawn within the bounds
	 * that they have at these sizes; NULL: none */
	const NodeList *binds;
	const VarEnv *env;
} Draw;
/* Fills an input's array. */
void sample_input(const Draw *d, const UOp *buffer, Array *a);

/* ---- ask.c: what is asked of a document before it is run */

/* How many choices of sizes there is time for: as many as few enough steps come of. */
int affordable_rounds(const Graph *g);
/* How many draws of edge values: few elements need many before each of them has been at the edge;
 * many need few. */
int edge_points(const Graph *g, int rounds);
/* The name of input number k, or NULL. */
const char *input_number(const Graph *g, int k);
/* Whether g has a MAX or MIN: of 0 and -0 either may be the greater. */
bool chooses(const Graph *g);
/* The BINDs whose size is an input. */
NodeList input_binds(const Graph *g);
/* Whether g has steps whose sizes and branches are data, at any level. */
bool is_stepped(const Graph *g);

/* ---- execute.c: a document run by the interpreter, in the current arithmetic */

/* A buffer's content and, of an output, the name of what wrote it. */
typedef struct { const char *name; Array at; const UOp *by; uint32_t call; } Named;
typedef VEC(Named) NamedList;
/* What a call of a kernel wrote: the buffer's name and a hash of its content. */
typedef struct { const char *buffer; const UOp *by; uint32_t call; uint64_t hash; } Write;
/* What steps whose sizes and branches are data went by in a call (interp/elements.h). */
typedef VEC(int64_t) StepValues;
typedef struct {
	NamedList out, state;
	VEC(Write) writes;
	StepValues steps;
	const StepValues *given;        /* what they go by in place of their own; NULL: their own */
	const char *stopped;            /* why the last call ended early; NULL: it did not */
	bool tired;                     /* since it takes too many turns, or too large a size */
	bool patient;                   /* it may take some more than another */
} Execution;
/* Calls g once more: states in e are kept, outputs replaced. Dies with UNSUPPORTED for a CUSTOM; a
 * document with steps that dies otherwise has stopped. */
void execute(const Graph *g, const VarEnv *env, const Draw *d, Execution *e);
void execution_free(Execution *e);
const Named *named_find(const NamedList *l, const char *name);

/* One call. */
typedef struct {
	const Graph *g;
	VarEnv env;
	const Draw *draw;
	Execution *e;
	VEC(Array) own;         /* freed at the end */
	Map at;                 /* BUFFER → Array, at levels after graph */
	char *workspace;
} Run;
/* What a BUFFER begins with, in memory that the run frees. */
Array run_content(Run *r, UOp *buffer);
/* Zeros, for a BUFFER or PARAM at today's sizes. */
Array empty_array(const Run *r, const UOp *u);
void run_noise(const Run *r, Array *a);
Array *buffer_at(const Run *r, const UOp *buffer);
/* Runs a CALL or MEMCPY, and notes what it writes. */
void run_entry(Run *r, UOp *entry, uint32_t number);
void note_write(const Run *r, const UOp *entry, uint32_t number, const UOp *buffer);

/* ---- list.c: lists with steps besides calls and copies */

void run_list(Run *r);
void list_free(Run *r);

/* ---- follow.c: what steps go by, and documents that stop */

/* Runs fn with what r->e says of steps, and notes in it what they went by and why fn stopped. */
void run_followed(void (*fn)(Run *r), Run *r);

/* ---- normal.c: a document as it is interpreted: constants folded by IEEE arithmetic, laws applied
 */

Graph *equal_normal(const Graph *g);
/* names.c: the op that u is an expansion of, by the name in its note, or u. */
UOp *equal_named(UOp *u);

/* ---- powers.c: what the field cannot tell */

/* Whether documents a and b, which are these in their normal form, may differ over the field though
 * they mean the same. */
bool powers_differ(const Graph *a, const Graph *b, const Graph *normal_a, const Graph *normal_b);
#endif
