/* A library that `pack` has made, run with the operands of a document.
 *
 *     run --allow-code libNAME.so x=x.npy n=3 -o out/
 *
 * Its functions and their signatures are data (packed.h). A document is made of a signature, whose
 * inputs and sizes are bound as any other's. */
#include "io/io.h"
#include "packed/packed.h"
#include "session/session.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { ALIGN = 64 };

struct Packed {
	const packed_module *module;
	const packed_function *f;
	Graph *g;
	const packed_tensor **in;
	packed_tensor *tensor, **out;   /* of inputs; of outputs */
	int64_t *size;
	void *state, *ws, *pool;
	packed_threads threads;
	packed_how how;
	const char **name;
	Array *at;                      /* outputs */
	const char **state_name;
	Array *state_at;
};

/* What is no regular file is looked at when it is read, which happens once. */
bool packed_is(const char *file)
{
	bool named = file && strcmp(file, "-") && !endpoint_is(file);
	int fd = named ? open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	char head[4];
	bool is = fd >= 0 && pread(fd, head, 4, 0) == 4 && !memcmp(head, "\177ELF", 4);

	if (fd >= 0)
		close(fd);
	return is;
}

/* ---- the library */

static const packed_module *load(const char *file)
{
	const packed_module *const *m = NULL;
	/* dlopen looks for a name without a slash elsewhere */
	void *so = dlopen(strchr(file, '/') ? file : arena_printf("./%s", file),
		RTLD_NOW | RTLD_LOCAL);

	if (!so)
		die(MALFORMED, "%s: it cannot be loaded: %s", file, dlerror());
	m = dlsym(so, "packed_library");
	if (!m || !*m)
		die(MALFORMED, "%s: it is no library of pack's", file);
	if ((*m)->abi != PACKED_ABI)
		die(UNSUPPORTED, "%s: it was packed by another version", file);
	return *m;
}

static const packed_function *function_of(const packed_module *m, const char *name)
{
	Buf all = {0};

	if (!name && m->functions == 1)
		return m->function;
	for (int i = 0; i < m->functions; i++) {
		if (name && !strcmp(m->function[i].name, name))
			return &m->function[i];
		buf_printf(&all, "%s%s", i ? ", " : "", m->function[i].name);
	}
	if (name)
		die(USAGE, "%s has no function '%s': there is %s", m->name, name, buf_str(&all));
	die(USAGE, "%s has several functions: give --function, one of %s", m->name, buf_str(&all));
}

/* ---- its signature as a document */

static DType dtype_of(packed_dtype d)
{
	const char *kind = d.code == 0 ? "i" : d.code == 1 ? "u" : d.code == 4 ? "bf" : "f";

	return d.code == 6 ? DT_BOOL : dtype_find(arena_printf("%s%d", kind, d.bits));
}

static const Val *shape_of(const packed_array *a)
{
	const Val *dim[MAX_RANK];

	for (int k = 0; k < a->ndim; k++)
		dim[k] = a->dim[k].number >= 0 ? val_int(a->dim[k].number) :
						 val_str(a->dim[k].text);
	return val_array(a->ndim, dim);
}

static const Val *sizes_of(const packed_function *f)
{
	const Val *vars = val_map(0, NULL);

	for (int i = 0; i < f->sizes; i++) {
		const packed_size *s = &f->size[i];
		if (!s->set_by_call)
			vars = val_set(vars, s->name, VARR(val_int(s->min), val_int(s->max)));
	}
	return vars;
}

