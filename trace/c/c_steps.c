/* Loops and branches of a program in C whose turns and conditions are data.
 *
 *     WHILE(greater(err, 1e-9), &x, &err) { … }      tensor.h runs the body once:
 *
 *     .while(err > 1e-9, x, err)    →   a step; .now(step, k) gives what each variable is in a turn
 *     .step(step, err > 1e-9, x, err)   →   LOOP; .now(step, k): what it is behind the loop
 *
 * The body of an IF runs twice, once for each branch. */
#include "text/text.h"
#include "c/c_program.h"

typedef struct { Value before, added; } Appended;
typedef struct {
	const char *word;
	SluicePlace at;
	Turns *turns;           /* NULL: a branch */
	Branches b;
	StepsMark begun;        /* of a branch */
	int bodies;             /* that have been made */
	size_t made, n;         /* the values before the body; how many variables */
	Value *init, *turn, *then, *now;
	VEC(Appended) list;
} Step;

/* all steps of the program, and those whose bodies are being made */
static ARENA VEC(Step *) steps, open;

void steps_closed(void)
{
	if (!open.n)
		return;
	const Step *s = open.at[open.n - 1];
	process.where = c_place_text(s->at);
	die(MALFORMED, "the body of %s was left by return or goto", s->word);
}

static Value given_or_unset(SluiceValue v)
{
	return v.id ? *c_value(v) : (Value){.kind = V_UNSET};
}

static Step *step_of(SluiceValue v)
{
	const Value *id = c_value(v);
	if (id->kind != V_NUMBER || id->i < 0 || (size_t)id->i >= steps.n)
		die(MALFORMED, "a step that is none");
	return steps.at[id->i];
}

/* The step, which is the innermost one. */
static Step *innermost(SluiceValue v)
{
	Step *s = step_of(v);
	if (!open.n || open.at[open.n - 1] != s)
		steps_closed();
	return s;
}

/* ---- beginning */

static UOp *condition(SluiceValue v)
{
	const Value *c = c_value(v);
	UOp *u = value_condition(c, "the condition");
	return u ? u : const_int(DT_BOOL, value_truth(c, "the condition"));
}

static SluiceValue begin(Step *s, const Words *w)
{
	Value id = v_int((int64_t)steps.n);
	s->at = c_place();
	s->n = w->n - 1;
	s->init = arena_alloc((s->n + 1) * sizeof(Value));
	s->turn = arena_alloc((s->n + 1) * sizeof(Value));
	s->then = arena_alloc((s->n + 1) * sizeof(Value));
	for (size_t k = 0; k < s->n; k++) {
		s->init[k] = s->turn[k] = given_or_unset(w->arg[k + 1]);
		if (s->turns && s->init[k].kind == V_UNSET)
			die(MALFORMED, "variable %zu of %s has no value before it", k + 1, s->word);
		if (s->turns && !turns_carries(&s->init[k]))
			die(MALFORMED, "variable %zu of %s is %s", k + 1, s->word,
				value_text(&s->init[k]));
		if (s->turns)
			s->turn[k] = turns_state(s->turns, &s->init[k], NULL);
	}
	s->now = s->turn;
	vec_push(&steps, s);
	vec_push(&open, s);
	SluiceValue v = c_given(&id);
	s->made = c_values();
	return v;
}

static Step *step_new(const char *word, const Words *w)
{
	if (!w->n)
		die(MALFORMED, "%s without what it goes by", word);
	Step *s = arena_alloc(sizeof *s);
	s->word = word;
	return s;
}

SluiceValue word_loop(const Words *w)
{
	Step *s = step_new("LOOP", w);
	UOp *limit = turns_limit(c_value(w->arg[0]));
	if (!limit)
		die(MALFORMED, "the turns of LOOP are %s, expected an integer",
			value_text(c_value(w->arg[0])));
	s->turns = turns_new(limit, NULL);
	return begin(s, w);
}

SluiceValue word_while(const Words *w)
{
	Step *s = step_new("WHILE", w);
	s->turns = turns_new(NULL, condition(w->arg[0]));
	return begin(s, w);
}

