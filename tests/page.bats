#!/usr/bin/env bats
# The page of show --html, in headless Chromium (page.py): what the first screen says, what clicks, words and the wheel
# lead to, and how much it draws for that. Skipped where there is no Chromium, but for what needs none.
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

opened() {
	command -v chromium > /dev/null || skip "chromium is not installed"
	sanitized && skip "it is about the page"
	return 0
}

# page FILE STEP…: what the steps tell, in the file `told`
page() {
	python3 "$TESTS/page.py" "$BATS_TEST_TMPDIR/$1" "${@:2}" > told || { cat told; return 1; }
}

has() { grep -qxE -- "$1" told || { echo "not told: $1"; head -n 40 told; return 1; }; }

program() {
	printf '%s\n' 'input x f32[n, 64] where n in 1..64' 'input w f32[64, 64]' 'h = relu(x @ w + 1)' '# a comment' \
		'output y = softmax(h)' 'output z = x.sum(axis=1)' > a.t
	ok tool run a.t x=rand w=rand n=8 -n 5 --profile=a.mp -o out.npz
}

resnet() {
	local python=$ROOT/build/venv/bin/python
	"$python" -c 'import onnx' 2> /dev/null || skip "there is no onnx package (make conformance installs it)"
	"$python" "$TESTS/models/make.py" . resnet50 > /dev/null
	tool trace resnet50.onnx > traced.mp 2> e || { grep -q 'without ONNX' e && skip "built without ONNX"; }
	tool fuse traced.mp > fused.mp
}

@test "page: ResNet-50 traced and fused, and as a profiled program: the first screen, the slowest kernel's source" {
	opened
	resnet
	ok tool run fused.mp @0=resnet50.1.npz -n 3 --profile=profile.mp -o out.npz
	for level in traced fused profile; do
		ok tool show --html $level.mp -o $level.html
		page $level.html 'tell:#strip button.done' 'tell:#slowest tr' 'tell:.row'
		has 'trace[0-9]+ (nodes|lines)'
		has '▾/conv1.*'
		has '▸layer1.0.*'
		[ "$(grep -c '%' told)" -ge 10 ]
	done
	has 'run[0-9.]+ ms a call'
	# one click: its source, which begins in sight with the kernel itself
	page profile.html 'click:#slowest a' 'tell:#details h2' 'tell:#source div'
	kernel=$(head -n 1 told)
	grep -qE "^(static )?void .*$kernel\(" told
	# a layer, its kernel, its loops
	page profile.html 'click:.row=▸layer1.0' 'click:.row .twist=▸' 'tell:.row'
	has '▾.*Conv.*' || has '▾.*MaxPool.*'
	# of a kernel that a step of the model is in: others are made by the tools
	page profile.html 'click:[data-view=kernels]' 'click:.row=r_batch_64_112_112' 'tell:#loops div' 'tell:#origins td'
	has ' *for (r[0-9]+ <|each of) .*'
	has '/(conv1|layer|fc).*'
}

@test "page: 10 000 nodes: search, zoom, drag, fit and every view, each at once" {
	opened
	awk 'BEGIN { print "input x f32[64, 64]"; p = "x"
		for (i = 0; i < 4000; i++) { printf "v%d = %s(%s + %d.5)\n", i, i % 2 ? "sin" : "exp2", p, i; p = "v" i }
		print "output y = " p ".sum(axis=1)" }' > big.t
	tool trace big.t > graph.mp
	tool schedule graph.mp > schedule.mp
	for level in graph schedule; do
		[ "$(tool show --count $level.mp | sed 's/.*nodes=\([0-9]*\).*/\1/')" -ge 10000 ]
		ok tool show --html $level.mp --source big.t -o big.html
		page big.html view wheel:-900 view drag:200 view 'click:#fit' view 'type:v77' 'tell:#rows .head' 'count:.row' \
			'click:.row' 'click:[data-view=nodes]' 'count:.row' 'click:[data-view=program]' 'tell:.row' 'click:.row=3' \
			'tell:#kernels tr'
		[ "$(sed -n 1p told)" = "0.000 1.000" ]
		[ "$(sed -n 4p told)" = "0.000 1.000" ]
		awk 'NR == 2 { wide = $2 - $1; from = $1; if (wide < 0.1 || wide > 0.4) exit 1 }
			NR == 3 { if ($1 >= from || ($2 - $1 - wide) ^ 2 > 1e-5) exit 1; exit }' told
		has '[0-9]+ found'
		has '2v0 = exp2\(x \+ 0.5\)2 (nodes|kernels).*'
		awk '/ found$/ { getline; exit !($1 > 5 && $1 < 100) }' told
	done
}

@test "page: from a line of the program to its kernels and back; sizes are those of the profile" {
	opened
	program
	# a program that is read is in the page, and one that is named
	ok tool show --html a.t -o graph.html
	page graph.html 'click:[data-view=program]' 'tell:.row'
	has '4# a comment'
	ok tool show --html a.mp --source a.t -o a.html
	page a.html 'tell:#facts' 'click:[data-view=program]' 'tell:.row' 'click:.row=3' 'tell:#kernels a' 'click:#kernels a' \
		'tell:#source div' 'click:#origins a' 'tell:#details h2'
	grep -q 'at n=8$' told
	has '3h = relu\(x @ w \+ 1\)1 kernels.*'
	has '4# a comment'
	grep -qE '^void r_n_64_64\(' told
	[ "$(tail -n 1 told)" = a.t:3 ]
	tool trace a.t | tool fuse | tool lower -t clang --reasons | tool show --html > reasons.html
	page reasons.html 'click:[data-view=kernels]' 'click:.row' 'tell:#reasons div'
	has 'because of a sum of .*'
	page a.html 'click:[data-view=buffers]' 'tell:.row' 'click:.row=w' 'tell:#details h2' 'tell:#details a'
	[ "$(tail -n 1 told)" = r_n_64_64 ]
}

