/* From a stage that is to blame down to pass, kernel, action and op. */
#include "hunt/hunt.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

typedef VEC(const char *) Names;

/* ---- passes */

/* The names of a tool's passes, from its --help. A script is not asked: what it does besides them
 * is not known. */
static Names passes_of(Hunt *h, const char *tool)
{
	const char *path = tool_find(tool), *text = hunt_file(h, ".txt");
	char magic[2] = {0};
	Names out = {0};
	size_t n;
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0 || read(fd, magic, 2) != 2 || !memcmp(magic, "#!", 2)) {
		if (fd >= 0)
			close(fd);
		return out;
	}
	close(fd);
	Outcome o = hunt_tool(h, text, tool, NULL, (const char *const[]){"--help", NULL});
	const char *help = outcome_good(&o) ? file_map(text, &n) : NULL;
	const char *s = help ? memmem(help, n, "\npasses, in order", 17) : NULL;
	const char *end = s ? memmem(s + 1, help + n - s - 1, "\n\n", 2) : NULL;
	end = s && !end ? help + n : end;
	for (s = s ? memchr(s + 1, '\n', end - s - 1) : NULL; s && end - s > 5;
		s = memchr(s + 1, '\n', end - s - 1)) {
		size_t m = strcspn(s + 5, " \n");
		if (m && s[5] != ' ')
			vec_push(&out, arena_printf("%.*s", (int)m, s + 5));
	}
	return out;
}

static Outcome run_stage(Hunt *h, const char *const *stage, const char *file, const char *out,
	const char *option, const char *value)
{
	Words w = {0};

	for (size_t i = 1; stage[i]; i++)
		words_add(&w, stage[i]);
	if (option) {
		words_add(&w, option);
		words_add(&w, value);
	}
	Outcome o = hunt_tool(h, out, stage[0], file, (const char *const *)words_end(&w));
	vec_free(&w);
	return o;
}

/* names from … to, as "a", "a or b", "a, b or c" */
static const char *either(const Names *names, size_t from, size_t to)
{
	Buf b = {0};

	for (size_t i = from; i <= to; i++)
		buf_printf(&b, "%s%s", i == from ? "" : i == to ? " or " : ", ", names->at[i]);
	return arena_strdup(buf_str(&b));
}

/* A document between two passes says the level at which the stage began; this is the level of what
 * it writes. */
static const char *at_level(Hunt *h, const char *file, Level level)
{
	Stream *in = stream_open(file);
	Graph *g = stream_next(in, READ_RAW);
	const char *out = hunt_file(h, ".mp");
	Buf b = {0};

	if (!g || g->level >= level)
		return NULL;
	g->level = level;
	wire_write(&b, g);
	file_write(out, b.s, b.n);
	buf_free(&b);
	return out;
}

static Verdict judge_pass(Hunt *h, const char *file, Place *p, Level level)
{
	const char *why, *same = file;
	Verdict v = hunt_judge(h, p->before, file, NULL, &why);

	if (v == UNTESTABLE && (same = at_level(h, file, level)))
		v = hunt_judge(h, p->before, same, NULL, &why);
	if (v == GOOD)
		p->before = same;
	if (v == BAD)
		p->after = same;
	return v;
}

void place_pass(Hunt *h, const char *const *stage, const char *file, Seek seek, Place *p)
{
	Names pass = passes_of(h, stage[0]);
	const bool crash = seek == SEEK_CRASH;
	size_t good = 0;                /* passes after which it was right */
	Level level = seek != SEEK_WRONG ? LV_TENSOR : hunt_read(p->after)->level;

	p->before = file;
	for (size_t i = 0; i < pass.n; i++) {
		const char *out = hunt_file(h, ".mp");
		Outcome o = run_stage(h, stage, file, out, "--stop-after", pass.at[i]);
		Verdict v = outcome_crash(&o)	? BAD :
			crash			? (outcome_good(&o) ? GOOD : UNTESTABLE) :
			outcome_good(&o)	? judge_pass(h, out, p, level) :
						  UNTESTABLE;
		if (v == GOOD)
			good = i + 1;
		if (v != BAD)
			continue;
		p->pass = either(&pass, good, i);
		break;
	}
	if (seek == SEEK_REFUSED && !p->pass && good < pass.n)
		p->pass = pass.at[good];
	vec_free(&pass);
}

/* ---- actions */

static const Val *actions_of(const Graph *g, const char *name)
{
	Nodes all = walk(g->sink);
	for (size_t i = 0; i < all.n; i++) {
		const UOp *call = all.at[i];
		if (call_has_kernel(call) && !strcmp(call_name(call), name))
			return val_get(call->src[0]->arg, "actions");
	}
	return NULL;
}

