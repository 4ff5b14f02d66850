/* How many bytes of a kernel's arrays and accumulators are there at once.
 *
 *     DEFINE_REG a        a is an array: to the end of the loop or condition that declares it,
 *     DEFINE_REG b        for compilers keep an array whole in its scope, and give two scopes
 *     RANGE r             beside each other the same memory
 *       STORE b …         b is variables: to the statement that uses it last, and if that is in
 *     ENDRANGE            a loop inside the scope, to the loop's end */
#include "module/module.h"

enum { NOWHERE = UINT32_MAX };

/* of each statement: the RANGE or IF around it, or NOWHERE; of each of those, where it ends; of
 * each DEFINE_REG, the statement that uses it last, plus 1 */
typedef struct { const UOp *kernel; uint32_t *around, *end; Map last; } Scopes;

static bool opens(const UOp *u) { return u->op == OP_RANGE || u->op == OP_IF; }
static bool closes(const UOp *u) { return u->op == OP_ENDRANGE || u->op == OP_ENDIF; }

static void find_scopes(Scopes *s)
{
	uint32_t now = NOWHERE, n = s->kernel->nsrc;

	s->around = arena_alloc((n + 1) * sizeof *s->around);
	s->end = arena_alloc((n + 1) * sizeof *s->end);
	for (uint32_t i = 0; i < n; i++) {
		const UOp *u = s->kernel->src[i];
		if (closes(u) && now != NOWHERE) {
			s->end[now] = i;
			now = s->around[now];
		}
		s->around[i] = now;
		s->end[i] = n - 1;
		if (opens(u))
			now = i;
	}
}

/* Statements from the last to the first: where a node is met first it is used last. */
static void find_uses(Scopes *s)
{
	NodeList todo = {0};
	Map seen = {0};

	for (uint32_t i = s->kernel->nsrc; i-- > 0;) {
		vec_push(&todo, s->kernel->src[i]);
		while (todo.n) {
			UOp *u = todo.at[--todo.n];
			if (map_get(&seen, PKEY(u)))
				continue;
			map_put(&seen, PKEY(u), u);
			if (u->op == OP_DEFINE_REG)
				map_put(&s->last, PKEY(u), (void *)(uintptr_t)(i + 1));
			for (uint32_t k = 0; k < u->nsrc; k++)
				vec_push(&todo, u->src[k]);
		}
	}
	map_free(&seen);
	vec_free(&todo);
}

static uint32_t scope_end(const Scopes *s, uint32_t at)
{
	return s->around[at] == NOWHERE ? s->kernel->nsrc - 1 : s->end[s->around[at]];
}

/* The last statement at which what is declared by statement `at` is there. */
static uint32_t life_end(const Scopes *s, uint32_t at, bool variables)
{
	uintptr_t last = (uintptr_t)map_get(&s->last, PKEY(s->kernel->src[at]));
	uint32_t use = last ? (uint32_t)(last - 1) : at, whole = scope_end(s, at);

	if (!variables)
		return whole;
	while (s->around[use] != s->around[at]) {
		if (s->around[use] == NOWHERE)
			return whole;
		use = s->around[use];
	}
	return opens(s->kernel->src[use]) ? s->end[use] : use;
}

int64_t lives_most(const UOp *kernel, const Held *held, size_t n)
{
	Scopes s = {.kernel = kernel};
	int64_t now = 0, most = 0;

	find_scopes(&s);
	find_uses(&s);
	int64_t *change = arena_alloc((kernel->nsrc + 1) * sizeof *change);
	memset(change, 0, (kernel->nsrc + 1) * sizeof *change);
	for (size_t i = 0; i < n; i++) {
		change[held[i].at] += held[i].bytes;
		change[life_end(&s, held[i].at, held[i].variables) + 1] -= held[i].bytes;
	}
	for (uint32_t i = 0; i < kernel->nsrc; i++) {
		now += change[i];
		most = now > most ? now : most;
	}
	map_free(&s.last);
	return most;
}
