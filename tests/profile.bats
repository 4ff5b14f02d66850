#!/usr/bin/env bats
# Where time goes and why: run --profile by kernel and by layer, its events, and what a kernel came from.
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	printf '%s\n' 'input x f32[256, 256]' 'input w f32[256, 256]' 'c = full([256], 3.0) + arange(256)' \
		'output y = relu(x @ w + 1).sum(axis=1)' 'output z = x + exp2(c)' > a.t
	tool trace a.t > a.mp
	tool fuse a.mp > f.mp
	tool render -t clang f.mp > p.mp
}

@test "profile: by kernel, sorted, with rates, shares of the peak measured in this run, and the limit" {
	ok tool run a.mp x=rand w=rand -n 20 -j 1 --profile -o out.npz
	cp stderr e
	grep -qE '^20 calls, [0-9.]+ ms each; peak of 1 thread here: [0-9.]+ GFLOP/s, [0-9.]+ GB/s$' e
	sed -n '/^by kernel/,/^by layer/p' e | grep -E '^ +[0-9.]+ +[0-9.]+%' > kernels
	[ "$(wc -l < kernels)" -ge 2 ]
	awk '{ print $1 }' kernels | sort -rg | command -p diff <(awk '{ print $1 }' kernels) -
	awk '{ all += $2 } END { exit !(all > 99 && all < 101) }' kernels
	# 2 * 256^3 operations of the product, 256^2 of each op behind it, in the time that is said
	awk '$8 ~ /^[0-9]+$/ && $9 ~ /256_256_256|r_256_256/ { n = $1 * $3 * 1e6; if (n > m) m = n }
		END { exit !(m > 2 * 256 ^ 3 * .95 && m < 2 * 256 ^ 3 * 1.15) }' kernels || { cat kernels; return 1; }
	[ "$(grep -cE ' (compute|memory|neither) ' kernels)" = "$(wc -l < kernels)" ]
}

@test "profile: by layer, with the user's names, equal kernels apart" {
	model=$TESTS/models/small/bert_base.onnx
	tool trace "$model" > m.mp 2> e || { grep -q 'without ONNX' e && skip "built without ONNX"; }
	tool fuse m.mp > m.fused
	sizes=$(tool show m.fused | sed -n 's/^vars {\(.*\)}/\1/p' | grep -oE '[a-z_]+:' | sed 's/:/=2/')
	inputs=$(tool show m.fused | grep -oE '\{name: "[^"]+", shape: [^}]*role: "input"' | sed 's/{name: "\([^"]*\)".*/\1=zeros/' | sort -u)
	ok tool run m.fused $inputs $sizes --profile -o out.npz
	sed -n '/^by layer/,$p' stderr > layers
	for layer in /embeddings /encoder/layer.0 /encoder/layer.1; do
		grep -q " $layer\$" layers || { cat layers; return 1; }
	done
}

@test "profile: FILE.json has an event for each run of a kernel, and the parts of the run" {
	ok tool run a.mp x=rand w=rand -n 5 --profile=p.json -o out.npz
	python3 - <<-'END'
		import json
		events = json.load(open("p.json"))["traceEvents"]
		spans = [e for e in events if e["ph"] == "X"]
		kernels = [e for e in spans if e["tid"] == 1]
		assert len(kernels) >= 10, len(kernels)
		assert all(e["dur"] >= 0 and e["ts"] >= 0 for e in spans)
		whole = [e for e in spans if e["name"] == "calls"][0]
		assert any(e["ts"] >= whole["ts"] for e in kernels)
		assert any(":4" in e.get("args", {}).get("layer", "") for e in kernels), kernels
	END
}

