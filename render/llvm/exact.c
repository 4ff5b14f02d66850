/* Functions that give an op its exact meaning where no instruction does: division by zero, shifts by
 * too much, NaN in a maximum, rounding to f16. A template's words: $T type, $N name, $W its width,
 * $M its width less one.
 *
 *     define internal i32 @shl_i32(i32 %a, i32 %b) alwaysinline { %k = icmp ult i32 %b, 32 …
 *
 * Each is printed once, before the kernel that uses it; nothing of it is left once it is inlined. */
#include "llvm/llvm.h"

typedef struct { const char *name, *type; int width; } Words;

static void put(Helpers *h, const Words *w, const char *text)
{
	for (; *text; text++) {
		if (*text != '$') {
			buf_add(&h->text, text, 1);
			continue;
		}
		switch (*++text) {
		case 'T': buf_printf(&h->text, "%s", w->type); break;
		case 'N': buf_printf(&h->text, "%s", w->name); break;
		case 'W': buf_printf(&h->text, "%d", w->width); break;
		default: buf_printf(&h->text, "%d", w->width - 1);
		}
	}
}

#define INLINED "alwaysinline nounwind readnone {\n"

/* ---- two sources of one dtype */

/* a divisor that no processor stops at: 1 for 0 and -1 */
#define DIVISOR "\t%z = icmp eq $T %b, 0\n\t%m = icmp eq $T %b, -1\n\t%u = or i1 %z, %m\n" \
	"\t%d = select i1 %u, $T 1, $T %b\n"
#define UDIVISOR "\t%z = icmp eq $T %b, 0\n\t%d = select i1 %z, $T 1, $T %b\n"
#define UDIV UDIVISOR "\t%q = udiv $T %a, %d\n\t%r = select i1 %z, $T 0, $T %q\n\tret $T %r\n"
#define UREM UDIVISOR "\t%r = urem $T %a, %d\n\tret $T %r\n"
#define QUOTIENT "\t%n = sub $T 0, %a\n\t%s = select i1 %m, $T %n, $T %q\n" \
	"\t%r = select i1 %z, $T 0, $T %s\n\tret $T %r\n"
#define EXTREME(compare) "\t%c = icmp " compare " $T %a, %b\n" \
	"\t%r = select i1 %c, $T %a, $T %b\n\tret $T %r\n"
#define FEXTREME(compare) "\t%c = fcmp " compare " $T %a, %b\n\t%n = fcmp uno $T %a, %a\n" \
	"\t%o = or i1 %c, %n\n\t%r = select i1 %o, $T %a, $T %b\n\tret $T %r\n"
#define COUNT "\t%k = icmp ult $T %b, $W\n"
#define SHIFT(shift) COUNT "\t%c = select i1 %k, $T %b, $T 0\n\t%s = " shift " $T %a, %c\n" \
	"\t%r = select i1 %k, $T %s, $T 0\n\tret $T %r\n"
/* by squaring: as many turns as b has bits */
#define POWER "\tbr label %loop\nloop:\n\t%r = phi $T [1, %0], [%s, %loop]\n" \
	"\t%p = phi $T [%a, %0], [%q, %loop]\n\t%n = phi $T [%b, %0], [%m, %loop]\n" \
	"\t%l = and $T %n, 1\n\t%o = icmp ne $T %l, 0\n\t%x = mul $T %r, %p\n" \
	"\t%s = select i1 %o, $T %x, $T %r\n\t%q = mul $T %p, %p\n\t%m = lshr $T %n, 1\n" \
	"\t%c = icmp ne $T %m, 0\n\tbr i1 %c, label %loop, label %done\ndone:\n"
#define NEGATIVE_POWER "\t%e = icmp slt $T %b, 0\n\t%f = icmp eq $T %a, 1\n" \
	"\t%g = icmp eq $T %a, -1\n\t%h = and $T %b, 1\n\t%i = icmp ne $T %h, 0\n" \
	"\t%j = select i1 %i, $T -1, $T 1\n\t%k = select i1 %g, $T %j, $T 0\n" \
	"\t%t = select i1 %f, $T 1, $T %k\n\t%u = select i1 %e, $T %t, $T %s\n\tret $T %u\n"

