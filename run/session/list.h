/* The internals of lists: list.c runs entries, list_parts.c segments, list_table.c has what they
 * share. */
#ifndef LIST_H
#define LIST_H
#include "session/steps.h"

/* A size of what has no elements, as no turn has said it. */
enum { ANY = -1 };

/* A buffer that several segments or steps use, in memory for the sizes that it really has. */
typedef struct {
	const UOp *buffer;      /* as the list has it, or a segment */
	Array a;                /* its sizes; data only of what the caller or the document gives */
	void *mem;              /* on the device: the data itself where it shares memory */
	size_t room, hosted;    /* bytes at mem and at host */
	void *host;             /* a stack that grows for a device with memory of its own */
	bool full;              /* it has been written */
	bool given;             /* by the caller, the document or as a state */
	bool output;            /* of the document */
	const struct Scope *scope, *first;      /* of all its uses; of the first, if it writes */
	size_t last;            /* the last entry of the scope's list that uses it */
} Shared;

/* A buffer of a segment that is a shared one, and where its steps point to it. */
typedef struct { size_t slot; Shared *shared; void *mem; VEC(void **) at; } Place;

/* A segment: a document of its own, and its session once it is first reached. */
typedef struct {
	Graph *g;
	Session *s;
	Inputs in;
	VEC(int) sizes;         /* numbers of the variables that it mentions, but turns */
	int64_t *opened;        /* their values when it was opened */
	bool turns;             /* it mentions a turn */
	VEC(Place) places;
	void *workspace;        /* where its temporaries are */
	size_t number, first;   /* of the kernel calls and of the steps before it */
} Part;

typedef struct { void *mem; size_t room; } Block;

struct List {
	Session *s;
	const Exec *exec;
	Map shared;             /* key of a buffer → Shared */
	Map temps;              /* name → BUFFER of the temporaries */
	VEC(Part *) all;
	const char *names[SIZES_MOST];  /* the document's variables, then those that steps bind */
	VarEnv env;             /* of these; "" for one that is not bound now */
	Map turns;              /* names of the turns' variables */
	struct Entries *top;
	VEC(int64_t) turn;      /* of the loops around what runs, outermost first */
	void *workspace;        /* for the temporaries of any one segment */
	size_t room;
	VEC(Block) free;
	size_t held, most;      /* bytes of all that, now and at most */
	int64_t shareable;      /* work, in ns, that threads could share so far */
};

/* The number of a variable; -1: neither the document nor a step has it. */
int list_variable(const List *l, const Val *name);
_Noreturn void list_fault(const UOp *u, const char *why);

/* ---- list_table.c */

/* The entry for a buffer of the list or of a segment. */
Shared *shared_of(List *l, const UOp *buffer);
/* What it holds, with its sizes; dies where nothing has been written. The content is on the device.
 */
Shared *shared_read(List *l, const UOp *u, Shared *h);
/* Gives it memory for an array of these sizes, whose content is yet to be written. */
void shared_fit(List *l, Shared *h, const Array *a);
/* Its content becomes that of a, which lies on the host. */
void shared_set(List *l, Shared *h, const Array *a);
void shared_copy(List *l, Shared *to, const Shared *from);
/* The content of n bytes, copied to the host. */
void shared_get(const List *l, const Shared *h, void *to, size_t n);
/* Adds a last element along the first axis of a stack; ends it, when the loop does. */
void stack_push(List *l, const UOp *u, Shared *to, const Shared *v);
void stack_end(List *l, Shared *h);
/* Its content is no longer needed. */
void shared_drop(List *l, Shared *h);
/* Memory of the device that counts as the list's. */
void *list_alloc(List *l, size_t bytes);
void list_release(List *l, void *mem, size_t bytes);
/* Takes inputs and states as they are before a call; leaves states as they are after it. */
void shared_begin(List *l);
void shared_end(List *l);
void shared_free(List *l);

/* ---- list_pace.c: whether threads help the turns of a loop */

/* What has been found so far; zeroed at first. */
typedef struct {
	bool alone, trying;     /* what is better; the other is being tried */
	int64_t turns, stretch; /* turns so far in this stretch or trial; the length of a stretch */
	double ms, begin;       /* the time of those; of the last start of the loop's turns */
	double each;            /* ms a turn in the last stretch */
} Pace;
/* Around all turns of a loop. pace_begin returns what pace_end takes. */
bool pace_begin(Pace *p);
void pace_end(Pace *p, bool before);
/* After a turn with work that threads could share. Whether they will share the next one's. */
bool pace_turn(Pace *p);

/* ---- list_parts.c */

/* For segments_map: appends the segment to l->all. */
Graph *part_add(Graph *segment, void *list);
void part_run(List *l, Part *p);
void part_close(List *l, Part *p);
#endif