SluiceValue word_if(const Words *w)
{
	Step *s = step_new("IF", w);
	s->b.cond = condition(w->arg[0]);
	s->begun = steps_enter();
	return begin(s, w);
}

/* ---- in the body */

SluiceValue word_turn(const Words *w)
{
	Value turn = turns_turn(innermost(w->arg[0])->turns);
	return c_given(&turn);
}

SluiceValue word_append(const Words *w)
{
	Step *s = innermost(w->arg[0]);
	size_t k = (size_t)c_value(w->arg[1])->i;
	Value x = *c_value(w->arg[3]), one = v_list(1, &x), none = v_list(0, NULL);
	if (!s->turns)
		die(MALFORMED, "APPEND stands in the body of a loop itself, not in a branch");
	if (k == s->list.n) {
		Value before = w->arg[2].id ? *c_value(w->arg[2]) : none;
		if (before.kind != V_LIST && before.kind != V_ROWS)
			die(MALFORMED, "APPEND to %s, which is no list", value_text(&before));
		vec_push(&s->list, ((Appended){before, turns_extends(s->turns)}));
	}
	lists_join(&s->list.at[k].added, &one, &s->list.at[k].added);
	return c_given(&none);
}

SluiceValue word_left(const Words *w)
{
	die(MALFORMED, "the body of %s was left by break; make it part of the condition",
		innermost(w->arg[0])->word);
}

/* ---- behind it */

static void end_loop(Step *s, UOp *next)
{
	for (size_t k = 0; k < s->n; k++)
		if (!turns_next(s->turns, &s->turn[k], &s->now[k]))
			die(MALFORMED, "variable %zu of %s is %s before it, and %s behind a turn",
				k + 1, s->word, value_text(&s->init[k]), value_text(&s->now[k]));
	for (size_t k = 0; k < s->list.n; k++)
		turns_extended(s->turns, &s->list.at[k].added);
	turns_end(s->turns, next);
	for (size_t k = 0; k < s->n; k++)
		s->now[k] = turns_last(s->turns, &s->turn[k]);
}

static void end_branches(Step *s)
{
	Value *merged = s->turn;
	steps_leave(s->begun);
	for (size_t k = 0; k < s->n; k++) {
		bool one = s->then[k].kind == V_UNSET || s->now[k].kind == V_UNSET;
		if (one || !branch_merge(&s->b, &s->then[k], &s->now[k], &merged[k]))
			die(MALFORMED,
				"variable %zu of IF is %s in one branch, and %s in the other",
				k + 1, value_text(&s->then[k]), value_text(&s->now[k]));
	}
	branch_end(&s->b);
	for (size_t k = 0; k < s->n; k++)
		s->now[k] = branch_value(&s->b, &merged[k]);
	branch_free(&s->b);
}

SluiceValue word_step(const Words *w)
{
	Step *s = innermost(w->arg[0]);
	Value none = v_none();
	if (w->n != s->n + 2)
		die(MALFORMED, "%s: %zu variables, not %zu", s->word, w->n - 2, s->n);
	UOp *next = w->arg[1].id ? condition(w->arg[1]) : NULL;
	s->now = arena_alloc((s->n + 1) * sizeof(Value));
	for (size_t k = 0; k < s->n; k++)
		s->now[k] = given_or_unset(w->arg[k + 2]);
	c_close(s->made, s->at);
	s->made = c_values();
	if (s->turns) {
		end_loop(s, next);
	} else if (!s->bodies++) {
		memcpy(s->then, s->now, s->n * sizeof *s->now);
		s->now = s->init;
		return c_given(&none);
	} else {
		end_branches(s);
	}
	open.n--;
	return c_given(&none);
}

SluiceValue word_now(const Words *w)
{
	Step *s = step_of(w->arg[0]);
	size_t k = (size_t)c_value(w->arg[1])->i;
	if (k >= s->n + s->list.n)
		die(MALFORMED, "%s has no variable %zu", s->word, k);
	if (k < s->n)
		return s->now[k].kind == V_UNSET ? (SluiceValue){0} : c_given(&s->now[k]);
	const Appended *a = &s->list.at[k - s->n];
	Value all = turns_list(s->turns, k - s->n, &a->before, &a->added);
	return c_given(&all);
}