static const struct { const char *sint, *uint, *flt; } binary[OP_COUNT] = {
	[OP_MAX] = {EXTREME("sgt"), EXTREME("ugt"), FEXTREME("ogt")},
	[OP_MIN] = {EXTREME("slt"), EXTREME("ult"), FEXTREME("olt")},
	[OP_IDIV] = {DIVISOR "\t%q = sdiv $T %a, %d\n" QUOTIENT, UDIV},
	[OP_MOD] = {DIVISOR "\t%r = srem $T %a, %d\n\tret $T %r\n", UREM},
	/* less one where there is a remainder and the signs differ */
	[OP_FLOORDIV] = {DIVISOR "\t%t = sdiv $T %a, %d\n\t%x = srem $T %a, %d\n"
		"\t%i = icmp ne $T %x, 0\n\t%y = xor $T %a, %b\n\t%o = icmp slt $T %y, 0\n"
		"\t%f = and i1 %i, %o\n\t%e = sext i1 %f to $T\n\t%q = add $T %t, %e\n" QUOTIENT,
		UDIV},
	[OP_FLOORMOD] = {DIVISOR "\t%x = srem $T %a, %d\n\t%i = icmp ne $T %x, 0\n"
		"\t%y = xor $T %x, %b\n\t%o = icmp slt $T %y, 0\n\t%f = and i1 %i, %o\n"
		"\t%w = add $T %x, %b\n\t%r = select i1 %f, $T %w, $T %x\n\tret $T %r\n", UREM},
	[OP_SHL] = {SHIFT("shl"), SHIFT("shl")},
	[OP_SHR] = {COUNT "\t%c = select i1 %k, $T %b, $T $M\n\t%r = ashr $T %a, %c\n\tret $T %r\n",
		SHIFT("lshr")},
	[OP_POW] = {POWER NEGATIVE_POWER, POWER "\tret $T %s\n"},
	[OP_THREEFRY] = {NULL, ""},
};

const char *llvm_intrinsic(Helpers *h, const char *name, const char *result, const char *arguments)
{
	const char *s = arena_printf("@llvm.%s", name);
	if (!helper_have(h, s))
		buf_printf(&h->text, "declare %s %s(%s)\n", result, s, arguments);
	return s;
}

/* Threefry-2x32: four rounds, then the next words of the key, five times. */
static void put_threefry(Helpers *h)
{
	static const int by[] = {13, 15, 26, 6, 17, 29, 16, 24};
	Buf *b = &h->text;

	llvm_intrinsic(h, "fshl.i32", "i32", "i32, i32, i32");
	buf_printf(b, "define internal i64 @threefry_u64(i64 %%a, i64 %%b) " INLINED
		"\t%%k0 = trunc i64 %%b to i32\n\t%%bh = lshr i64 %%b, 32\n"
		"\t%%k1 = trunc i64 %%bh to i32\n\t%%k = xor i32 %%k0, %%k1\n"
		"\t%%k2 = xor i32 %%k, 466688986\n\t%%al = trunc i64 %%a to i32\n"
		"\t%%ah = lshr i64 %%a, 32\n\t%%ai = trunc i64 %%ah to i32\n"
		"\t%%x0 = add i32 %%al, %%k0\n\t%%y0 = add i32 %%ai, %%k1\n");
	for (int i = 0; i < 20; i++) {
		const char *more = i % 4 == 3 ? "m" : "";
		buf_printf(b, "\t%%x%d%s = add i32 %%x%d, %%y%d\n"
			"\t%%z%d = call i32 @llvm.fshl.i32(i32 %%y%d, i32 %%y%d, i32 %d)\n"
			"\t%%y%d%s = xor i32 %%z%d, %%x%d%s\n", i + 1, more, i, i,
			i, i, i, by[i % 8], i + 1, more, i, i + 1, more);
		if (*more)
			buf_printf(b, "\t%%x%d = add i32 %%x%dm, %%k%d\n"
				"\t%%n%d = add i32 %%k%d, %d\n\t%%y%d = add i32 %%y%dm, %%n%d\n",
				i + 1, i + 1, (i / 4 + 1) % 3, i, (i / 4 + 2) % 3, i / 4 + 1,
				i + 1, i + 1, i);
	}
	buf_printf(b, "\t%%yw = zext i32 %%y20 to i64\n\t%%xw = zext i32 %%x20 to i64\n"
		"\t%%yh = shl i64 %%yw, 32\n\t%%r = or i64 %%yh, %%xw\n\tret i64 %%r\n}\n\n");
}

