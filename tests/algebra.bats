#!/usr/bin/env bats
# The algebra of indices and sizes, and the views made with it.
load helpers

@test "random index expressions have their values, bounds and proofs" {
	build check_algebra
	ok "$BATS_TEST_TMPDIR/check_algebra" 1 3000
}

@test "random chains of movement ops read the right elements" {
	build check_views
	ok "$BATS_TEST_TMPDIR/check_views" 1 2000
}

@test "a map has the entries that were added and not removed" {
	build check_map
	ok "$BATS_TEST_TMPDIR/check_map" 1 20000
}

views() { doc "$1" > "$BATS_TEST_TMPDIR/g.mp" && ok "$BIN/show" --views "$BATS_TEST_TMPDIR/g.mp"; }

@test "views that cannot merge stay two, others become one" {
	local x='["BUFFER","f32",[],{name: "x", shape: [10,10], role: "input"}]' chain
	chain="$x"',["PERMUTE","f32",[0],[1,0]],["RESHAPE","f32",[1],[5,2,5,2]],["RESHAPE","f32",[2],[100]]'
	views "[$chain,!3]"
	[ "$output" = '%3 = PERMUTE RESHAPE RESHAPE of %0 BUFFER "x" [10,10]
  view [5,2,5,2] strides [2,1,20,10] offset 0
  view [100] strides [1] offset 0
  index (((idx0%10)*10)+(idx0//10))' ]
	views "[$chain"',["RESHAPE","f32",[3],[10,10]],!4]'
	[ "$output" = '%4 = PERMUTE RESHAPE RESHAPE RESHAPE of %0 BUFFER "x" [10,10]
  view [10,10] strides [1,10] offset 0
  index ((idx1*10)+idx0)' ]
}

@test "padding is a mask" {
	views '[["BUFFER","f32",[],{name: "x", shape: [3], role: "input"}],["PAD","f32",[0],[[1,2]]],!1]'
	[ "$output" = '%1 = PAD of %0 BUFFER "x" [3]
  view [6] strides [1] offset -1 mask [1:4]
  index (idx0+-1)
  when ((0<idx0) and (idx0<4))' ]
}
