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

/* of instructions.def */
static char kind_of(DType d)
{
	return !dtype_half(d) ? dtype_info[d].kind : dtype_element(d) == DT_F16 ? 'h' : 'b';
}

static int bits_of(DType d)
{
	DType e = dtype_element(d);
	return e == DT_BOOL ? 1 : 8 * dtype_size(e);
}

const char *llvm_suffix(DType d)
{
	DType e = dtype_element(d);
	const char *one = arena_printf("%c%d", kind_of(e) == 'F' ? 'f' : 'i', bits_of(e));
	return dtype_lanes(d) == 1 ? one : arena_printf("v%d%s", dtype_lanes(d), one);
}

const char *llvm_each(const Printer *p, DType d, const char *number)
{
	const char *type = llvm_type(p, dtype_element(d));
	Buf b = {0};

	if (dtype_lanes(d) == 1)
		return number;
	if (!number[strspn(number, "0x.")])
		return "zeroinitializer";
	for (int i = 0; i < dtype_lanes(d); i++)
		buf_printf(&b, "%s%s %s", i ? ", " : "<", type, number);
	buf_printf(&b, ">");
	return buf_keep(&b);
}

/* ---- templates as text */

/* type: of the numbers that come next */
typedef struct { DType to, from, type; const char *const *operand; } Filling;

/* What stands for a word of a template: $M of i32 is 31. */
static const char *word_of(const Printer *p, Filling *f, const char *word)
{
	int bits = 8 * dtype_size(dtype_element(f->from));
	DType d = DT_BOOL;

	switch (*word == '$' ? word[1] : *word) {
	case 'T': return llvm_type(p, f->type = f->from);
	case 'R': return llvm_type(p, f->type = f->to);
	case 'N': return llvm_suffix(f->from);
	case 'K': return llvm_suffix(f->to);
	case 'W': return llvm_each(p, f->type, arena_printf("%d", bits));
	case 'L':
		f->type = DT_BOOL;
		return arena_printf("i%d", dtype_lanes(f->from));
	case 'M': return llvm_each(p, f->type, arena_printf("%d", bits - 1));
	case '%': return strchr("abc", word[1]) && !word[2] ? f->operand[word[1] - 'a'] : word;
	case ';': return "\n\t";
	default: break;
	}
	if (isdigit((unsigned char)*word) || *word == '-')
		return llvm_each(p, f->type, word);
	while (d < DT_COUNT && strcmp(p->d->type[d], word))
		d++;
	return d == DT_COUNT ? word :
		llvm_type(p, f->type = dtype_in_lanes(d, dtype_lanes(f->from)));
}

static const char *filled(const Printer *p, const char *text, Filling f)
{
	Buf b = {0};

	for (size_t n; *text; text += n) {
		n = strchr("$;", *text) ? 2 : strspn(text, "abcdefghijklmnopqrstuvwxyz"
			"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.%@-");
		n += !n;
		buf_printf(&b, "%s", word_of(p, &f, arena_printf("%.*s", (int)n, text)));
	}
	return buf_keep(&b);
}

/* The length of a type or an operand before one of these ends, which lanes have within too. */
static size_t part(const char *s, const char *ends)
{
	size_t lanes = *s == '<' ? strcspn(s, ">") : 0;
	return lanes + strcspn(s + lanes, ends);
}

void llvm_declare(Printer *p, const char *text)
{
	Buf *out = &p->helpers.text;

	while ((text = strstr(text, "call "))) {
		const char *from = text + 5, *name = from + part(from, " ") + 1;
		size_t n = strcspn(name, "(");

		text = name + n;
		if (strncmp(name, "@llvm.", 6) ||
			helper_have(&p->helpers, arena_printf("%.*s", (int)n, name)))
			continue;
		buf_printf(out, "declare %.*s", (int)(text - from), from);
		while (*text != ')') {          /* "(" or ", ", a type, an operand */
			n = *text == ',' ? 2 : 1;
			n += part(text + n, " ");
			buf_add(out, text, n);
			text += n + 1;
			text += part(text, ",)");
		}
		buf_printf(out, ")\n");
	}
}