const char *llvm_binary(Helpers *h, Op op, DType t)
{
	const char *name = arena_printf("@%s_%s", op_word(op), dtype_name(t));
	const char *text = dtype_float(t) ? binary[op].flt :
		dtype_signed(t)           ? binary[op].sint :
					    binary[op].uint;
	Words w = {name, h->d->type[t], 8 * dtype_size(t)};
	if (!text)
		die_bug(__FILE__, __LINE__, op_name(op));
	if (helper_have(h, name))
		return name;
	if (op == OP_THREEFRY) {
		put_threefry(h);
		return name;
	}
	put(h, &w, "define internal $T $N($T %a, $T %b) " INLINED);
	put(h, &w, text);
	put(h, &w, "}\n\n");
	return name;
}

/* ---- conversions: f16 and bf16 are their bits */

#define RESULT(type) "\tret " type " %r\n"

static const char f16_to_f32[] =
	"\t%u = zext i16 %x to i32\n\t%t = and i32 %u, 32768\n\t%sign = shl i32 %t, 16\n"
	"\t%e = and i32 %u, 31744\n\t%m = and i32 %u, 1023\n"
	"\t%mf = uitofp i32 %m to float\n\t%sf = fmul float %mf, 0x3E70000000000000\n"
	"\t%small = bitcast float %sf to i32\n"
	"\t%q = icmp ne i32 %m, 0\n\t%qi = zext i1 %q to i32\n\t%quiet = shl i32 %qi, 22\n"
	"\t%m13 = shl i32 %m, 13\n\t%odd = or i32 %m13, %quiet\n"
	"\t%inf = or i32 %odd, 2139095040\n"
	"\t%a = and i32 %u, 32767\n\t%a13 = shl i32 %a, 13\n\t%plain = add i32 %a13, 939524096\n"
	"\t%is = icmp eq i32 %e, 0\n\t%ii = icmp eq i32 %e, 31744\n"
	"\t%v = select i1 %ii, i32 %inf, i32 %plain\n\t%w = select i1 %is, i32 %small, i32 %v\n"
	"\t%o = or i32 %w, %sign\n\t%r = bitcast i32 %o to float\n" RESULT("float");
static const char bf16_to_f32[] = "\t%u = zext i16 %x to i32\n\t%s = shl i32 %u, 16\n"
	"\t%r = bitcast i32 %s to float\n" RESULT("float");
/* below 2^-14 the addition of 0.5 rounds to a multiple of 2^-24, which is f16's smallest step */
static const char f32_to_f16[] =
	"\t%u = bitcast float %x to i32\n\t%u16 = lshr i32 %u, 16\n"
	"\t%sign = and i32 %u16, 32768\n\t%m = and i32 %u, 2147483647\n"
	"\t%m13 = lshr i32 %m, 13\n\t%low = and i32 %m13, 1023\n\t%nan = or i32 %low, 32256\n"
	"\t%mf = bitcast i32 %m to float\n\t%sf = fadd float %mf, 0.5\n"
	"\t%si = bitcast float %sf to i32\n\t%small = sub i32 %si, 1056964608\n"
	"\t%odd = and i32 %m13, 1\n\t%a = add i32 %m, -939520001\n\t%b = add i32 %a, %odd\n"
	"\t%plain = lshr i32 %b, 13\n"
	"\t%is = icmp ult i32 %m, 947912704\n\t%ii = icmp uge i32 %m, 1199566848\n"
	"\t%in = icmp ugt i32 %m, 2139095040\n"
	"\t%c = select i1 %is, i32 %small, i32 %plain\n\t%d = select i1 %ii, i32 31744, i32 %c\n"
	"\t%e = select i1 %in, i32 %nan, i32 %d\n\t%o = or i32 %e, %sign\n"
	"\t%r = trunc i32 %o to i16\n" RESULT("i16");
static const char f32_to_bf16[] =
	"\t%u = bitcast float %x to i32\n\t%h = lshr i32 %u, 16\n\t%nan = or i32 %h, 64\n"
	"\t%odd = and i32 %h, 1\n\t%a = add i32 %u, 32767\n\t%b = add i32 %a, %odd\n"
	"\t%plain = lshr i32 %b, 16\n\t%in = fcmp uno float %x, %x\n"
	"\t%o = select i1 %in, i32 %nan, i32 %plain\n\t%r = trunc i32 %o to i16\n" RESULT("i16");
