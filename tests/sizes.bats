#!/usr/bin/env bats
# Sizes that are open: what is decided about them when a program is traced, and what is left to run.
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

vars() { tool trace "$@" | tool show | sed -n 's/^vars //p'; }

@test "a size begins where the checks of it alone hold" {
	cat > windows.t <<'END'
input x f32[1, 1, n] where n in 1..100
const w f32 = [[[1, 2, 3]]]
output y = max_pool(conv1d(x, w, stride=2), 2)
END
	[ "$(vars windows.t)" = '{n: [5, 100]}' ]
	[ "$(vars --skip least windows.t)" = '{n: [1, 100]}' ]
	tool trace windows.t > windows.g
	tool run windows.g x=rand n=5
	fails 4 tool run windows.g x=rand n=4
	[[ $errors == *"outside 5 to 100"* ]]
	fails 4 tool run <(tool trace --skip least windows.t) x=rand n=4
	tool trace --prove windows.t > proved.g
	cmp windows.g proved.g
}

@test "a window larger than what it slides over is refused, not empty" {
	for f in 'max_pool(x, 3)' 'avg_pool(x, 3)' 'conv1d(x, w)'; do
		printf '%s\n' 'input x f32[1, 1, n] where n in 0..9' 'const w f32 = [[[1, 2, 3]]]' \
			"output y = $f" > window.t
		[ "$(vars window.t)" = '{n: [3, 9]}' ]
	done
}

@test "a check of two sizes, or one in a branch, leaves them as they are" {
	cat > branch.t <<'END'
input x f32[1, 1, n] where n in 1..100
input long bool
const w f32 = [[[1, 2, 3]]]
if long { y = sum(conv1d(x, w)) } else { y = sum(x) }
output y
END
	[ "$(vars branch.t)" = '{n: [1, 100]}' ]
	tool trace branch.t | tool run x=rand long=0 n=2
	printf '%s\n' 'input x f32[n] where n in 1..9' 'input y f32[m] where m in 1..9' \
		'output z = x[m - 3:]' > two.t
	[ "$(vars two.t)" = '{n: [1, 9], m: [3, 9]}' ]
}

@test "sizes rounded up to windows are known to be multiples of them" {
	cat > rounded.t <<'END'
input x f32[h, w, 3] where h in 1..1000, w in 1..1000
p = pad(x, [[0, -h % 4], [0, -(w % 4) % 4], [0, 0]])
b = reshape(p, [(h + 3) // 4, 4, (w + 3) // 4, 4, 3])
q = b.max(axis=[1, 3])[: (h + 3) // 4, ::2]
output y = reshape(pad(q, [[0, (h + 3) // 4 % 2], [0, 0], [0, 0]]), [(h + 7) // 8, 2, -1, 3])
END
	tool trace rounded.t > rounded.g
	tool show rounded.g > rounded.txt
	grep -q '\[(h+7)//8,2,(w+7)//8,3\]' rounded.txt
	! grep -q checks rounded.txt
	tool fuse rounded.g | tool render -t clang > rounded.p
	for s in 'h=5 w=13' 'h=1 w=1' 'h=16 w=8'; do
		tool run rounded.p x=rand $s -o have.npz
		tool run --interpret rounded.g x=rand $s -o want.npz
		tool diff want.npz have.npz
	done
}
