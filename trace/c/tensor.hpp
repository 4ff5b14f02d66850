/* The C++ version of sluice/tensor.h (C++17), with operators and overloads in place of macros.
 *
 *     #include <sluice/tensor.h>
 *     using namespace sluice;
 *
 *     SLUICE_FUNCTION(energy, ARG(x, F64, 12), ARG(w, F64, 12, 12))
 *     {
 *             Tensor y = matmul(w, x) - 0.5 * x;
 *             output("energy", sum(y(RANGE(1, NONE)) * y(RANGE(NONE, -1)), KW(axis, 0)));
 *     }
 *
 * x[i] is one index, x(i, RANGE(0, 4), ALL) several. {1, 2} is a list; a C array or a std::vector
 * of numbers becomes a constant of its own type wherever a Tensor is expected. */
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#define SLUICE_TENSOR ::sluice::Tensor
#define SLUICE_CALL(name, ...) ::sluice::call(SLUICE_HERE, name, {__VA_ARGS__})
#define CALL(name, ...) SLUICE_CALL(#name, __VA_ARGS__)
#define KW(name, v) ::sluice::Part{SLUICE_CALL(".named", #name, v).value}
#define LIST(...) SLUICE_CALL(".list", __VA_ARGS__)
#define TENSORS(array, n) ::sluice::list(std::vector<::sluice::Tensor>((array), (array) + (n)))
#define RANGE(...) ::sluice::Part{SLUICE_CALL(".range", __VA_ARGS__).value}

#define SLUICE_UNSET (SluiceValue{})
#define SLUICE_GIVEN(x) (::sluice::Arg(x).value)
#define SLUICE_TENSOR_OF(v) (::sluice::Tensor(v))
#define SLUICE_SLOT(p) (::sluice::slot(p))
#define SLUICE_SLOT_ARRAY ::sluice::Slots

