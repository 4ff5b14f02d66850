# A program from grad.txt: for each call what its derivatives are (OUT=values), or how far they are from differences (OUT=errors).
#
#     e_7[0]  forward mode from differences along a direction, element by element
#     e_7[1]  reverse mode from forward mode
#     e_7[2]  the derivative of the reverse mode, forward, from its differences     e_7[3]  reverse again, from that
function args(f, step,   i, s) {
	for (i = 1; i <= n; i++)
		s = s (i > 1 ? ", " : "") (step == "" ? v[i] : v[i] " + " step " * d_" v[i])
	return f "(" s ")"
}
function slope(f) {
	return "(8 * (" args(f, "h") " - " args(f, "-h") ") - (" args(f, "2 * h") " - " args(f, "-2 * h") ")) / (12 * h)"
}
function list(prefix,   i, s) {
	for (i = 1; i <= n; i++)
		s = s (i > 1 ? ", " : "") prefix v[i]
	return "[" s "]"
}
# the sum over all variables of a gradient, a list, with the direction
function along(g,   i, s) {
	for (i = 1; i <= n; i++)
		s = s (i > 1 ? " + " : "") "sum(" g "[" (i - 1) "] * d_" v[i] ")"
	return s
}

BEGIN {
	print "h = 1e-3"
	for (i = split("x[3,4] y[3,4] p[3,4] q[3,4] r[3,4] z[2,3,4] v[5] w[4,6] b[4] m[2,4,6,6] k[6,2,3,3] t[3,4]", in_, " "); i; i--) {
		name = substr(in_[i], 1, 1)
		print "input " name " f64" substr(in_[i], 2)
		print "d_" name " = sin(reshape(f64(arange(size(" name "))), shape(" name ")) * 11.3 + " i ")"
	}
}
/^#/ || /^none / || !NF { next }
{
	c = "_" ++cases
	n = split("x", v, " ")
	if (match($0, / \| [a-z ]+$/)) {
		n = split(substr($0, RSTART + 3), v, " ")
		$0 = substr($0, 1, RSTART - 1)
	}
	print "# " $0
	print args("def f" c) " = " $0
	print "y" c " = " args("f" c)
	print "u" c " = sin(reshape(f64(arange(size(y" c "))), shape(y" c ")) * 3.7 + 1)"
	print args("def a" c) " {"
	print "\tg = vjp(" args("f" c) ", " list("") ", u" c ")"
	print "\treturn " along("g")
	print "}"
	print "A" c " = " args("a" c)
	print "j" c " = jvp(y" c ", " list("") ", " list("d_") ")"
	print "s" c " = jvp(A" c ", " list("") ", " list("d_") ")"
	print "T" c " = vjp(A" c ", " list("") ", 1)"
	print "r" c " = " along("T" c "")
	if (OUT == "values") {
		print "output j" c ", a" c " = A" c ", s" c ", r" c
		next
	}
	print "D" c " = " slope("f" c)
	print "S" c " = " slope("a" c)
	print "uj" c " = u" c " * j" c
	print "output e" c " = stack(max(abs(j" c " - D" c ") / (abs(D" c ") + 1e-3 * max(abs(D" c ")) + 1e-9)), " \
		"abs(A" c " - sum(uj" c ")) / (sum(abs(uj" c ")) + 1e-9), " \
		"abs(s" c " - S" c ") / (abs(S" c ") + 1e-3 * abs(A" c ") + 1e-9), " \
		"abs(r" c " - s" c ") / (abs(s" c ") + 1e-3 * abs(A" c ") + 1e-9))"
}
