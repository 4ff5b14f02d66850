/* Functions that give an op its exact meaning where no instruction does: division by zero, shifts
 * by too much, NaN in a maximum, rounding to f16. In a template $T is the type, $N the dtype, $W
 * its bits, $M these less one.
 *
 *     define internal i32 @shl_i32(i32 %a, i32 %b) alwaysinline nounwind { %k = icmp …
 *
 * Each is printed once, before the kernel that uses it; nothing of it is left once it is
 * inlined. */
#include "llvm/llvm.h"

/* ---- two sources of one dtype */

/* a divisor that no processor stops at: 1 for 0 and -1 */
#define DIVISOR "\t%z = icmp eq $T %b, 0\n\t%m = icmp eq $T %b, -1\n\t%u = or i1 %z, %m\n" \
	"\t%d = select i1 %u, $T 1, $T %b\n"
#define QUOTIENT "\t%n = sub $T 0, %a\n\t%s = select i1 %m, $T %n, $T %q\n" \
	"\t%r = select i1 %z, $T 0, $T %s\n"
#define UDIVISOR "\t%z = icmp eq $T %b, 0\n\t%d = select i1 %z, $T 1, $T %b\n"
#define UDIV UDIVISOR "\t%q = udiv $T %a, %d\n\t%r = select i1 %z, $T 0, $T %q\n"
#define UREM UDIVISOR "\t%r = urem $T %a, %d\n"
/* f: there is a remainder, and its sign is not the divisor's */
#define REMAINDER DIVISOR "\t%x = srem $T %a, %d\n\t%i = icmp ne $T %x, 0\n" \
	"\t%y = xor $T %x, %b\n\t%o = icmp slt $T %y, 0\n\t%f = and i1 %i, %o\n"
#define EXTREME(compare) "\t%c = icmp " compare " $T %a, %b\n" \
	"\t%r = select i1 %c, $T %a, $T %b\n"
#define FEXTREME(compare) "\t%c = fcmp " compare " $T %a, %b\n\t%n = fcmp uno $T %a, %a\n" \
	"\t%o = or i1 %c, %n\n\t%r = select i1 %o, $T %a, $T %b\n"
#define COUNT "\t%k = icmp ult $T %b, $W\n"
#define SHIFT(shift) COUNT "\t%c = select i1 %k, $T %b, $T 0\n\t%s = " shift " $T %a, %c\n" \
	"\t%r = select i1 %k, $T %s, $T 0\n"
/* by squaring: as many turns as b has bits */
#define POWER(result) "\tbr label %loop\nloop:\n\t%v = phi $T [1, %0], [%s, %loop]\n" \
	"\t%p = phi $T [%a, %0], [%q, %loop]\n\t%n = phi $T [%b, %0], [%m, %loop]\n" \
	"\t%l = and $T %n, 1\n\t%o = icmp ne $T %l, 0\n\t%x = mul $T %v, %p\n" \
	"\t%s = select i1 %o, $T %x, $T %v\n\t%q = mul $T %p, %p\n\t%m = lshr $T %n, 1\n" \
	"\t%c = icmp ne $T %m, 0\n\tbr i1 %c, label %loop, label %done\ndone:\n" result
#define NEGATIVE "\t%e = icmp slt $T %b, 0\n\t%f = icmp eq $T %a, 1\n" \
	"\t%g = icmp eq $T %a, -1\n\t%h = and $T %b, 1\n\t%i = icmp ne $T %h, 0\n" \
	"\t%j = select i1 %i, $T -1, $T 1\n\t%k = select i1 %g, $T %j, $T 0\n" \
	"\t%t = select i1 %f, $T 1, $T %k\n\t%r = select i1 %e, $T %t, $T %s\n"