namespace sluice {

class Arg;
class Tensor;
Tensor call(SluicePlace at, const char *name, std::initializer_list<Arg> args);

/* a tensor, or a size, number, string or list that becomes one where needed */
class Tensor {
public:
	SluiceValue value{};
	Tensor() = default;
	explicit Tensor(SluiceValue v) : value(v) {}
	template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
	Tensor(T v);
	Tensor operator[](const Arg &i) const;
	template <class... I>
	Tensor operator()(const Arg &i, const I &...more) const;
};

/* the variables of a LOOP, WHILE or IF */
inline SluiceValue *slot(Tensor *t) { return &t->value; }
struct Slots {
	SluiceValue *at[SLUICE_MOST + 1];
	operator SluiceValue *const *() const { return at; }
};

struct Part { SluiceValue value; };     /* part of an index: a range, all, rest, newaxis */
struct Word { const char *word; };
inline constexpr Word NONE{".none"}, ALL{".all"}, REST{".rest"}, NEW{".new"};

template <class T>
constexpr const char *dtype_of()
{
	using U = std::remove_cv_t<T>;
	if constexpr (std::is_same_v<U, bool>)
		return "bool";
	else if constexpr (std::is_floating_point_v<U>)
		return sizeof(U) == 4 ? "f32" : sizeof(U) == 8 ? "f64" : "long double";
	else if constexpr (std::is_integral_v<U> && std::is_signed_v<U>)
		return sizeof(U) == 1 ? "i8" : sizeof(U) == 2 ? "i16" : sizeof(U) == 4 ? "i32" : "i64";
	else
		return sizeof(U) == 1 ? "u8" : sizeof(U) == 2 ? "u16" : sizeof(U) == 4 ? "u32" : "u64";
}

/* Any C++ value as an argument, with its place in the source. */
class Arg {
	template <class T>
	static SluiceValue array(SluicePlace at, const T &a)
	{
		using E = std::remove_cv_t<std::remove_all_extents_t<T>>;
		static_assert(std::is_arithmetic_v<E> || (std::is_same_v<E, Tensor> && std::rank_v<T> == 1),
			"an argument is an array of what is no number");
		if constexpr (std::is_same_v<E, Tensor>)
			return vector(at, std::vector<Tensor>(a, a + std::extent_v<T>));
		else
			return numbers(at, a);
	}
	template <class T>
	static SluiceValue numbers(SluicePlace at, const T &a)
	{
		int64_t dim[16];
		int k = 0;
		sizes<T>(dim, k);
		return sluice_api->data(at, "literal", dtype_of<std::remove_all_extents_t<T>>(), k, dim, &a);
	}
	template <class T>
	static void sizes(int64_t *dim, int &k)
	{
		if constexpr (std::is_array_v<T>) {
			static_assert(std::rank_v<T> <= 16, "a rank of more than 16");
			dim[k++] = std::extent_v<T>;
			sizes<std::remove_extent_t<T>>(dim, k);
		}
	}
	template <class T>
	static SluiceValue vector(SluicePlace at, const std::vector<T> &v)
	{
		int64_t n = (int64_t)v.size();
		if constexpr (std::is_same_v<T, bool>) {
			std::vector<char> bytes(v.begin(), v.end());
			return sluice_api->data(at, "literal", "bool", 1, &n, bytes.data());
		} else if constexpr (std::is_arithmetic_v<T>) {
			return sluice_api->data(at, "literal", dtype_of<T>(), 1, &n, v.data());
		} else {
			std::vector<SluiceValue> element(v.size());
			for (size_t i = 0; i < v.size(); i++)
				element[i] = Arg(v[i]).value;
			return sluice_api->call(at, ".list", (int)n, element.data());
		}
	}
	template <class T>
	static SluiceValue number(SluicePlace at, T v)
	{
		static_assert(std::is_arithmetic_v<T>, "an argument is neither Tensor, number, text nor array");
		if constexpr (std::is_same_v<T, bool>)
			return sluice_api->truth(v);
		else if constexpr (std::is_floating_point_v<T>)
			return sluice_api->real((double)v);
		else if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) {
			if (v <= (T)INT64_MAX)
				return sluice_api->integer((int64_t)v);
			SluiceValue digits = sluice_api->text(std::to_string(v).c_str());
			return sluice_api->call(at, ".natural", 1, &digits);
		} else
			return sluice_api->integer((int64_t)v);
	}
	template <class T>
	static SluiceValue of(SluicePlace at, const T &v)
	{
		if constexpr (std::is_convertible_v<const T &, const char *>)
			return sluice_api->text(v);
		else if constexpr (std::is_array_v<T>)
			return array(at, v);
		else
			return number(at, v);
	}
	static SluiceValue of(SluicePlace, const Tensor &v) { return v.value; }
	static SluiceValue of(SluicePlace, const Part &v) { return v.value; }
	static SluiceValue of(SluicePlace at, const Word &v)
	{
		return sluice_api->call(at, v.word, 0, nullptr);
	}
	static SluiceValue of(SluicePlace, const std::string &v) { return sluice_api->text(v.c_str()); }
	template <class T>
	static SluiceValue of(SluicePlace at, const std::vector<T> &v) { return vector(at, v); }

public:
	SluicePlace at{};
	SluiceValue value{};
	Arg() = default;        /* an absent argument */
	template <class T, class = std::enable_if_t<!std::is_same_v<T, Arg>>>
	Arg(const T &v, const char *file = __builtin_FILE(), int line = __builtin_LINE())
		: at{file, line}, value(of(at, v)) {}
	Arg(std::initializer_list<Arg> list, const char *file = __builtin_FILE(),
		int line = __builtin_LINE())
		: at{file, line}, value(call(at, ".list", list).value) {}
};

inline Tensor call(SluicePlace at, const char *name, std::initializer_list<Arg> args)
{
	std::vector<SluiceValue> v;
	for (const Arg &a : args)
		if (a.value.id)
			v.push_back(a.value);
		/* a Tensor without a value has a place; an absent argument has none */
		else if (a.at.file)
			v.push_back(SluiceValue{});
	return Tensor(sluice_api->call(at, name, (int)v.size(), v.data()));
}

template <class T, class>
Tensor::Tensor(T v) : value(Arg(v).value) {}
inline Tensor Tensor::operator[](const Arg &i) const { return call(i.at, ".at", {*this, i}); }
template <class... I>
Tensor Tensor::operator()(const Arg &i, const I &...more) const
{
	return call(i.at, ".at", {*this, i, Arg(more)...});
}

