/* What rounding a document's constants does to its outputs, by running both. */
#include "loss.h"
#include "arrays/arrays.h"
#include "io/io.h"
#include "process/process.h"
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* Runs g with these operands; its outputs are in `to`, an .npz. */
static void run_once(const Graph *g, size_t n, const char *const *operands, const char *to)
{
	char **argv = arena_alloc((n + 6) * sizeof *argv);
	size_t k = 0;
	Buf in = {0}, out = {0};

	argv[k++] = (char *)tool_find("run");
	if (!argv[0])
		die(FAILED, "the tool run is not on the stage path %s", stage_path());
	for (size_t i = 0; i < n; i++)
		argv[k++] = (char *)operands[i];
	argv[k++] = "-o";
	argv[k++] = (char *)to;
	wire_write(&in, g);
	int status = spawn_filter(argv, in.s, in.n, &out);
	if (status)
		pipeline_failed((char *const *const[]){argv, NULL}, status, 0, in.s, in.n);
	buf_free(&in);
	buf_free(&out);
}

static double element(const Array *a, size_t i)
{
	double x;

	interp_cast(DT_F64, &x, a->dtype, (const char *)a->data + i * dtype_size(a->dtype), 1);
	return x;
}

static void compare(const char *name, const Array *a, const Array *b, Buf *out)
{
	int64_t n = array_count(a) < array_count(b) ? array_count(a) : array_count(b);
	double most = 0, apart = 0;
	int64_t other = 0;

	for (int64_t i = 0; i < n; i++) {
		double x = element(a, i), y = element(b, i), d = fabs(x - y);
		most = fabs(x) > most ? fabs(x) : most;
		apart = d > apart ? d : apart;
		other += x != y && !(isnan(x) && isnan(y));
	}
	buf_printf(out, "%s: at most %.3g apart, the largest is %.3g; %lld of %lld differ\n", name,
		apart, most, (long long)other, (long long)n);
}

static struct { const char *const *operands; size_t n; } given;

/* NAME=rand for each input, unless something is given. */
static size_t operands_of(const Graph *g, const char ***at)
{
	const Val *inputs = val_get(g->meta, "inputs");
	size_t n = inputs && inputs->kind == VAL_ARRAY ? inputs->n : 0;

	*at = (const char **)given.operands;
	if (given.n)
		return given.n;
	*at = arena_alloc((n + 1) * sizeof **at);
	for (size_t i = 0; i < n; i++)
		(*at)[i] = arena_printf("%s=rand", inputs->a[i]->s);
	return n;
}

/* The worker, which may start run: both documents as bytes, to lines of text. */
static int both(const void *in, size_t n, Buf *out)
{
	char folder[] = "/tmp/sluice.XXXXXX";
	const char **names, **operands;
	size_t used;

	if (!leftover_folder(folder))
		die_errno("cannot make a temporary folder");
	const char *a = arena_printf("%s/exact.npz", folder);
	const char *b = arena_printf("%s/rounded.npz", folder);
	Graph *exact = wire_read(in, n, &used, 0);
	size_t k = operands_of(exact, &operands);
	run_once(exact, k, operands, a);
	run_once(wire_read((const char *)in + used, n - used, NULL, 0), k, operands, b);
	size_t many = npz_names(a, &names);
	for (size_t i = 0; i < many; i++) {
		Array x = npz_read(a, names[i], DT_NONE), y = npz_read(b, names[i], DT_NONE);
		compare(names[i], &x, &y, out);
	}
	unlink(a);
	unlink(b);
	rmdir(folder);
	leftover_drop(folder);
	return DONE;
}

void loss_offer(size_t n, const char *const *operands)
{
	given.operands = operands;
	given.n = n;
	worker_offer(0, both);
}

void loss_print(const Graph *exact, const Graph *rounded)
{
	Buf in = {0}, out = {0};

	wire_write(&in, exact);
	Graph *marked = mark_put((Graph *)rounded);
	wire_write(&in, marked);
	int status = worker_end(worker_start(0, in.s, in.n), &out);
	if (status)
		die_silent(status < 0 ? FAILED : status);
	fputs(buf_str(&out), stderr);
	buf_free(&in);
	buf_free(&out);
}
