/* The devices of this machine: each backend lists its own. */
#include "exec/exec.h"
#include <stdlib.h>

static const Exec *const execs[] = { &exec_cpu, &exec_opencl, &exec_cuda, NULL };

const Exec *exec_find(const char *device, int *number)
{
	size_t n = strcspn(device, ":");
	char *end;
	long k = 0;

	if (device[n]) {
		k = strtol(device + n + 1, &end, 10);
		if (end == device + n + 1 || *end || k < 0 || k > 1000)
			return NULL;
	}
	for (int i = 0; execs[i]; i++)
		if (strlen(execs[i]->name) == n && !memcmp(execs[i]->name, device, n)) {
			*number = (int)k;
			return execs[i];
		}
	return NULL;
}

typedef struct { const char *want; bool found; } DeviceSearch;

static void compare(void *ctx, const char *device, const char *text)
{
	DeviceSearch *s = ctx;
	s->found |= !strcmp(device, s->want);
}

/* Whether run --devices would list it. */
static bool exec_has(const char *device)
{
	DeviceSearch s = { device, !strcmp(device, "cpu") };

	for (int i = 0; execs[i] && !s.found; i++)
		if (!strncmp(device, execs[i]->name, strlen(execs[i]->name)))
			execs[i]->list(compare, &s);
	return s.found;
}

static void print(void *ctx, const char *device, const char *text)
{
	fprintf(ctx, "%s\t%s\n", device, text);
}

void exec_list(FILE *f)
{
	for (int i = 0; execs[i]; i++)
		execs[i]->list(print, f);
}

void devices_check(const Graph *g)
{
	Nodes all = walk(g->sink);

	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_COPY &&
			(all.at[i]->arg->kind != VAL_STR || !exec_has(all.at[i]->arg->s)))
			die(UNSUPPORTED, "node %u COPY: no device '%s'", all.at[i]->id,
				all.at[i]->arg->kind == VAL_STR ? all.at[i]->arg->s : "");
	/* schedule removes COPY nodes and leaves their names here */
	const Val *names = val_get(g->meta, "devices");
	for (size_t i = 0; names && names->kind == VAL_ARRAY && i < names->n; i++)
		if (names->a[i]->kind != VAL_STR || !exec_has(names->a[i]->s))
			die(UNSUPPORTED, "COPY: no device '%s'",
				names->a[i]->kind == VAL_STR ? names->a[i]->s : "");
}