@test "page: two profiles beside each other, by layer and kernel" {
	opened
	program
	tool run a.t x=rand w=rand n=8 -n 5 -j 1 --profile=b.mp -o out.npz 2> e
	ok tool show --html a.mp b.mp -o two.html
	page two.html 'tell:#choose option' 'tell:#differences tr' 'tell:#rows .head' 'click:#differences a' 'tell:h3'
	has '1: a.mp \(program\)'
	has '2: b.mp \(program\)'
	grep -q '^r_n_64_64.* ms.* ms[+−]' told
	grep -q 'A timeB timeB / A$' told
	has 'In B'
	# what one does not have; a stream of documents is the same as several FILEs
	tool fuse a.t > fused.mp
	tool schedule a.t | cat fused.mp - | tool show --html > two.html
	page two.html 'tell:#choose option' 'tell:#differences tr'
	has '2: standard input \(schedule\)'
	grep -q 'not there' told
}

@test "page: every level of every kind of document has a first screen; loops, branches, custom kernels" {
	opened
	for level in tensor graph; do
		mkdoc '{uop: 1, level: "'$level'", nodes: [["BUFFER","f32",[],{name:"x",shape:[3,4],role:"input"}],["NEG","f32",[0],nil],
			["REDUCE","f32",[1],["ADD",[1]]],["SINK",nil,[2],{names:["y"]}]]}' > g.mp
		ok tool show --html g.mp -o g.html
		page g.html 'tell:.row' 'click:.row'
		has '.*NEG.*'
	done
	mkdoc '{uop: 1, level: "graph", nodes: [["SINK",nil,[],{names:[]}]]}' > empty.mp
	for level in empty g; do
		tool schedule $level.mp > s.mp
		tool lower -t clang s.mp > l.mp
		for file in $level s l; do
			ok tool show --html $file.mp -o $file.html
			page $file.html 'type:sink' 'tell:.row'
			has '.*SINK.*'
		done
	done
	cat > loop.txt <<-'E'
	sluice 1 graph
	%0 = BUFFER i64 {name: "n", shape: [], role: "input"}
	%1 = BUFFER f32 {name: "x", shape: [8], role: "input"}
	%2 = CARRY f32 %1 [0, 0]
	%3 = SIN f32 %2
	%4 = LOOP %0 %3 {id: 0, limit: true, while: false, states: 1, values: 0}
	%5 = PICK f32 %4 0
	%6 = SINK %5 {names: ["y"]}
	E
	tool show -p loop.txt > loop.mp
	tool fuse loop.mp > s.mp
	tool run loop.mp n=3 x=rand --profile=p.mp -o out.npz 2> e
	for file in s p; do
		ok tool show --html $file.mp -o $file.html
		page $file.html 'click:[data-view=kernels]' 'tell:.row'
		has '.*LOOP.*'
	done
}

@test "page: hostile names stay text, in the JSON and in what is drawn" {
	doc '[["BUFFER","f32",[],{name:"<img src onerror>",shape:[3],role:"input"},
			{name:"</script><script>document.title=\"hit\"</script>"}],
		["NEG","f32",[0],nil,{name:"<!--<script>",loc:"\u0000\u2028\\\"]}<b>:3"}],
		["SINK",nil,[1],{names:["y"]}]]' > g.mp
	for level in g s; do
		ok tool show --html $level.mp -o $level.html
		# between the markers of its own script there is no < but in their own end
		[ "$(grep -c '</script>' $level.html)" = 2 ]
		sed -n '/id="data">/,/^<\/script>/p' $level.html | sed '1d;$d' > data
		not grep -q '<' data
		python3 -c 'import json; json.load(open("data"))'
		not grep -qE '(src|href)="?(https?:)?//' $level.html
		tool schedule g.mp > s.mp
	done
	# long texts are cut, and a name that all calls share does not make the page their product
	python3 - > long.txt <<-'E'
	print('sluice 1 graph\n%0 = BUFFER f32 {name: "x", shape: [3], role: "input"} @{name: "' + "/a" * 100000 + '"}')
	for i in range(2000):
	    print(f'%{i + 1} = SIN f32 %{i} @{{name: "' + "/a" * 500 + '"}')
	print('%2001 = SINK %2000 {names: ["y"]}')
	E
	sed -i 's/}"}$/"}/' long.txt
	tool show -p long.txt > long.mp
	tool fuse long.mp > fused.mp
	for file in long fused; do
		ok tool show --html $file.mp -o $file.html
		[ "$(wc -c < $file.html)" -lt 4000000 ]
	done
	opened
	for file in g s long fused; do
		page $file.html 'tell:title' 'click:[data-view=program]' 'click:.row' 'count:img' 'count:b script'
		not grep -q hit told
		[ "$(tail -n 2 told | tr '\n' ' ')" = "0 0 " ]
	done
}

@test "page: what show --html is not given" {
	small_graph > g.mp
	fails 2 tool show g.mp g.mp
	fails 2 tool show --count --source a.t g.mp
	fails 1 tool show --html g.mp none.mp
	fails 1 tool show --html g.mp --source none.t
	printf '\377\376' > binary
	fails 4 tool show --html g.mp --source binary
	[[ "$errors" == *"binary: is no text (UTF-8)" ]]
	# no Graphviz, and no other program
	mkdir path
	ok env PATH="$PWD/path" "$BIN/show" --html g.mp
}
