/* Matches args against the forms that levels.def gives for an op at each level.
 *
 *     REDUCE  "[fold, [count*]]"    ["ADD", [0, 2]] matches, ["SUB", [0]] and ["ADD", 0] do not
 *
 * A form is parsed when its op is first met, since most documents have few of the ops. */
#include "shape/shape.h"

typedef struct Word Word;
typedef enum { FORM_WORD, FORM_TEXT, FORM_ARRAY, FORM_MAP } FormKind;
typedef struct Form Form;
struct Form {
	FormKind kind;
	/* of an array's element: any number; of a map's: it may be missing */
	bool many, may;
	const char *s;          /* where it is in the row: a word, a text without its quotes */
	int n;
	const char *key;        /* of a map's element */
	const Word *word;       /* WORD */
	Form *inside;           /* the first element */
	Form *next, *other;     /* the next element; the next alternative */
	const char *end;        /* of the last alternative */
};

/* ---- words */

/* The text of a size is not parsed here, because that makes nodes. */
static bool is_size(const Val *v)
{
	return (v->kind == VAL_INT && v->i >= 0) || v->kind == VAL_STR;
}

static bool is_grid(const Val *v)
{
	bool is = v->kind == VAL_ARRAY && v->n >= 1 && v->n <= 3;
	for (size_t i = 0; is && i < v->n; i++)
		is = is_size(v->a[i]);
	return is;
}

static bool is_nil(const Val *v) { return v == VNIL; }
static bool is_bool(const Val *v) { return v->kind == VAL_BOOL; }
static bool is_int(const Val *v) { return v->kind == VAL_INT; }
static bool is_count(const Val *v) { return v->kind == VAL_INT && v->i >= 0; }
static bool is_number(const Val *v)
{
	return v->kind == VAL_INT || v->kind == VAL_UINT || v->kind == VAL_FLOAT;
}
static bool is_text(const Val *v) { return v->kind == VAL_STR; }
static bool is_bytes(const Val *v) { return v->kind == VAL_BIN; }
static bool is_map(const Val *v) { return v->kind == VAL_MAP; }

static bool is_fold(const Val *v)
{
	int op = v->kind == VAL_STR ? op_find(v->s) : -1;
	return op >= 0 && op_folds(op);
}

#define SIZE_SCHEMA "{\"type\": [\"integer\", \"string\"], \"minimum\": 0}"
/* schema: the same as JSON Schema; "": the names of folds */
struct Word { const char *word; bool (*is)(const Val *v); const char *schema; };
static const Word words[] = {
	{"nil", is_nil, "{\"type\": \"null\"}"},
	{"bool", is_bool, "{\"type\": \"boolean\"}"},
	{"int", is_int, "{\"type\": \"integer\"}"},
	{"count", is_count, "{\"type\": \"integer\", \"minimum\": 0}"},
	{"number", is_number, "{\"type\": \"number\"}"},
	{"text", is_text, "{\"type\": \"string\"}"},
	{"bytes", is_bytes, "{\"contentMediaType\": \"application/octet-stream\"}"},
	{"map", is_map, "{\"type\": \"object\"}"},
	{"size", is_size, SIZE_SCHEMA},
	{"grid", is_grid, "{\"type\": \"array\", \"items\": " SIZE_SCHEMA
		", \"minItems\": 1, \"maxItems\": 3}"},
	{"fold", is_fold, ""},
};

/* ---- a row's text to a form */

static Form *parse(const char **at);

static const char *blank(const char *s)
{
	while (*s == ' ')
		s++;
	return s;
}

/* The elements up to the bracket that closes them. */
static Form *parse_elements(const char **at, char close)
{
	Form *first = NULL, **last = &first;
	for (*at = blank(*at); **at != close; *at = blank(*at + (**at == ','))) {
		const char *key = NULL;
		bool may = false;
		if (close == '}') {
			size_t n = strcspn(*at, "?:");
			key = arena_printf("%.*s", (int)n, *at);
			may = (*at)[n] == '?';
			*at += n + 1 + may;
		}
		Form *f = *last = parse(at);
		f->key = key;
		f->may = may;
		if ((f->many = **at == '*'))
			++*at;
		last = &f->next;
	}
	++*at;
	return first;
}

static const Word *word_named(const char *s, int n)
{
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strlen(words[i].word) == n && !memcmp(s, words[i].word, n))
			return &words[i];
	die_bug(__FILE__, __LINE__, s);
}

static Form *parse_one(const char **at)
{
	Form *f = arena_alloc(sizeof *f);
	f->s = *at = blank(*at);
	if (**at == '[' || **at == '{') {
		f->kind = **at == '[' ? FORM_ARRAY : FORM_MAP;
		++*at;
		f->inside = parse_elements(at, f->kind == FORM_ARRAY ? ']' : '}');
	} else if (**at == '"') {
		f->kind = FORM_TEXT;
		f->s++;
		f->n = strcspn(f->s, "\"");
		*at = f->s + f->n + 1;
	} else {
		f->n = strcspn(*at, " |,]}*");
		f->word = word_named(f->s, f->n);
		*at += f->n;
	}
	return f;
}

/* The alternatives at *at, which moves past them. */
static Form *parse(const char **at)
{
	Form *first = NULL, **last = &first;
	for (;; ++*at) {
		Form *f = *last = parse_one(at);
		last = &f->other;
		first->end = *at;
		*at = blank(*at);
		if (**at != '|')
			return first;
	}
}

/* ---- a form against a value */