/* The value of a template; name: what the function is called if it is one. */
static const char *apply(Printer *p, const char *name, const char *text, DType to, DType from,
	const char *const operand[3])
{
	static const char *const params[] = {"%a", "%b", "%c"};
	static const char *const lists[] = {"$T %a", "$T %a, $T %b", "$T %a, $T %b, $T %c"};
	const char *fn = arena_printf("@%s_%s", name, dtype_name(from));
	const char *list = lists[!operand[1] ? 0 : !operand[2] ? 1 : 2], *function;
	Filling call = {to, from, from, operand}, own = {to, from, from, params};

	if (!strchr(text, ';'))
		return llvm_emit(p, "%s", filled(p, text, call));
	if (!helper_have(&p->helpers, fn)) {
		function = filled(p, arena_printf("define internal $R %s(%s) alwaysinline nounwind "
			"{; %s; ret $R %%r\n}\n\n", fn, list, text), own);
		llvm_declare(p, function);
		buf_printf(&p->helpers.text, "%s", function);
	}
	return llvm_emit(p, "%s", filled(p, arena_printf("call $R %s(%s)", fn, list), call));
}

/* ---- ops */

const char *llvm_op(Printer *p, UOp *u)
{
	static const char *const rows[2][OP_COUNT][4] = {
#define INSTRUCTION(OP, ...) [false][OP_##OP] = {__VA_ARGS__},
#define SIMPLE(OP, ...) [true][OP_##OP] = {__VA_ARGS__},
#include "llvm/instructions.def"
	};
	static const char kinds[] = "IUFB";
	DType from = u->nsrc ? u->src[0]->dtype : u->dtype;
	char kind = dtype_info[from].kind;
	bool simple = op_is_simple(u);
	const char *text = kind ? rows[simple][u->op][strchr(kinds, kind) - kinds] : NULL;
	const char *operand[3] = {NULL};

	if (!text && op_elementwise(u->op))
		die(MALFORMED, "node %u %s: target llvm has none of %s", u->id, op_name(u->op),
			dtype_name(from));
	if (!text)
		return NULL;
	for (uint32_t i = 0; i < u->nsrc; i++)
		operand[i] = llvm_operand(p, u->src[i]);
	return apply(p, arena_printf("%s%s", simple ? "simple_" : "", op_word(u->op)), text,
		u->dtype, from, operand);
}

/* ---- conversions */

/* odd: to an f32 that rounds to a half as what it comes from */
static const char *convert(Printer *p, bool odd, DType to, DType from, const char *x)
{
	static const struct { const char *to, *from, *bits, *text; } rows[] = {
#define CONVERSION(...) {__VA_ARGS__},
#include "llvm/instructions.def"
	};
	int more = bits_of(to) - bits_of(from);

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (strchr(rows[i].to, odd ? 'O' : kind_of(to)) &&
			strchr(rows[i].from, kind_of(from)) &&
			(!*rows[i].bits || (*rows[i].bits == '<' ? more < 0 : more > 0)))
			return apply(p, arena_printf("%s_of",
				odd ? "odd" : dtype_name(dtype_element(to))), rows[i].text, to,
				from, (const char *[]){x, NULL, NULL});
	return x;
}

const char *llvm_cast(Printer *p, DType to, DType from, const char *x)
{
	DType f32 = dtype_in_lanes(DT_F32, dtype_lanes(to)), e = dtype_element(from);
	/* for f16 every integer below its limit is exact in f32, or far from halfway */
	bool odd = e == DT_F64 ||
		(dtype_element(to) == DT_BF16 && dtype_int(e) && dtype_size(e) >= 4);

	if (to == from)
		return x;
	if (dtype_half(from) && to != f32 && dtype_element(to) != DT_BOOL)
		return llvm_cast(p, to, f32, convert(p, false, f32, from, x));
	if (dtype_half(to) && from != f32)
		return convert(p, false, to, f32, convert(p, odd, f32, from, x));
	return convert(p, false, to, from, x);
}