/* Inputs that are read are BUFFERs, the others rows of meta.sized. */
static Graph *signature(const packed_function *f)
{
	Graph *g = arena_alloc(sizeof *g);
	const Val **names = arena_alloc((f->inputs + 1) * sizeof *names);
	NodeList in = {0};
	VEC(const Val *) sized = {0};

	*g = (Graph){.level = LV_SCHEDULE, .vars = sizes_of(f)};
	vars_declare(g->vars);
	for (int i = 0; i < f->inputs; i++) {
		const packed_array *a = &f->input[i];
		names[i] = val_str(a->name);
		if (a->read)
			vec_push(&in, LEAF(OP_BUFFER, dtype_of(a->dtype),
				VMAP(val_str("name"), names[i], val_str("shape"), shape_of(a),
					val_str("role"), val_str("input"))));
		else if (a->ndim >= 0)
			vec_push(&sized, VARR(names[i], val_str(dtype_name(dtype_of(a->dtype))),
				shape_of(a)));
	}
	g->meta = VMAP(val_str("inputs"), val_array(f->inputs, names), val_str("sized"),
		val_array(sized.n, sized.at));
	g->sink = node_new(OP_SINK, DT_NONE, in.n, in.at, VNIL);
	vec_free(&in);
	vec_free(&sized);
	return g;
}

/* ---- calls */

static _Noreturn void refuse(const Packed *p, int code)
{
	const packed_function *f = p->f;
	static const char *const why[] = {"", "a size is outside its bounds, has no value, or two "
		"do not agree", "its memory is not aligned", "weights are not what they were",
		"its dtype is another", "its shape is another", "it is not compact",
		"it is on another device", "it is missing", "its memory is too small"};
	int k = (code >> 8) - 1, what = code & 255;
	const char *name = k < 0 ? f->name : k < f->inputs ? f->input[k].name :
		k - f->inputs < f->outputs ? f->output[k - f->inputs].name : "";

	if (what == PACKED_FAILED)
		die(FAILED, "%s", p->module->error(p->how.device));
	die(MALFORMED, "%s: %s", name, what <= PACKED_ROOM ? why[what] : "an unknown error");
}

static packed_tensor tensor_of(const packed_array *a, void *data, int64_t *shape)
{
	return (packed_tensor){.data = data, .device = {1, 0}, .ndim = a->ndim, .dtype = a->dtype,
		.shape = shape};
}

static void bind_inputs(Packed *p, Bindings *operands)
{
	const packed_function *f = p->f;
	Inputs in = inputs_bind(p->g, operands, NULL, false);

	for (int i = 0; i < f->sizes; i++) {
		p->size[i] = -1;
		for (int k = 0; k < in.env.n; k++)
			if (!strcmp(in.env.name[k], f->size[i].name))
				p->size[i] = in.env.value[k];
		if (p->size[i] < 0 && !f->size[i].set_by_call)
			die(MALFORMED, "size variable '%s' has no value: give an input with it, "
				"or %s=INT", f->size[i].name, f->size[i].name);
	}
	for (int i = 0; i < f->inputs; i++)
		for (size_t k = 0; k < in.n; k++)
			if (!strcmp(buffer_name(in.buffer[k]), f->input[i].name)) {
				p->tensor[i] = tensor_of(
					&f->input[i], in.at[k].data, in.at[k].dim);
				p->in[i] = &p->tensor[i];
			}
	int error = f->check(p->in, p->size);
	if (error)
		refuse(p, error);
}

/* Memory for the outputs. */
static void place_outputs(Packed *p)
{
	const packed_function *f = p->f;

	for (int i = 0; i < f->outputs; i++) {
		const packed_array *a = &f->output[i];
		packed_tensor *t = p->out[i] = arena_alloc(sizeof *t);
		p->name[i] = a->name;
		p->at[i] = (Array){.dtype = dtype_of(a->dtype), .rank = a->ndim};
		p->at[i].data = memory_alloc(f->room(p->size, i) + ALIGN);
		*t = tensor_of(a, p->at[i].data, p->at[i].dim);
	}
}

static void shape_outputs(Packed *p)
{
	for (int i = 0; i < p->f->outputs; i++) {
		bool open = false;
		for (int k = 0; k < p->f->output[i].ndim; k++)
			open |= p->f->output[i].dim[k].number == -2;
		p->f->shape(p->size, i, p->at[i].dim);
		for (int k = 0; open && k < p->at[i].rank; k++)
			p->at[i].dim[k] = k ? 1 : p->f->room(p->size, i) /
				(int64_t)dtype_size(p->at[i].dtype);
	}
}

