/* The statement:
 *
 *     net_call        88064 multiply-adds, 3712 other operations on floats
 *       workspace     5120 B, all of them alive at once
 *       arguments     256 B in, 40 B out
 *       stack         224 B
 *     flash           42.8 kB … */
#include "footprint/footprint.h"

static void put_line(Buf *out, const char *title, const char *text)
{
	buf_printf(out, "%-22s %s\n", title, text);
}

static int64_t bytes_of(const Function *f, Place place)
{
	int64_t sum = 0, low, most;

	for (size_t i = 0; i < f->buffer.n; i++) {
		if (f->buffer.at[i].place != place)
			continue;
		ix_bounds(f->buffer.at[i].room, &low, &most);
		sum += most;
	}
	return sum;
}

static int64_t workspace_most(const Function *f)
{
	int64_t sum = 0, low, most;

	if (f->fixed)
		return f->bytes;
	for (size_t i = 0; i < f->region.n; i++) {
		ix_bounds(f->region.at[i].bytes, &low, &most);
		sum += most;
	}
	return sum;
}

static void put_function(Buf *out, const Function *f, int64_t stack)
{
	CallWork w = function_work(f);
	int64_t state = bytes_of(f, PLACE_STATE);

	put_line(out, arena_printf("%s_call", f->prefix),
		arena_printf("%s%.0f multiply-adds, %.0f other operations on floats%s",
			f->fixed ? "" : "at most ", w.multiply_adds, w.others,
			w.turns ? ", each loop one turn" : ""));
	put_line(out, "  workspace", f->fixed ?
		arena_printf("%lld B, %lld B alive at once", (long long)f->bytes,
			(long long)f->bound) :
		arena_printf("at most %lld B", (long long)workspace_most(f)));
	put_line(out, "  arguments", arena_printf("%lld B in, %lld B out",
		(long long)bytes_of(f, PLACE_INPUT), (long long)bytes_of(f, PLACE_OUTPUT)));
	if (state)
		put_line(out, "  state", arena_printf("%lld B", (long long)state));
	if (stack >= 0)
		put_line(out, "  stack", arena_printf("%lld B", (long long)stack));
}

static int64_t constants_bytes(const Module *m)
{
	int64_t sum = 0;

	for (size_t i = 0; i < m->constant.n; i++) {
		const Array *a = &m->constant.at[i].at;
		sum += m->weights == WEIGHTS_FILE && m->constant.at[i].offset >= 0 ? 0 :
			array_count(a) * dtype_size(a->dtype);
	}
	return sum;
}

const char **footprint_functions(const Module *m)
{
	const char **names = arena_alloc(m->function.n * sizeof *names);

	for (size_t i = 0; i < m->function.n; i++)
		names[i] = arena_printf("%s_call", m->function.at[i]->prefix);
	return names;
}

void footprint_print(Buf *out, const Module *m, const Image *image)
{
	int64_t constants = constants_bytes(m), workspace = 0, states = 0, stack = 0;

	for (size_t i = 0; i < m->function.n; i++) {
		const Function *f = m->function.at[i];
		int64_t ws = workspace_most(f), own = image ? image->stack[i] : -1;
		put_function(out, f, own);
		workspace = ws > workspace ? ws : workspace;
		states += bytes_of(f, PLACE_STATE);
		stack = own < 0 || stack < 0 ? -1 : own > stack ? own : stack;
	}
	if (!image)
		put_line(out, "flash", arena_printf(
			"%lld B of constants, and code: --cc tells", (long long)constants));
	else
		put_line(out, "flash", arena_printf("%lld B: %lld B of constants, %lld B of code%s",
			(long long)image->flash, (long long)constants,
			(long long)(image->flash - constants),
			image->linked ? "" : ", without functions of libraries"));
	put_line(out, "RAM", arena_printf("%lld B: workspace and states%s",
		(long long)(workspace + states + (image ? image->ram : 0) +
			(stack > 0 ? stack : 0)),
		stack >= 0 ? arena_printf(", stack %lld B", (long long)stack) :
			", and the stack"));
}