/* to odd: an inexact result has its last bit set, so that rounding it again rounds as if once */
static const char f64_to_odd[] =
	"\t%f = fptrunc double %x to float\n\t%g = fpext float %f to double\n"
	"\t%same = fcmp ueq double %g, %x\n"
	"\t%ga = call double @llvm.fabs.f64(double %g)\n"
	"\t%xa = call double @llvm.fabs.f64(double %x)\n"
	"\t%over = fcmp ogt double %ga, %xa\n\t%o = sext i1 %over to i32\n"
	"\t%u = bitcast float %f to i32\n\t%v = add i32 %u, %o\n\t%w = or i32 %v, 1\n"
	"\t%s = select i1 %same, i32 %u, i32 %w\n\t%r = bitcast i32 %s to float\n" RESULT("float");
static const char int_to_odd[] =
	"\t%z = call i64 @llvm.ctlz.i64(i64 %x, i1 false)\n\t%over = icmp ult i64 %z, 40\n"
	"\t%d = sub i64 40, %z\n\t%s = select i1 %over, i64 %d, i64 0\n"
	"\t%one = shl i64 1, %s\n\t%mask = sub i64 %one, 1\n\t%low = and i64 %x, %mask\n"
	"\t%in = icmp ne i64 %low, 0\n\t%i = zext i1 %in to i64\n\t%h = lshr i64 %x, %s\n"
	"\t%o = or i64 %h, %i\n\t%a = uitofp i64 %o to float\n\t%b = uitofp i64 %one to float\n"
	"\t%r = fmul float %a, %b\n" RESULT("float");

static void put_cast(Helpers *h, const char *name, const char *to, const char *from,
	const char *body)
{
	buf_printf(&h->text, "define internal %s %s(%s %%x) " INLINED "%s}\n\n", to, name, from,
		body);
}

/* A conversion in two steps: the second is that of f32. */
static void put_steps(Helpers *h, const char *name, DType to, DType from)
{
	const char *t = h->d->type[from], *last = llvm_cast(h, to, DT_F32), *body;
	bool whole = dtype_int(from), sign = whole && dtype_signed(from);
	const char *odd = whole ? "@int_to_odd" : "@f64_to_odd";

	llvm_intrinsic(h, "fabs.f64", "double", "double");
	llvm_intrinsic(h, "ctlz.i64", "i64", "i64, i1");
	if (!helper_have(h, odd))
		put_cast(h, odd, "float", whole ? "i64" : "double", whole ? int_to_odd : f64_to_odd);
	if (!whole)
		body = "\t%f = call float @f64_to_odd(double %x)\n";
	else if (dtype_size(from) == 8)
		body = arena_printf("\t%%l = add %s %%x, 0\n", t);
	else
		body = arena_printf("\t%%l = %s %s %%x to i64\n", sign ? "sext" : "zext", t);
	if (sign)
		body = arena_printf("%s\t%%n = sub i64 0, %%l\n\t%%neg = icmp slt i64 %%l, 0\n"
			"\t%%m = select i1 %%neg, i64 %%n, i64 %%l\n"
			"\t%%g = call float @int_to_odd(i64 %%m)\n\t%%h = fneg float %%g\n"
			"\t%%f = select i1 %%neg, float %%h, float %%g\n", body);
	else if (whole)
		body = arena_printf("%s\t%%f = call float @int_to_odd(i64 %%l)\n", body);
	put_cast(h, name, "i16", t, arena_printf("%s\t%%r = call i16 %s(float %%f)\n\tret i16 %%r\n",
		body, last));
}

const char *llvm_cast(Helpers *h, DType to, DType from)
{
	const char *name = arena_printf("@%s_to_%s", dtype_name(from), dtype_name(to));

	if (helper_have(h, name))
		return name;
	if (dtype_half(from))
		put_cast(h, name, "float", "i16", from == DT_F16 ? f16_to_f32 : bf16_to_f32);
	else if (from == DT_F32)
		put_cast(h, name, "i16", "float", to == DT_F16 ? f32_to_f16 : f32_to_bf16);
	else
		put_steps(h, name, to, from);
	return name;
}
