#!/usr/bin/env bats
# The built-in rules: each is sound on every dtype, and unsound without any one of its conditions.
load helpers

@test "every rule is sound over edge values, and needs each of its conditions" {
	build check_rules render
	"$BATS_TEST_TMPDIR/check_rules"
}
