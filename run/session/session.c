/* Prepares a document, then calls it any number of times.
 *
 * At level graph a call evaluates the graph once. At later levels a call executes the schedule's
 * list of steps in order: each KERNEL or PROGRAM is launched or interpreted on its buffers, and
 * each MEMCPY is a copy. session_open computes everything that can be known before the first call
 * (objects, addresses, sizes, variables), so a call is a loop over an array. */
#include "base/progress.h"
#include "process/process.h"
#include "document/document.h"
#include "session/steps.h"
#include <stdlib.h>

/* ---- steps */

/* True when a list such as "K3,r_64" names a call, by its number among the kernel calls or by its
 * kernel's name. */
static bool call_listed(const char *list, size_t number, const char *name)
{
	return listed(list, arena_printf("K%zu", number)) || listed(list, name);
}

static const char *callee_name(const UOp *u)
{
	const Val *v = val_get(u->arg, "name");
	return v && v->kind == VAL_STR ? v->s : op_name(u->op);
}

/* The number of a program's variable k among those of the inputs. */
static int var_of(const Inputs *in, const Program *p, size_t k)
{
	for (int i = 0; i < in->env.n; i++)
		if (val_is_str(p->vars[k], in->env.name[i]))
			return i;
	die(MALFORMED, "%s: size variable '%s' has no value", p->where, p->vars[k]->s);
}

static int64_t size_of(const Inputs *in, const Program *p, UOp *size)
{
	int64_t v;

	if (!ix_eval(size, &in->env, &v) || v < 0 || v > INT32_MAX)
		die(MALFORMED, "%s: a grid size is not a number from 0 to 2147483647", p->where);
	return v;
}

static void launch_vars(const Session *s, Step *t)
{
	for (size_t k = 0; k < t->program->nvars; k++)
		t->vars[k] = s->in->env.value[t->var[k]];
}

/* What depends on sizes. */
static void launch_sizes(const Session *s, Step *t)
{
	const Program *p = t->program;
	Launch *l = &t->launch;
	int64_t work;

	launch_vars(s, t);
	t->empty = false;
	for (int k = 0; k < 3; k++) {
		l->groups[k] = size_of(s->in, p, p->global[k]);
		l->items[k] = size_of(s->in, p, p->local[k]);
		t->empty |= !l->groups[k] || !l->items[k];
	}
	/* an estimate that overflows counts as the largest */
	if (!ix_eval(p->work, &s->in->env, &work))
		work = INT64_MAX / 2;
	l->share = pool_share(l->groups[0], work, s->threads);
	l->share.alternate = p->alternate;
}

static void step_launch(Session *s, Step *t, void *kernel)
{
	size_t n = t->program->nvars;

	t->vars = arena_alloc((n + 1) * sizeof *t->vars);
	t->var = arena_alloc((n + 1) * sizeof *t->var);
	for (size_t k = 0; k < n; k++)
		t->var[k] = var_of(s->in, t->program, k);
	t->launch = (Launch){
		.kernel = kernel, .nbuf = t->nbuf, .buf = t->mem, .nvars = n, .vars = t->vars};
	launch_sizes(s, t);
}

/* Whether the buffers that step i would prepare were found in the cache. */
static bool is_skipped(const Session *s, size_t i)
{
	return i < prepared_calls(s->prepared) && prepared_skips(s->prepared, i);
}

/* Decides for each launch whether to wake threads: when the work of this launch and of those after
 * it in the call is worth it. */
static void steps_wake(Session *s)
{
	int64_t ahead = 0;
	int most = 1;

	for (size_t i = s->nsteps; i-- > 0;) {
		Share *share = &s->step[i].launch.share;
		if (s->step[i].kind != STEP_LAUNCH || share->threads < 2 || is_skipped(s, i))
			continue;
		ahead = ahead < INT64_MAX / 4 ? ahead + share->work : ahead;
		share->wake = pool_worth_waking(ahead);
		most = share->threads > most ? share->threads : most;
	}
	s->shareable = ahead;
	if (most > 1)
		pool_start(most);
}

