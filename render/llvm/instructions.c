/* The templates of instructions.def as text. Types and numbers are those of an element there, and
 * become those of lanes:
 *
 *     fmul $T %a, %b  →  fmul <8 x float> %t1, %t2
 *
 * Several instructions are a function, printed once before the kernel that uses it. Nothing of it
 * is left once it is inlined. */
#include "llvm/llvm.h"
#include <ctype.h>

/* ---- dtypes as text */

const char *llvm_type(const Printer *p, DType d)
{
	const char *t = p->d->type[dtype_element(d)];
	return dtype_lanes(d) == 1 ? t : arena_printf("<%d x %s>", dtype_lanes(d), t);
}

const char *llvm_suffix(DType d)
{
	DType e = dtype_element(d);
	const char *bits = arena_printf("%c%d", dtype_float(d) && !dtype_half(d) ? 'f' : 'i',
		e == DT_BOOL ? 1 : 8 * dtype_size(e));
	return dtype_lanes(d) == 1 ? bits : arena_printf("v%d%s", dtype_lanes(d), bits);
}

static const char *repeated(const char *type, const char *number, int lanes)
{
	Buf b = {0};

	if (lanes == 1)
		return number;
	if (!number[strspn(number, "0x.")])
		return "zeroinitializer";
	for (int i = 0; i < lanes; i++)
		buf_printf(&b, "%s%s %s", i ? ", " : "<", type, number);
	buf_printf(&b, ">");
	return buf_keep(&b);
}

const char *llvm_each(const Printer *p, DType d, const char *number)
{
	return repeated(llvm_type(p, dtype_element(d)), number, dtype_lanes(d));
}

/* ---- templates as text */

typedef struct { DType to, from; const char *operand[3]; } Filling;

static bool is_type(const char *s)
{
	static const char *const types[] = {"i1", "i8", "i16", "i32", "i64", "float", "double"};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (!strcmp(s, types[i]))
			return true;
	return false;
}

/* What stands for a word of one lane: $M of i32 is 31. */
static const char *word_of(const Printer *p, const Filling *f, const char *word)
{
	const char *dollar = strchr(word, '$');
	DType from = dtype_element(f->from);

	if (*word == '%' && word[1] >= 'a' && word[1] <= 'c' && !word[2])
		return f->operand[word[1] - 'a'];
	switch (dollar ? dollar[1] : 0) {
	case 'T': return p->d->type[from];
	case 'R': return p->d->type[dtype_element(f->to)];
	case 'W': return arena_printf("%d", 8 * dtype_size(from));
	case 'M': return arena_printf("%d", 8 * dtype_size(from) - 1);
	case 'N': case 'K':
		return arena_printf("%.*s%s%s", (int)(dollar - word), word,
			llvm_suffix(dollar[1] == 'N' ? f->from : f->to), dollar + 2);
	default: return word;
	}
}

static const char *filled(const Printer *p, const char *text, const Filling *f)
{
	const char *type = "";
	int lanes = dtype_lanes(f->from);
	Buf b = {0};

	while (*text) {
		size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			"0123456789_.%@$-");
		const char *word = word_of(p, f, arena_printf("%.*s", (int)(n ? n : 1), text));
		bool number = n && (isdigit((unsigned char)*word) || *word == '-');
		if (is_type(word)) {
			type = word;
			word = lanes > 1 ? arena_printf("<%d x %s>", lanes, word) : word;
		}
		word = *word == ';' ? "\n\t" :
			number && *text != '%' ? repeated(type, word, lanes) : word;
		buf_printf(&b, "%s", word);
		text += n ? n : *text == ';' ? 2 : 1;
	}
	return buf_keep(&b);
}

/* Declares LLVM's own functions that instructions call: what is called, without the operands. */
void llvm_declare(Printer *p, const char *text)
{
	const char *name, *end, *s;
	Buf b = {0};

	for (; (name = strstr(text, "@llvm.")); text = end) {
		int depth = 0;
		bool type = true;       /* not an operand */
		const char *from = name;
		end = name + strcspn(name, "(");
		while (from > text && strncmp(from, "call ", 5))
			from--;
		buf_printf(&b, "declare %.*s", (int)(end - from) - 5, from + 5);
		for (s = end; *s && *s != '\n' && (depth || *s != ')'); s++) {
			depth += (*s == '<') - (*s == '>');
			bool ends = !depth && *s == ' ' && s[-1] != ',';
			type = (type && !ends) || (!depth && *s == ',');
			if (type)
				buf_add(&b, s, 1);
		}
		buf_printf(&b, ")\n");
		if (!helper_have(&p->helpers, arena_printf("%.*s", (int)(end - name), name)))
			buf_printf(&p->helpers.text, "%s", buf_str(&b));
		b.n = 0;
	}
	buf_free(&b);
}

const char *llvm_apply(Printer *p, const char *name, const char *text, DType to, DType from,
	const char *const operand[3])
{
	static const char *const params[] = {"%a", "%b", "%c"};
	Filling f = {to, from, {operand[0], operand[1], operand[2]}};
	const char *fn = arena_printf("@%s_%s", name, dtype_name(from));
	const char *t = llvm_type(p, from), *r = llvm_type(p, to);
	Buf head = {0}, args = {0};

	if (!strchr(text, ';'))
		return llvm_emit(p, "%s", filled(p, text, &f));
	for (int i = 0; i < 3 && operand[i]; i++) {
		buf_printf(&head, "%s%s %s", i ? ", " : "", t, params[i]);
		buf_printf(&args, "%s%s %s", i ? ", " : "", t, operand[i]);
		f.operand[i] = params[i];
	}
	if (!helper_have(&p->helpers, fn)) {
		const char *body = filled(p, text, &f);
		llvm_declare(p, body);
		buf_printf(&p->helpers.text, "define internal %s %s(%s) alwaysinline nounwind {\n"
			"\t%s\n\tret %s %%r\n}\n\n", r, fn, buf_str(&head), body, r);
	}
	return llvm_emit(p, "call %s %s(%s)", r, fn, buf_keep(&args));
}

/* ---- the tables */

typedef struct { const char *sint, *uint, *flt, *boolean; } Templates;
static const Templates exact[OP_COUNT] = {
#define INSTRUCTION(OP, ...) [OP_##OP] = {__VA_ARGS__},
#include "llvm/instructions.def"
};
static const Templates simple[OP_COUNT] = {
#define SIMPLE(OP, ...) [OP_##OP] = {__VA_ARGS__},
#include "llvm/instructions.def"
};

const char *llvm_template(Op op, DType d, bool known)
{
	const Templates *t = known ? &simple[op] : &exact[op];
	return dtype_float(d) ? t->flt : dtype_element(d) == DT_BOOL ? t->boolean :
		dtype_signed(d) ? t->sint : t->uint;
}

const char *llvm_convert(Printer *p, const char *name, DType to, DType from, const char *x)
{
	static const struct { const char *name; DType from; const char *text; } conversions[] = {
#define CONVERSION(TO, FROM, text) {#TO, DT_##FROM, text},
#include "llvm/instructions.def"
	};
	size_t i = 0;

	while (strcmp(conversions[i].name, name) || conversions[i].from != dtype_element(from))
		i++;
	return llvm_apply(p, arena_printf("%s_of", name), conversions[i].text, to, from,
		(const char *[]){x, NULL, NULL});
}