@test "profile: the stages of a whole pipeline, their passes and kernels are on one timeline, and documents stay the same" {
	# the stages that run starts
	XDG_CACHE_HOME=$PWD/empty ok tool run a.t x=rand w=rand --profile=own.json -o out.npz
	# those that a user has written, and one that fails
	export SLUICE_PROFILE=all.json
	tool trace a.t | tool fuse | tee f2.mp | tool render -t clang | tool run x=rand w=rand --profile -o out.npz 2> e
	fails 1 tool trace none.t
	unset SLUICE_PROFILE
	cmp f.mp f2.mp
	python3 - <<-'END'
		import json
		for name in "own.json", "all.json":
		    events = json.load(open(name))["traceEvents"]
		    spans = [e for e in events if e["ph"] == "X"]
		    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
		    want = {"trace", "schedule", "fuse", "lower", "render-clang", "run"}
		    assert want <= set(names.values()), names
		    whole = {e["pid"]: e for e in spans if e["tid"] == 0 and e["name"] == names[e["pid"]] and "args" in e}
		    assert set(whole) == set(names)
		    for e in whole.values():
		        assert e["args"]["peak MB"] > 0.5
		    # passes and kernels are within their process, and kernels after what made them
		    for e in spans:
		        w = whole[e["pid"]]
		        assert w["ts"] - 1 <= e["ts"] and e["ts"] + e["dur"] <= w["ts"] + w["dur"] + 1, e
		    passes = {names[e["pid"]] + " " + e["name"] for e in spans}
		    assert {"fuse produce", "lower actions", "schedule kernels", "run calls"} <= passes, passes
		    fused = [e for e in spans if e["name"] == "plan"][0]
		    kernels = [e for e in spans if e["tid"] == 1]
		    assert kernels and all(e["ts"] > fused["ts"] for e in kernels)
	END
	# no file of somebody else's is written to
	cp a.t mine
	for file in mine no/folder .; do
		SLUICE_PROFILE=$file fails 1 tool trace a.t
	done
	cmp a.t mine
	fails 2 env SLUICE_PROFILE=all.json "$BIN/run" a.t x=rand w=rand --profile=other.json
	# many at once, several times: each finds the file as another one leaves it
	for turn in {1..12}; do
		rm -f many.json
		for i in {1..8}; do SLUICE_PROFILE=many.json tool trace a.t > t$i.mp & done
		wait
		[ "$(python3 -c 'import json; print(sum(e["name"] == "process_name" for e in json.load(open("many.json"))["traceEvents"]))')" = 8 ]
	done
}

@test "why: lines, merges with their costs, actions; at every level of kernels" {
	ok tool why y f.mp
	grep -qE '^K[0-9]+ r_256.* -> y$' stdout
	grep -qE '^  y +[A-Z]+ +y \(a.t:4\)$' stdout
	grep -qE 'merged into' stdout
	grep -qE ': [0-9.e+]+ against [0-9.e+]+ apart$' stdout
	grep '^  [ty][0-9]* ' stdout > origins
	ok tool why y p.mp
	grep '^  [ty][0-9]* ' stdout | command -p diff origins -
	grep -q '^  target    "clang"$' stdout
	grep -q '^  actions   \[\[' stdout
	# without fuse every op is by itself
	tool schedule a.mp > s.mp
	ok tool why y s.mp
	not grep -q merged stdout
	fails 3 tool why y a.mp
	fails 2 tool why yy f.mp
	fails 2 tool why
}

@test "why -t: the rule and the figures that chose the actions, for a CPU and a GPU; documents without it stay the same" {
	# the sum over k of x @ w; the last one is of neighbours; z has no sum
	for target in clang c; do
		ok tool why -t $target y f.mp
		grep -qE '^  lower +because of a sum of 256' stdout
		grep -qE '^  actions +\[\[' stdout
		ok tool why -t $target z f.mp
		grep -qE '^  lower +because of 65536 places that are neighbours along r[01], [0-9]+ to a vector$' stdout
	done
	ok tool why -t opencl z f.mp
	grep -qE '^  lower +because of 65536 places, no reduction$' stdout
	ok tool why -t opencl y f.mp
	grep -qE '^  lower +because of .*reductions? of 256 .*a group takes 64' stdout
	# a program too, by number and by name
	ok tool why -t clang K0 a.t
	# the same as lower gives on request, which changes nothing else
	tool lower -t clang --reasons f.mp > with.mp
	tool lower -t clang f.mp > without.mp
	ok tool why y with.mp
	grep -q 'because of a sum of 256' stdout
	tool show with.mp | sed 's/, reasons: .*/}/' | command -p diff - <(tool show without.mp)
	fails 2 tool why -t clang y p.mp
	fails 3 tool why -t none y f.mp
}
