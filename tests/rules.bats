#!/usr/bin/env bats
# The rules: each is sound on every dtype, and without one of its conditions it is not.
load helpers

@test "every rule is sound over edge values, and needs each of its conditions" {
	build check_rules render
	"$BATS_TEST_TMPDIR/check_rules"
}