static const char *action_text(const Val *action)
{
	Buf b = {0};

	for (size_t i = 0; action->kind == VAL_ARRAY && i < action->n; i++) {
		const Val *v = action->a[i];
		buf_printf(&b, i ? " " : "");
		if (v->kind == VAL_STR)
			buf_printf(&b, "%s", v->s);
		else
			val_print(&b, v);
	}
	return buf_str(&b);
}

typedef struct { const char *name; const Val *list; } Given;

/* The kernel gets the list, all others an empty one: a stage takes those that kernels bring. */
static UOp *give_actions(UOp *old, UOp *const *src, void *ctx)
{
	const Given *g = ctx;

	if (old->op != OP_KERNEL)
		return NULL;
	return node_like(old, old->nsrc, src, val_set(old->arg, "actions",
		strcmp(kernel_name(old), g->name) ? val_array(0, NULL) : g->list));
}

static Verdict try_actions(Hunt *h, const char *const *stage, const char *file, Given *given)
{
	const char *with = hunt_file(h, ".mp"), *out = hunt_file(h, ".mp"), *why;
	Buf b = {0};

	wire_write(&b, graph_edit(hunt_read(file), give_actions, given));
	file_write(with, b.s, b.n);
	buf_free(&b);
	Outcome o = run_stage(h, stage, with, out, NULL, NULL);
	return outcome_crash(&o) ? BAD :
		!outcome_good(&o) ? UNTESTABLE : hunt_judge(h, with, out, NULL, &why);
}

void place_action(Hunt *h, const char *const *stage, const char *file, Place *p)
{
	const char *name = p->kernel ? strchr(p->kernel, ' ') : NULL, *whole = hunt_file(h, ".mp");
	Outcome o = run_stage(h, stage, file, whole, NULL, NULL);
	const Val *list = name && outcome_good(&o) ? actions_of(hunt_read(whole), name + 1) : NULL;
	Names text = {0};
	size_t good = 0;
	bool some = false;

	for (size_t i = 0; list && list->kind == VAL_ARRAY && i <= list->n; i++) {
		Given given = {name + 1, val_array(i, list->a)};
		Verdict v = try_actions(h, stage, file, &given);
		if (i)
			vec_push(&text, action_text(list->a[i - 1]));
		if (v == BAD && some)
			p->action = either(&text, good, i - 1);
		if (v == BAD)
			break;
		some |= v == GOOD;
		good = v == GOOD ? i : good;
	}
	vec_free(&text);
}

/* ---- kernels */

static void add_file(Values *v, const char *path)
{
	Array a = npy_read(path, DT_NONE);

	values_add(v, a.dtype, a.data, array_count(&a));
	array_free(&a);
}

static void add_folder(Values *v, const char *folder)
{
	DIR *d = opendir(folder);

	for (struct dirent *e; d && (e = readdir(d));)
		if (e->d_name[0] != '.')
			add_file(v, arena_printf("%s/%s", folder, e->d_name));
	if (d)
		closedir(d);
}

/* The last file of a folder that has what was written to a buffer; NULL when there is none. */
static const char *kept_buffer(const char *folder, const char *buffer)
{
	const char *end = arena_printf(".%s.npy", buffer), *best = NULL;
	DIR *d = opendir(folder);

	for (struct dirent *e; d && (e = readdir(d));) {
		size_t n = strlen(e->d_name), m = strlen(end);
		if (n > m && !strcmp(e->d_name + n - m, end) &&
			(!best || strcmp(e->d_name, best) > 0))
			best = arena_strdup(e->d_name);
	}
	if (d)
		closedir(d);
	return best ? arena_printf("%s/%s", folder, best) : NULL;
}

static bool same_kind(const char *a, const char *b)
{
	Array x = npy_read(a, DT_NONE), y = npy_read(b, DT_NONE);
	bool same = x.dtype == y.dtype && x.rank == y.rank &&
		!memcmp(x.dim, y.dim, x.rank * sizeof *x.dim);

	array_free(&x);
	array_free(&y);
	return same;
}

static const Tolerance *tolerance_of(const Hunt *h, const char *buffer)
{
	for (size_t i = 0; i < h->tolerance.n; i++)
		if (!strcmp(h->tolerance.at[i].name, buffer))
			return &h->tolerance.at[i];
	return &h->other;
}

/* Whether what was written to a buffer is right: as the buffer of that name was before, or, where
 * there is none of its shape, of values that were there before. */
static bool buffer_right(const Hunt *h, const char *file, const char *buffer, const char *before,
	const Values *right)
{
	const char *other = kept_buffer(before, buffer), *why;
	const Tolerance *t = tolerance_of(h, buffer);
	Array a;
	bool ok;

	if (other && same_kind(other, file))
		return arrays_near(other, file, NULL, t, &why);
	a = npy_read(file, DT_NONE);
	ok = values_have(right, a.dtype, a.data, array_count(&a), &h->same);
	array_free(&a);
	return ok;
}