/* A function of the library with up to twelve arguments; for more, pass a list. */
#define SLUICE_FN(name) \
	inline Tensor name(const Arg &a, const Arg &b = {}, const Arg &c = {}, const Arg &d = {}, \
		const Arg &e = {}, const Arg &f = {}, const Arg &g = {}, const Arg &h = {}, \
		const Arg &i = {}, const Arg &j = {}, const Arg &k = {}, const Arg &l = {}) \
	{ \
		return call(a.at, #name, {a, b, c, d, e, f, g, h, i, j, k, l}); \
	}

/* ---- operators */

#define SLUICE_OPERATOR(op, name) \
	inline Tensor operator op(const Arg &a, const Arg &b) { return call(a.at, name, {a, b}); }
SLUICE_OPERATOR(+, "add")
SLUICE_OPERATOR(-, "sub")
SLUICE_OPERATOR(*, "mul")
SLUICE_OPERATOR(/, "div")
SLUICE_OPERATOR(%, "mod")
SLUICE_OPERATOR(&, "bitwise_and")
SLUICE_OPERATOR(|, "bitwise_or")
SLUICE_OPERATOR(^, "bitwise_xor")
SLUICE_OPERATOR(<<, "shift_left")
SLUICE_OPERATOR(>>, "shift_right")
SLUICE_OPERATOR(<, "less")
SLUICE_OPERATOR(<=, "less_equal")
SLUICE_OPERATOR(>, "greater")
SLUICE_OPERATOR(>=, "greater_equal")
SLUICE_OPERATOR(==, "equal")
SLUICE_OPERATOR(!=, "not_equal")
#undef SLUICE_OPERATOR
#define SLUICE_OPERATOR(op, name) \
	inline Tensor &operator op(Tensor &a, const Arg &b) { return a = call(b.at, name, {a, b}); }
SLUICE_OPERATOR(+=, "add")
SLUICE_OPERATOR(-=, "sub")
SLUICE_OPERATOR(*=, "mul")
SLUICE_OPERATOR(/=, "div")
#undef SLUICE_OPERATOR
inline Tensor operator-(const Arg &a) { return call(a.at, "neg", {a}); }
inline Tensor operator+(const Arg &a) { return call(a.at, "add", {0, a}); }
inline Tensor operator~(const Arg &a) { return call(a.at, "bitwise_not", {a}); }
inline Tensor operator!(const Arg &a) { return call(a.at, "logical_not", {a}); }

/* ---- parts, arguments by name, lists */

template <class... I>
Tensor at(const Tensor &x, const Arg &i, const I &...more) { return x(i, more...); }
inline Tensor list(const std::vector<Tensor> &v) { return Tensor(Arg(v).value); }

/* ---- constants, states, outputs */

template <class T>
Tensor constant(const T &array, const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
	static_assert(!std::is_pointer_v<T>,
		"constant takes an array; for a pointer: constant_at(pointer, {sizes…})");
	return Tensor(Arg(array, file, line).value);
}
template <class T>
Tensor constant_at(const T *p, std::initializer_list<int64_t> sizes,
	const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
	return Tensor(sluice_api->data(
		{file, line}, "literal", dtype_of<T>(), (int)sizes.size(), sizes.begin(), p));
}
inline Tensor load(const Arg &file, const Arg &member = {})
{
	return call(file.at, ".load", {file, member});
}
inline Tensor state(const Arg &name, const Arg &first)
{
	return call(name.at, ".state", {name, first});
}
inline Tensor assign(const Arg &s, const Arg &next) { return call(s.at, ".assign", {s, next}); }
inline void output(const Arg &name, const Arg &x) { call(name.at, ".output", {name, x}); }

/* ---- values known while tracing */

inline int64_t dim(const Arg &x, const Arg &axis)
{
	return sluice_api->to_integer(x.at, call(x.at, ".dim", {x, axis}).value);
}
inline int rank(const Arg &x)
{
	return (int)sluice_api->to_integer(x.at, call(x.at, ".rank", {x}).value);
}
inline int length(const Arg &x)
{
	return (int)sluice_api->to_integer(x.at, call(x.at, ".length", {x}).value);
}
inline std::string dtype(const Arg &x)
{
	return sluice_api->to_text(x.at, call(x.at, ".dtype", {x}).value);
}
inline double number(const Arg &x) { return sluice_api->to_real(x.at, x.value); }
}