/* The buffers of a CALL or MEMCPY: its sources from `from` on. */
static void step_buffers(Session *s, Step *t, size_t from)
{
	t->nbuf = t->node->nsrc - from;
	t->slot = arena_alloc((t->nbuf + 1) * sizeof *t->slot);
	t->mem = arena_alloc((t->nbuf + 1) * sizeof *t->mem);
	t->read = arena_alloc((t->nbuf + 1) * sizeof *t->read);
	for (size_t k = 0; k < t->nbuf; k++) {
		UOp *u = t->node->src[from + k];
		if (u->op != OP_BUFFER)
			die(MALFORMED, "node %u %s: source %zu is not a BUFFER", t->node->id,
				op_name(t->node->op), from + k);
		t->slot[k] = buffer_slot(&s->b, u);
	}
}

/* Checks that each buffer that the CALL passes has the dtype, and at least the size, that the
 * kernel declares for its slot. */
static void params_check(const Session *s, const Step *t)
{
	Nodes all = walk(t->node->src[0]);
	UOp *kernel = kernel_of(t->node->src[0]);

	for (size_t i = 0; i < all.n; i++) {
		const UOp *u = all.at[i];
		Array a;
		/* a CUSTOM has the shape of the buffer it writes */
		if (u->op != OP_PARAM && (u->op != OP_CUSTOM || u != kernel))
			continue;
		int64_t slot = u == kernel ? 0 : param_slot(u);
		buffer_array(u, &s->in->env, &a);
		if (slot < 0 || (size_t)slot >= t->nbuf ||
			s->b.u[t->slot[slot]]->dtype != u->dtype ||
			s->b.host[t->slot[slot]].bytes < a.bytes)
			die(MALFORMED,
				"node %u CALL (%s): the buffer of slot %lld is not what the kernel "
				"takes",
				t->node->id, t->name, (long long)slot);
	}
}

static void check_interpreted(const Step *t)
{
	if (kernel_of(t->callee)->op == OP_CUSTOM)
		die(UNSUPPORTED, "node %u CUSTOM (%s): a user-written kernel cannot be interpreted",
			kernel_of(t->callee)->id, t->name);
}

static void steps_make(Session *s, const Map *programs, void **kernel)
{
	UOp *sink = s->g->sink;
	size_t number = s->number;

	s->step = arena_alloc((sink->nsrc + 1) * sizeof *s->step);
	for (size_t i = 0; i < sink->nsrc; i++) {
		Step *t = &s->step[s->nsteps];
		t->node = sink->src[i];
		if (t->node->op != OP_CALL && t->node->op != OP_MEMCPY)
			continue;
		s->nsteps++;
		t->name = t->node->op == OP_CALL ? callee_name(t->node->src[0]) : "copy";
		step_buffers(s, t, t->node->op == OP_CALL);
		t->kind = STEP_COPY;
		if (t->node->op == OP_MEMCPY)
			continue;
		params_check(s, t);
		t->callee = t->node->src[0];
		t->kind = STEP_INTERPRET;
		t->number = number++;
		if (s->o.interpret || call_listed(s->o.interpret_only, t->number, t->name)) {
			check_interpreted(t);
			continue;
		}
		t->kind = STEP_LAUNCH;
		size_t k = (uintptr_t)map_get(programs, t->callee->id + 1) - 1;
		t->program = &s->programs.at[k];
		step_launch(s, t, kernel[k]);
	}
}

/* Where an op stands that --check-nan finds in an interpreted step. */
static const char *interpreted_in(const Session *s, const Step *t)
{
	return arena_printf("; in %s%s", step_name(s, t - s->step),
		s->o.context ? s->o.context : "");
}

static void step_interpret(Session *s, Step *t)
{
	void **host = t->mem;

	if (!s->b.exec->host) {
		host = xmalloc((t->nbuf + 1) * sizeof *host);
		for (size_t k = 0; k < t->nbuf; k++)
			host[k] = buffer_get(&s->b, t->slot[k])->data;
	}
	interpret_call(t->callee, s->g->level, &s->in->env, t->nbuf, host,
		s->o.check_nan ? nonfinite_watch(kernel_of(t->callee), interpreted_in(s, t)) :
				 NULL);
	if (s->b.exec->host)
		return;
	for (size_t k = 0; k < t->nbuf; k++)
		if (!buffer_is(s->b.u[t->slot[k]], "const") &&
			!buffer_is(s->b.u[t->slot[k]], "input"))
			buffer_put(&s->b, t->slot[k]);
	free(host);
}