/* The element of a map whose value does not fit. */
typedef struct { const Form *element; } Miss;

static bool matches(const Form *f, const Val *v, Miss *m);

static bool array_matches(const Form *f, const Val *v, Miss *m)
{
	size_t i = 0;
	for (const Form *e = f->inside; e; e = e->next) {
		if (!e->many && (i == v->n || !matches(e, v->a[i++], m)))
			return false;
		for (; e->many && i < v->n; i++)
			if (!matches(e, v->a[i], m))
				return false;
	}
	return i == v->n;
}

static bool map_matches(const Form *f, const Val *v, Miss *m)
{
	for (const Form *e = f->inside; e; e = e->next) {
		const Val *at = val_get(v, e->key);
		if (at ? matches(e, at, m) : e->may)
			continue;
		m->element = m->element ? m->element : e;
		return false;
	}
	return true;
}

static bool one_matches(const Form *f, const Val *v, Miss *m)
{
	switch (f->kind) {
	case FORM_WORD: return f->word->is(v);
	case FORM_TEXT: return v->kind == VAL_STR && v->n == f->n && !memcmp(v->s, f->s, f->n);
	case FORM_ARRAY: return v->kind == VAL_ARRAY && array_matches(f, v, m);
	default: return v->kind == VAL_MAP && map_matches(f, v, m);
	}
}

static bool matches(const Form *f, const Val *v, Miss *m)
{
	for (; f; f = f->other)
		if (one_matches(f, v, m))
			return true;
	return false;
}

/* ---- what node_infer and verify ask */

static const char *reason(const char *form, const Miss *m)
{
	const Form *e = m->element;
	if (!e)
		return arena_printf("the arg is not %s", form);
	const char *s = e->s - (e->kind == FORM_TEXT);
	return arena_printf("the arg's %s is not %.*s", e->key, (int)(e->end - s), s);
}

static const Form *form_of(Op op, int i)
{
	static ARENA const Form *parsed[OP_COUNT][2];
	const char *at = i ? op_arg[op].other : op_arg[op].form;
	if (!parsed[op][i])
		parsed[op][i] = parse(&at);
	return parsed[op][i];
}

const char *arg_check(Op op, int levels, const Val *arg)
{
	const OpArg *f = &op_arg[op];
	const char *why = NULL;
	if (!f->form)
		return arg == VNIL ? NULL : "the op has no arg";
	for (int i = 0; i < 2; i++) {
		Miss m = {0};
		if (!((i ? f->others : f->levels) & levels))
			continue;
		if (matches(form_of(op, i), arg, &m))
			return NULL;
		why = reason(i ? f->other : f->form, &m);
	}
	return why;
}

/* ---- the same as JSON Schema */

static void schema(Buf *out, const Form *f);

static void schema_folds(Buf *out)
{
	const char *comma = "";
	buf_printf(out, "{\"enum\": [");
	for (int op = 0; op < OP_COUNT; op++)
		if (op_folds(op)) {
			buf_printf(out, "%s\"%s\"", comma, op_name(op));
			comma = ", ";
		}
	buf_printf(out, "]}");
}

/* [a, b, c*]: elements at their places, and what all others are */
static void schema_array(Buf *out, const Form *f)
{
	const Form *many = NULL;
	size_t n = 0;
	buf_printf(out, "{\"type\": \"array\"");
	for (const Form *e = f->inside; e; e = e->next) {
		if (e->many) {
			many = e;
			break;
		}
		buf_printf(out, "%s", n++ ? ", " : ", \"prefixItems\": [");
		schema(out, e);
	}
	buf_printf(out, "%s, \"minItems\": %zu, \"items\": ", n ? "]" : "", n);
	if (many)
		schema(out, many);
	else
		buf_printf(out, "false");
	buf_printf(out, "}");
}

static void schema_map(Buf *out, const Form *f)
{
	const char *comma = "";
	buf_printf(out, "{\"type\": \"object\", \"properties\": {");
	for (const Form *e = f->inside; e; e = e->next) {
		buf_printf(out, "%s\"%s\": ", e == f->inside ? "" : ", ", e->key);
		schema(out, e);
	}
	buf_printf(out, "}, \"required\": [");
	for (const Form *e = f->inside; e; e = e->next)
		if (!e->may) {
			buf_printf(out, "%s\"%s\"", comma, e->key);
			comma = ", ";
		}
	buf_printf(out, "]}");
}

static void schema_one(Buf *out, const Form *f)
{
	switch (f->kind) {
	case FORM_TEXT: buf_printf(out, "{\"const\": \"%.*s\"}", f->n, f->s); break;
	case FORM_ARRAY: schema_array(out, f); break;
	case FORM_MAP: schema_map(out, f); break;
	default:
		if (*f->word->schema)
			buf_printf(out, "%s", f->word->schema);
		else
			schema_folds(out);
	}
}

static void schema(Buf *out, const Form *f)
{
	bool several = f->other;
	buf_printf(out, "%s", several ? "{\"anyOf\": [" : "");
	for (; f; f = f->other) {
		schema_one(out, f);
		buf_printf(out, "%s", f->other ? ", " : "");
	}
	buf_printf(out, "%s", several ? "]}" : "");
}

void arg_schema(Buf *out, Op op, int levels)
{
	const OpArg *f = &op_arg[op];
	int i = f->form && !(f->levels & levels);
	if (f->form && ((i ? f->others : f->levels) & levels))
		schema(out, form_of(op, i));
	else
		buf_printf(out, "{\"type\": \"null\"}");
}