static const struct { const char *sint, *uint, *flt; } binary[OP_COUNT] = {
	[OP_MAX] = {EXTREME("sgt"), EXTREME("ugt"), FEXTREME("ogt")},
	[OP_MIN] = {EXTREME("slt"), EXTREME("ult"), FEXTREME("olt")},
	[OP_IDIV] = {DIVISOR "\t%q = sdiv $T %a, %d\n" QUOTIENT, UDIV},
	[OP_MOD] = {DIVISOR "\t%r = srem $T %a, %d\n", UREM},
	[OP_FLOORDIV] = {REMAINDER "\t%t = sdiv $T %a, %d\n\t%e = sext i1 %f to $T\n"
		"\t%q = add $T %t, %e\n" QUOTIENT, UDIV},
	[OP_FLOORMOD] = {REMAINDER "\t%w = add $T %x, %b\n\t%r = select i1 %f, $T %w, $T %x\n",
		UREM},
	[OP_SHL] = {SHIFT("shl"), SHIFT("shl")},
	[OP_SHR] = {COUNT "\t%c = select i1 %k, $T %b, $T $M\n\t%r = ashr $T %a, %c\n",
		SHIFT("lshr")},
	[OP_POW] = {POWER(NEGATIVE), POWER("\t%r = add $T %s, 0\n")},
};

static void put(Buf *b, DType d, const char *type, const char *text)
{
	for (; *text; text++) {
		if (*text != '$')
			buf_add(b, text, 1);
		else if (*++text == 'T')
			buf_printf(b, "%s", type);
		else if (*text == 'N')
			buf_printf(b, "%s", dtype_name(d));
		else
			buf_printf(b, "%d", 8 * dtype_size(d) - (*text == 'M'));
	}
}

static void put_function(Helpers *h, const char *name, const char *head, const char *body,
	const char *to, int lanes)
{
	buf_printf(&h->text, "define internal ");
	llvm_widen(&h->text, head, lanes);
	buf_printf(&h->text, " alwaysinline nounwind {\n");
	llvm_widen(&h->text, body, lanes);
	llvm_widen(&h->text, arena_printf("\tret %s %%r\n}\n\n", to), lanes);
}

const char *llvm_binary(Helpers *h, Op op, DType full)
{
	DType d = dtype_element(full);
	int lanes = dtype_lanes(full);
	const char *name = arena_printf("@%s_%s", op_word(op), dtype_name(full));
	const char *t = h->d->type[d];
	Buf body = {0};
	const char *text = dtype_float(d) ? binary[op].flt :
		dtype_signed(d)           ? binary[op].sint :
					    binary[op].uint;

	if (!text)
		die(MALFORMED, "target llvm has no %s of %s", op_name(op), dtype_name(d));
	if (helper_have(h, name))
		return name;
	put(&body, d, t, text);
	put_function(h, name, arena_printf("%s %s(%s %%a, %s %%b)", t, name, t, t), buf_str(&body),
		t, lanes);
	buf_free(&body);
	return name;
}

const char *llvm_declare(Helpers *h, const char *name, const char *to, const char *sources)
{
	const char *s = arena_printf("@llvm.%s", name);

	if (!helper_have(h, s))
		buf_printf(&h->text, "declare %s %s(%s)\n", to, s, sources);
	return s;
}

/* ---- roundings: f16 and bf16 are their bits */