/* The milliseconds of a launch by the device's own clock, if it is asked for; else -1. */
static double step_run(Session *s, Step *t)
{
	const Exec *e = s->b.exec;
	const Array *to = &s->b.host[t->slot[0]], *from;

	switch (t->kind) {
	case STEP_LAUNCH:
		if (s->o.profile && !t->empty && e->lap)
			return e->lap(&t->launch);
		if (!t->empty)
			e->launch(&t->launch);
		break;
	case STEP_INTERPRET:
		step_interpret(s, t);
		break;
	case STEP_COPY:
		from = &s->b.host[t->slot[1]];
		if (to->bytes != from->bytes)
			die(MALFORMED, "node %u MEMCPY: from %zu to %zu bytes", t->node->id,
				from->bytes, to->bytes);
		e->copy(t->mem[0], t->mem[1], to->bytes);
		break;
	}
	return -1;
}

/* ---- opening */

/* When there is only one call, each weight is evicted after the last step that reads it. */
static void steps_evict(Session *s)
{
	bool *seen = arena_alloc(s->b.n + 1);

	for (size_t i = s->nsteps; s->b.once && i-- > prepared_calls(s->prepared);) {
		Step *t = &s->step[i];
		t->evict = arena_alloc((t->nbuf + 1) * sizeof *t->evict);
		for (size_t k = 0; k < t->nbuf; k++) {
			const UOp *u = s->b.u[t->slot[k]];
			if (!seen[t->slot[k]] &&
				(buffer_is(u, "const") || buffer_is(u, "prepared")))
				t->evict[t->nevict++] = t->slot[k];
			seen[t->slot[k]] = true;
		}
	}
}

static const Exec *exec_of(const Session *s)
{
	static const Exec *const of[] = {[RUNTIME_CPU] = &exec_cpu,
		[RUNTIME_OPENCL] = &exec_opencl,
		[RUNTIME_CUDA] = &exec_cuda};
	Runtime r = s->programs.n && !s->o.interpret ? s->programs.at[0].runtime : RUNTIME_CPU;
	const Exec *e = of[r];
	int number = 0;

	for (size_t i = 1; i < s->programs.n; i++)
		if (s->programs.at[i].runtime != r)
			die(UNSUPPORTED, "%s: the document has programs for two kinds of device",
				s->programs.at[i].where);
	if (s->o.device) {
		e = exec_find(s->o.device, &number);
		if (!e)
			die(UNSUPPORTED, "no device '%s'; run --devices lists those there are",
				s->o.device);
		if (e != of[r] && s->programs.n && !s->o.interpret)
			die(UNSUPPORTED, "device '%s' does not run target '%s'", s->o.device,
				s->programs.at[0].target);
	}
	e->open(number);
	return e;
}

/* The programs of a list's calls but for those of --interpret-only, whose sources need not even
 * compile. */
static void find_launched(const Session *s, const UOp *list, size_t *number, Map *need)
{
	for (uint32_t i = 0; i < list->nsrc; i++) {
		UOp *u = list->src[i];
		if (u->op == OP_CALL &&
			!call_listed(s->o.interpret_only, (*number)++, callee_name(u->src[0])))
			map_put(need, u->src[0]->id + 1, u);
		for (uint32_t k = 0; u->op != OP_CALL && k < u->nsrc; k++)
			if (u->src[k]->op == OP_REGION)
				find_launched(s, u->src[k], number, need);
	}
}

static bool names_call(const UOp *list, const char *item, size_t *number)
{
	bool found = false;
	for (uint32_t i = 0; i < list->nsrc && !found; i++) {
		UOp *u = list->src[i];
		if (u->op == OP_CALL)
			found = call_listed(item, (*number)++, callee_name(u->src[0]));
		for (uint32_t k = 0; u->op != OP_CALL && k < u->nsrc && !found; k++)
			if (u->src[k]->op == OP_REGION)
				found = names_call(u->src[k], item, number);
	}
	return found;
}

/* Each name of --interpret-only has to be a call's. */
static void check_listed(const UOp *sink, const char *list)
{
	for (const char *s = list; *s; s += strcspn(s, ","), s += *s == ',') {
		const char *item = arena_printf("%.*s", (int)strcspn(s, ","), s);
		size_t number = 0;
		if (!names_call(sink, item, &number))
			die(USAGE, "--interpret-only: no call is %.80s: there are K0 to K%zd, and "
				"their kernels' names", item, number - 1);
	}
}

