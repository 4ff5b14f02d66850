#!/usr/bin/env bash
# Checks a program's derivatives against finite differences, buffer by buffer, in f64: the
# derivative along a random direction by reverse mode (grad), by forward mode (jvp) and by the
# closest finite difference.
#
#     grad-check.sh PROGRAM [-o OUTPUTS] [-w BUFFERS] [NAME=VALUE…]      by all states and inputs of floats, unless -w names some;
#                                                                        inputs as for run. RTOL (1e-6) is what counts as equal
. "$(dirname "$0")/tools.sh"

program=${1:?a program is needed: grad-check.sh PROGRAM [-o OUTPUTS] [-w BUFFERS] [NAME=VALUE…]}
shift
options=()
while [[ ${1:-} == -[ow] ]]; do options+=("$1" "${2:?$1 needs names}"); shift 2; done

"$bin/trace" "$program" | "$bin/grad" --check "${options[@]}" | "$bin/run" "$@" > "$work/check"
awk -v rtol="${RTOL:-1e-6}" '
	function apart(a, b,   d, m) {
		d = a - b; d = d < 0 ? -d : d; a = a < 0 ? -a : a; b = b < 0 ? -b : b; m = a > b ? a : b
		return m > 0 ? d / m : 0
	}
	# reverse mode, forward mode, then the differences
	function judge(   i, e, f, best) {
		for (i = 3; i <= 5; i++) { e = apart(v[1], v[i]); if (i == 3 || e < best) { best = e; f = v[i] } }
		e = apart(v[1], v[2]); e = e > best ? e : best
		good = e <= rtol && f v[1] v[2] !~ /nan|inf/
		bad += !good
		printf "%-20s %16.9g %16.9g %16.9g  %8s  %s\n", name, v[1], v[2], f, e < 1e-9 ? "< 1e-9" : sprintf("%.0e", e),
			good ? "ok" : "WRONG"
	}
	BEGIN { printf "%-20s %16s %16s %16s  %8s\n", "", "reverse", "forward", "differences", "apart" }
	/ f64\[\]$/ { if (sub(/^reverse_/, "")) { n = 0; name = substr($0, 1, length($0) - 6) } next }
	NF { v[++n] = $1; if (n == 5) judge() }
	END { exit bad > 0 }' "$work/check"