static const struct { const char *name, *to, *from, *body; } roundings[] = {
	{"@f16_to_f32", "float", "i16",
		"\t%u = zext i16 %x to i32\n\t%t = and i32 %u, 32768\n\t%sign = shl i32 %t, 16\n"
		"\t%e = and i32 %u, 31744\n\t%m = and i32 %u, 1023\n"
		"\t%mf = uitofp i32 %m to float\n\t%sf = fmul float %mf, 0x3E70000000000000\n"
		"\t%small = bitcast float %sf to i32\n\t%q = icmp ne i32 %m, 0\n"
		"\t%qi = zext i1 %q to i32\n\t%quiet = shl i32 %qi, 22\n"
		"\t%m13 = shl i32 %m, 13\n\t%odd = or i32 %m13, %quiet\n"
		"\t%inf = or i32 %odd, 2139095040\n\t%a = and i32 %u, 32767\n"
		"\t%a13 = shl i32 %a, 13\n\t%plain = add i32 %a13, 939524096\n"
		"\t%is = icmp eq i32 %e, 0\n\t%ii = icmp eq i32 %e, 31744\n"
		"\t%v = select i1 %ii, i32 %inf, i32 %plain\n"
		"\t%w = select i1 %is, i32 %small, i32 %v\n\t%o = or i32 %w, %sign\n"
		"\t%r = bitcast i32 %o to float\n"},
	{"@bf16_to_f32", "float", "i16", "\t%u = zext i16 %x to i32\n\t%s = shl i32 %u, 16\n"
		"\t%r = bitcast i32 %s to float\n"},
	/* below 2^-14 the addition of 0.5 rounds to a multiple of 2^-24, f16's smallest step */
	{"@f32_to_f16", "i16", "float",
		"\t%u = bitcast float %x to i32\n\t%u16 = lshr i32 %u, 16\n"
		"\t%sign = and i32 %u16, 32768\n\t%m = and i32 %u, 2147483647\n"
		"\t%m13 = lshr i32 %m, 13\n\t%low = and i32 %m13, 1023\n"
		"\t%nan = or i32 %low, 32256\n\t%mf = bitcast i32 %m to float\n"
		"\t%sf = fadd float %mf, 0.5\n\t%si = bitcast float %sf to i32\n"
		"\t%small = sub i32 %si, 1056964608\n\t%odd = and i32 %m13, 1\n"
		"\t%a = add i32 %m, -939520001\n\t%b = add i32 %a, %odd\n"
		"\t%plain = lshr i32 %b, 13\n\t%is = icmp ult i32 %m, 947912704\n"
		"\t%ii = icmp uge i32 %m, 1199566848\n\t%in = icmp ugt i32 %m, 2139095040\n"
		"\t%c = select i1 %is, i32 %small, i32 %plain\n"
		"\t%d = select i1 %ii, i32 31744, i32 %c\n"
		"\t%e = select i1 %in, i32 %nan, i32 %d\n\t%o = or i32 %e, %sign\n"
		"\t%r = trunc i32 %o to i16\n"},
	{"@f32_to_bf16", "i16", "float",
		"\t%u = bitcast float %x to i32\n\t%h = lshr i32 %u, 16\n\t%nan = or i32 %h, 64\n"
		"\t%odd = and i32 %h, 1\n\t%a = add i32 %u, 32767\n\t%b = add i32 %a, %odd\n"
		"\t%plain = lshr i32 %b, 16\n\t%in = fcmp uno float %x, %x\n"
		"\t%o = select i1 %in, i32 %nan, i32 %plain\n\t%r = trunc i32 %o to i16\n"},
	/* to odd: an inexact result has its last bit set, so that rounding it again rounds as if
	 * once */
	{"@f64_to_odd", "float", "double",
		"\t%f = fptrunc double %x to float\n\t%g = fpext float %f to double\n"
		"\t%same = fcmp ueq double %g, %x\n\t%neg = fcmp olt double %x, 0.0\n"
		"\t%more = fcmp ogt double %g, %x\n\t%less = fcmp olt double %g, %x\n"
		"\t%far = select i1 %neg, i1 %less, i1 %more\n\t%o = sext i1 %far to i32\n"
		"\t%u = bitcast float %f to i32\n\t%v = add i32 %u, %o\n\t%w = or i32 %v, 1\n"
		"\t%s = select i1 %same, i32 %u, i32 %w\n\t%r = bitcast i32 %s to float\n"},
	{"@int_to_odd", "float", "i64",
		"\t%z = call i64 @llvm.ctlz.i64(i64 %x, i1 false)\n\t%over = icmp ult i64 %z, 40\n"
		"\t%d = sub i64 40, %z\n\t%s = select i1 %over, i64 %d, i64 0\n"
		"\t%one = shl i64 1, %s\n\t%mask = sub i64 %one, 1\n\t%low = and i64 %x, %mask\n"
		"\t%in = icmp ne i64 %low, 0\n\t%i = zext i1 %in to i64\n\t%h = lshr i64 %x, %s\n"
		"\t%o = or i64 %h, %i\n\t%a = uitofp i64 %o to float\n"
		"\t%b = uitofp i64 %one to float\n\t%r = fmul float %a, %b\n"},
};

const char *llvm_rounding(Helpers *h, const char *name, int lanes)
{
	const char *wide = lanes > 1 ? arena_printf("%s_x%d", name, lanes) : name;
	size_t i = 0;

	while (strcmp(roundings[i].name, name))
		i++;
	if (strstr(roundings[i].body, "ctlz"))
		llvm_declare(h, "ctlz.i64", "i64", "i64, i1");
	if (!helper_have(h, wide))
		put_function(h, wide, arena_printf("%s %s(%s %%x)", roundings[i].to, wide,
			roundings[i].from), roundings[i].body, roundings[i].to, lanes);
	return wide;
}
