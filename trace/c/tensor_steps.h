/* sluice/tensor_steps.h: loops and branches whose turns and conditions are data, in C and C++.
 *
 *     Tensor rows = {0};                        the rows so far: none
 *     LOOP(i, size(x, 0), &h) {                 as often as x has rows
 *             h = tanh(add(at(x, i), matmul(h, w)));
 *             APPEND(rows, h);
 *     }
 *     output("rows", stack(rows));
 *     WHILE(greater(error, 1e-9), &r, &error) { … }
 *     IF(less(r, 0), &r) { r = neg(r); } else { … }
 *
 * The body is executed once while tracing (of an IF, each branch), with symbolic values. The
 * variables given by address are carried: what they are behind a turn is what they are in the
 * next, and, behind the last, after the loop; dtype and shape stay. Other values of a body cannot
 * be used behind it. i is an integer Tensor: 0, 1, … A body cannot be left by break, return or
 * goto. */
#ifndef SLUICE_TENSOR_STEPS_H
#define SLUICE_TENSOR_STEPS_H
#include "tensor_api.h"

#define LOOP(i, turns, ...) \
	SLUICE_STEPS(".loop", 1, SLUICE_GIVEN(turns), SLUICE_UNSET, __VA_ARGS__) \
		for (SLUICE_TENSOR i = SLUICE_TENSOR_OF( \
			     sluice_steps_call(&sluice_steps, ".turn", 0)); \
			!sluice_steps.whole; sluice_steps.whole = true)
#define WHILE(condition, ...) \
	SLUICE_STEPS(".while", 1, SLUICE_UNSET, SLUICE_GIVEN(condition), __VA_ARGS__) \
		for (; !sluice_steps.whole; sluice_steps.whole = true)
#define IF(condition, ...) \
	SLUICE_STEPS(".if", 2, SLUICE_GIVEN(condition), SLUICE_UNSET, __VA_ARGS__) \
		for (; !sluice_steps.whole; sluice_steps.whole = true) \
			if (sluice_steps.body == 1)
/* in the body of a LOOP or WHILE itself: another element of a list, which it is behind the loop */
#define APPEND(list, x) \
	sluice_steps_append(SLUICE_HERE, &sluice_steps, SLUICE_SLOT(&(list)), SLUICE_GIVEN(x))
#define SLUICE_STEPS(word, bodies, by, cond, ...) \
	for (SluiceSteps sluice_steps = sluice_steps_new(SLUICE_HERE, word, bodies, by, \
		     SLUICE_SLOTS(__VA_ARGS__)); \
		sluice_steps_more(&sluice_steps, cond);)
#define SLUICE_SLOTS(...) SLUICE_COUNT(0 __VA_OPT__(,) __VA_ARGS__), \
	SLUICE_SLOT_ARRAY{NULL __VA_OPT__(, SLUICE_COMMA(SLUICE_SLOT, __VA_ARGS__))}

/* ---- a step whose body is being made */

enum { SLUICE_MOST = 64 };
typedef struct {
	SluicePlace at;
	const char *word;
	SluiceValue by, id;             /* the number of turns, or the condition; the step */
	int n, lists, bodies, body;
	bool whole;                     /* the body ran to its end */
	SluiceValue *var[2 * SLUICE_MOST];      /* n variables, and lists behind them */
} SluiceSteps;

static inline SluiceSteps sluice_steps_new(SluicePlace at, const char *word, int bodies,
	SluiceValue by, int n, SluiceValue *const *var)
{
	SluiceSteps s = {at, word, by, {0}, n - 1, 0, bodies, 0, true, {NULL}};
	memcpy(s.var, var + 1, (size_t)s.n * sizeof *var);
	return s;
}

static inline SluiceValue sluice_steps_call(const SluiceSteps *s, const char *word, int64_t k)
{
	SluiceValue arg[2] = {s->id, sluice_api->integer(k)};
	return sluice_api->call(s->at, word, 2, arg);
}

/* Before each body, and behind the last; cond: of a WHILE. Whether there is another body. */
static inline bool sluice_steps_more(SluiceSteps *s, SluiceValue cond)
{
	SluiceValue arg[SLUICE_MOST + 2];
	int n = 0;
	if (!s->whole)
		sluice_steps_call(s, ".left", 0);
	if (s->body)
		arg[n++] = s->id;
	arg[n++] = s->by.id && !s->body ? s->by : cond;
	for (int k = 0; k < s->n; k++)
		arg[n++] = *s->var[k];
	SluiceValue v = sluice_api->call(s->at, s->body ? ".step" : s->word, n, arg);
	s->id = s->body ? s->id : v;
	int lists = s->body == s->bodies ? s->lists : 0;
	for (int k = 0; k < s->n + lists; k++)
		*s->var[k] = sluice_steps_call(s, ".now", k);
	s->whole = false;
	return s->body++ < s->bodies;
}

static inline void sluice_steps_append(
	SluicePlace at, SluiceSteps *s, SluiceValue *list, SluiceValue x)
{
	int k = 0;
	while (k < s->lists && s->var[s->n + k] != list)
		k++;
	SluiceValue arg[4] = {s->id, sluice_api->integer(k), *list, x};
	sluice_api->call(at, ".append", 4, arg);
	if (k == s->lists && k < SLUICE_MOST)
		s->var[s->n + s->lists++] = list;
}
#endif