/* States, each at its place in their memory, as they are before the first call. */
static void place_states(Packed *p)
{
	const packed_function *f = p->f;

	p->state = memory_alloc(f->state_bytes + ALIGN);
	p->state_name = arena_alloc((f->states + 1) * sizeof *p->state_name);
	p->state_at = arena_alloc((f->states + 1) * sizeof *p->state_at);
	for (int i = 0; i < f->states; i++) {
		const packed_array *s = &f->state[i];
		Array *a = &p->state_at[i];
		p->state_name[i] = s->name;
		*a = (Array){.dtype = dtype_of(s->dtype), .rank = s->ndim,
			.data = (char *)p->state + s->offset};
		for (int k = 0; k < s->ndim; k++)
			a->dim[k] = s->dim[k].number;
		a->bytes = array_count(a) * dtype_size(a->dtype);
	}
	if (f->init_state)
		f->init_state(p->state);
}

/* The weights beside the library. */
static void open_weights(Packed *p, const char *file)
{
	const char *slash = strrchr(file, '/');

	if (!p->module->weights)
		return;
	file = arena_printf("%.*s%s", slash ? (int)(slash + 1 - file) : 0, file,
		p->module->weights);
	p->how.weights = p->module->open_weights(file);
	if (!p->how.weights)
		die(MALFORMED, "%s: it cannot be mapped, or is not what the library was packed "
			"with", file);
}

static void open_device(Packed *p, const char *device)
{
	char why[256];

	if (!device || !strcmp(device, "cpu"))
		return;
	if (!p->module->open)
		die(UNSUPPORTED, "%s is packed for the CPU alone, not for '%.80s'", p->module->name,
			device);
	p->how.device = p->module->open(device, why);
	if (!p->how.device)
		die(UNSUPPORTED, "%s", why);
}

Packed *packed_open(const char *file, const char *function, const char *device,
	Bindings *operands, int threads)
{
	Packed *p = arena_alloc(sizeof *p);
	const packed_module *m = load(file);
	const packed_function *f = p->f = function_of(m, function);

	p->module = m;
	p->g = signature(f);
	p->in = arena_alloc((f->inputs + 1) * sizeof *p->in);
	p->tensor = arena_alloc((f->inputs + 1) * sizeof *p->tensor);
	p->out = arena_alloc((f->outputs + 1) * sizeof *p->out);
	p->name = arena_alloc((f->outputs + 1) * sizeof *p->name);
	p->at = arena_alloc((f->outputs + 1) * sizeof *p->at);
	p->size = arena_alloc((f->sizes + 1) * sizeof *p->size);
	bind_inputs(p, operands);
	place_outputs(p);
	place_states(p);
	open_weights(p, file);
	open_device(p, device);
	int64_t others = m->pool_start && threads > 1 ? threads - 1 : 0;
	p->ws = memory_alloc(f->ws_bytes(p->size) + others * f->thread_bytes + ALIGN);
	int error = p->how.device ? PACKED_OK : f->init_ws(p->size, p->ws, &p->how);
	if (error)
		refuse(p, error);
	if (m->pool_start && threads > 1)
		p->pool = m->pool_start(threads, &p->threads);
	p->how.threads = p->pool ? &p->threads : NULL;
	return p;
}

void packed_call(Packed *p)
{
	shape_outputs(p);
	int error = p->f->call(p->in, p->out, p->size, p->state, p->ws, &p->how);
	if (error)
		refuse(p, error);
}

size_t packed_states(Packed *p, const char *const **names, const Array **at)
{
	*names = p->state_name;
	*at = p->state_at;
	return p->f->states;
}

size_t packed_outputs(Packed *p, const char *const **names, const Array **at)
{
	for (int i = 0; i < p->f->outputs; i++)
		p->at[i].bytes = array_count(&p->at[i]) * dtype_size(p->at[i].dtype);
	*names = p->name;
	*at = p->at;
	return p->f->outputs;
}

void packed_close(Packed *p)
{
	for (int i = 0; i < p->f->outputs; i++)
		memory_free(p->at[i].data);
	memory_free(p->state);
	memory_free(p->ws);
	if (p->pool)
		p->module->pool_stop(p->pool);
	if (p->how.device)
		p->module->close(p->how.device);
}