/* Each name of --dump has to be a call's or a buffer's. */
static void check_dumped(const Session *s)
{
	Nodes all = walk(s->g->sink);
	for (const char *at = s->o.dump; *at; at += strcspn(at, ","), at += *at == ',') {
		const char *item = arena_printf("%.*s", (int)strcspn(at, ","), at);
		Nearest near = {.word = item};
		size_t number = 0;
		bool found = names_call(s->g->sink, item, &number);
		for (size_t i = 0; i < all.n && !found; i++)
			if (all.at[i]->op == OP_BUFFER) {
				found = !strcmp(buffer_name(all.at[i]), item);
				nearest_try(&near, buffer_name(all.at[i]));
			}
		if (!found)
			die(USAGE, "--dump: no call, kernel or buffer is called '%.80s'%s", item,
				nearest_hint(&near));
	}
}

static size_t programs_launched(const Session *s, Program **p)
{
	Map need = {0};
	size_t n = 0, number = 0;

	find_launched(s, s->g->sink, &number, &need);
	for (size_t i = 0; i < s->programs.n; i++)
		if (map_get(&need, s->programs.at[i].u->id + 1))
			p[n++] = &s->programs.at[i];
	map_free(&need);
	return n;
}

/* The program of each of the sink's calls, NULL for a copy. Returns NULL when results must not come
 * from the cache. */
static const Program **programs_by_call(const Session *s, const Map *programs)
{
	const Program **p = arena_alloc((s->g->sink->nsrc + 1) * sizeof *p);

	if (s->o.interpret || s->o.interpret_only || session_inspects(&s->o))
		return NULL;
	for (size_t i = 0; i < s->g->sink->nsrc; i++) {
		const UOp *call = s->g->sink->src[i];
		if (call->op == OP_CALL)
			p[i] = &s->programs
					.at[(uintptr_t)map_get(programs, call->src[0]->id + 1) - 1];
	}
	return p;
}

/* Compiles and loads the programs. */
static void load_programs(Session *s)
{
	size_t n = 0;
	Program **launched;
	void **loaded;
	Loaded *l = s->loaded = arena_alloc(sizeof *l);

	if (s->o.dump)
		check_dumped(s);
	if (s->o.interpret_only)
		check_listed(s->g->sink, s->o.interpret_only);
	if (!s->o.interpret)
		s->programs = programs_of(s->g);
	launched = arena_alloc((s->programs.n + 1) * sizeof *launched);
	loaded = arena_alloc((s->programs.n + 1) * sizeof *loaded);
	*l = (Loaded){.programs = s->programs,
		.kernel = arena_alloc((s->programs.n + 1) * sizeof *l->kernel), .exec = exec_of(s)};
	if (!s->o.interpret) {
		n = programs_launched(s, launched);
		build_programs(n, launched, &s->o.build);
		l->exec->load(n, launched, loaded);
	}
	if (s->o.sandbox)
		session_seal(s->g, l->exec, &s->o);
	for (size_t i = 0; i < n; i++)
		l->kernel[launched[i] - s->programs.at] = loaded[i];
	for (size_t i = 0; i < s->programs.n; i++)
		map_put(&l->by, s->programs.at[i].u->id + 1, (void *)(uintptr_t)(i + 1));
}

static void open_steps(Session *s)
{
	const Exec *e = s->loaded->exec;

	s->b = buffers_place(s->g, e, s->in, s->whole != NULL);
	s->threads = e->host ? s->o.threads : 1;
	s->b.once = e->host && !s->o.often;
	s->prepared = prepared_find(
		s->g, &s->b, programs_by_call(s, &s->loaded->by), s->threads);
	if (s->o.often) {
		buffers_settle(&s->b);
		prepared_settle(s->prepared, &s->b);
	}
	steps_make(s, &s->loaded->by, s->loaded->kernel);
	steps_wake(s);
}

static void step_memory(Session *s, Step *t)
{
	for (size_t k = 0; k < t->nbuf; k++)
		if (!t->mem[k])
			t->mem[k] = buffer_memory(&s->b, t->slot[k]);
}

void session_step(Session *s, size_t i)
{
	double begin = s->o.profile ? now_ms() : 0;
	bool looks = session_inspects(&s->o);
	Step *t = &s->step[i];

	if (s->b.once || i < s->first)
		step_memory(s, t);
	if (looks)
		inspect_before(s, i);
	double lap = step_run(s, t);
	if (looks)
		inspect_after(s, i);
	for (size_t k = 0; k < t->nevict; k++)
		buffer_evict(&s->b, t->evict[k]);
	if (s->o.profile) {
		s->b.exec->sync();
		double ms = lap < 0 ? now_ms() - begin : lap;
		session_event(s, t, begin, ms);
		s->step[i].ms += ms;
		s->step[i].runs++;
	}
}