static bool call_right(const Hunt *h, const UOp *call, size_t k, const char *kept,
	const char *before, const Values *right)
{
	bool copy = call->op == OP_MEMCPY;
	uint64_t writes = copy ? 1 : call_writes(call);

	for (uint32_t i = 0; i + !copy < call->nsrc && i < 64; i++) {
		const UOp *buffer = call->src[i + !copy];
		const char *file = arena_printf("%s/%03zu.%s.%s.npy", kept, k,
			copy ? "copy" : call_name(call), buffer_name(buffer));
		if ((writes >> i & 1) && !access(file, R_OK) &&
			!buffer_right(h, file, buffer_name(buffer), before, right))
			return false;
	}
	return true;
}

/* Interprets a document and keeps what it computes. */
static const char *keep_values(Hunt *h, const char *file, const char *only)
{
	const char *kept = hunt_file(h, ".kept"), *why;
	const char *how[] = {"--interpret", "--keep", kept, only ? "--dump" : NULL, only, NULL};

	hunt_judge(h, NULL, file, how, &why);
	return kept;
}

/* The place in the SINK of the first call that wrote wrong values; the number of sources when there
 * is none. */
static size_t first_wrong(Hunt *h, const Place *p, const Graph *g, const Values *right,
	const char *before)
{
	const char *kept = keep_values(h, p->after, NULL);
	size_t step = 0, i = 0;

	for (; i < g->sink->nsrc; i++) {
		const UOp *call = g->sink->src[i];
		if (call->op != OP_CALL && call->op != OP_MEMCPY)
			continue;
		if (!call_right(h, call, step++, kept, before, right))
			break;
	}
	return i;
}

static void place_call(Hunt *h, Place *p, const Graph *g, const Values *right, const char *before)
{
	size_t i = first_wrong(h, p, g, right, before), number = 0;

	if (i == g->sink->nsrc)
		return;
	if (g->level == LV_SCHEDULE && h->nodes)
		i = call_to_blame(h, g, i);
	for (size_t k = 0; k < i; k++)
		number += g->sink->src[k]->op == OP_CALL;
	const UOp *call = g->sink->src[i];
	p->kernel = call->op == OP_MEMCPY ? "copy" :
		arena_printf("K%zu %s", number, call_name(call));
	if (g->level == LV_SCHEDULE && call_has_kernel(call))
		p->op = op_of_call(g, i, keep_values(h, p->after, arena_printf("K%zu", number)),
			right, &h->same);
}

void place_kernel(Hunt *h, Place *p)
{
	const Graph *g = hunt_read(p->after);
	const char *before = keep_values(h, p->before, NULL);
	Values right = {0};

	if (h->nodes)
		add_folder(&right, h->nodes);
	add_folder(&right, before);
	values_sort(&right);
	if (g->level == LV_GRAPH)
		p->op = op_of_graph(g, keep_values(h, p->after, NULL), &right, &h->same);
	else
		place_call(h, p, g, &right, before);
	vec_free(&right.at);
}

/* ---- compiled and interpreted kernels */

/* Runs the first m kernels compiled, the others interpreted. */
static Verdict mixed(Hunt *h, const char *file, size_t m, size_t n)
{
	const char *why;
	Buf list = {0};

	buf_str(&list);
	for (size_t i = m; i < n; i++)
		buf_printf(&list, "%sK%zu", i > m ? "," : "", i);
	const char *how[] = {"--interpret-only", buf_str(&list), NULL};
	Verdict v = hunt_judge(h, NULL, file, how, &why);
	buf_free(&list);
	return v;
}

bool place_compiled(Hunt *h, const char *file, Place *p)
{
	const Graph *g = hunt_read(file);
	size_t n = 0, good = 0, bad;
	VEC(const UOp *) call = {0};

	for (size_t i = 0; i < g->sink->nsrc; i++)
		if (g->sink->src[i]->op == OP_CALL) {
			vec_push(&call, g->sink->src[i]);
			n++;
		}
	if (!n || mixed(h, file, 0, n) != GOOD)
		return false;
	for (bad = n; bad - good > 1;) {
		size_t mid = good + (bad - good) / 2;
		if (mixed(h, file, mid, n) == GOOD)
			good = mid;
		else
			bad = mid;
	}
	const UOp *callee = call.at[bad - 1]->src[0];
	const Val *name = val_get(callee->arg, "name");
	p->kernel = arena_printf("K%zu %s", bad - 1, name && name->kind == VAL_STR ? name->s : "");
	vec_free(&call);
	return true;
}