/* Runs the calls that fill prepared buffers, then resolves the memory of the steps that run each
 * time. */
static void run_first(Session *s)
{
	s->first = prepared_calls(s->prepared);
	memory_keep(s->b.once);
	for (size_t i = 0; i < s->first; i++) {
		if (!prepared_skips(s->prepared, i))
			session_step(s, i);
		s->b.exec->sync();
		prepared_done(s->prepared, &s->b, i);
	}
	memory_keep(false);
	for (size_t i = s->first; i < s->nsteps && !s->b.once; i++)
		step_memory(s, &s->step[i]);
}

static void open_calls(Session *s)
{
	open_steps(s);
	run_first(s);
	steps_evict(s);
	session_fed(s);
	session_defer(s);
}

Session *session_part(
	Session *whole, Graph *segment, const Inputs *in, size_t number, size_t first)
{
	Session *s = arena_alloc(sizeof *s);

	*s = (Session){.g = segment, .in = in, .o = whole->o, .loaded = whole->loaded,
		.programs = whole->loaded->programs, .whole = whole, .number = number,
		.before_steps = first};
	s->o.often = true;
	open_steps(s);
	run_first(s);
	return s;
}

void session_turn(Session *s)
{
	for (size_t i = s->first; i < s->nsteps; i++)
		if (s->step[i].kind == STEP_LAUNCH)
			launch_vars(s, &s->step[i]);
}

void session_resize(Session *s)
{
	buffers_resize(&s->b, s->g);
	for (size_t i = s->first; i < s->nsteps; i++)
		if (s->step[i].kind == STEP_LAUNCH)
			launch_sizes(s, &s->step[i]);
	steps_wake(s);
}

void session_workspace(Session *s, void *workspace)
{
	buffers_workspace(&s->b, workspace);
	for (size_t i = s->first; i < s->nsteps; i++)
		for (size_t k = 0; k < s->step[i].nbuf; k++)
			if (buffer_is(s->b.u[s->step[i].slot[k]], "temp"))
				s->step[i].mem[k] = s->b.mem[s->step[i].slot[k]];
}

void session_part_close(Session *s)
{
	prepared_release(s->prepared, &s->b);
	buffers_release(&s->b);
}

Session *session_open(Graph *g, const Inputs *in, const SessionOptions *o)
{
	Session *s = arena_alloc(sizeof *s);

	s->g = g;
	s->in = in;
	s->o = *o;
	s->o.threads = o->threads > 0 ? o->threads : cores();
	s->names = output_names(g, &s->nout);
	s->out = arena_alloc((s->nout + 1) * sizeof *s->out);
	if (g->level > LV_GRAPH) {
		load_programs(s);
		if (steps_listed(g))
			list_open(s);
		else
			open_calls(s);
	} else {
		if (o->sandbox)
			session_seal(g, &exec_cpu, o);
		states_open(g, in, &s->states);
	}
	return s;
}

void session_call(Session *s)
{
	s->ncalls++;
	if (s->o.feeds)
		feeds_next(s->o.feeds, s);
	inspect_call(s);
	if (s->g->level <= LV_GRAPH) {
		interpret_graph(s->g, s->in, &s->states, s->out, inspect_graph(s));
		return;
	}
	if (s->list) {
		list_call(s);
		inspect_called(s);
		return;
	}
	Progress progress = progress_start("interpreted", s->nsteps, s->o.interpret);
	for (size_t i = s->first; i < s->nsteps; i++) {
		progress_step(&progress, i);
		if (!s->step[i].deferred)
			session_step(s, i);
	}
	progress_end(&progress);
	s->b.exec->sync();
}

void session_close(Session *s)
{
	pool_stop();
	inspect_done(s);
	if (s->g->level > LV_GRAPH && process.verbose) {
		MemoryUse u = s->list ? list_memory(s->list) : memory_use(s->g, &s->b);
		memory_report(&u);
	}
	if (s->list) {
		list_close(s);
	} else if (s->g->level > LV_GRAPH) {
		prepared_release(s->prepared, &s->b);
		buffers_release(&s->b);
	}
	for (size_t i = 0; (s->g->level <= LV_GRAPH || s->list) && i < s->nout; i++)
		array_free(&s->out[i]);
	for (size_t i = 0; i < s->states.n; i++)
		array_free(&s->states.at[i].at);
	vec_free(&s->states);
}
