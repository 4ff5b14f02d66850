#!/usr/bin/env bats
# What pack writes compiles without warnings, needs nothing else, and computes what run does.

load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

@test "a module with a state, a symbolic size and a constant" {
	cat > scores.t <<-'END'
		input x f32[n, 8] where n in 1..64
		const w f32 = [[1, 0, -1, 2, 1, 1, 1, 1], [0.5, 0.5, 0, 0, 1, 1, 1, 1]]
		state calls i64 = 0
		calls <- calls + 1
		output y = softmax(relu(x @ w.T)), c = calls
	END
	cat > main.c <<-'END'
		#include "lib/scores.h"
		#include <stdio.h>
		#include <stdlib.h>
		int main(void)
		{
			static float x[3 * 8], y[6];
			int64_t c;
			scores_args a = {3, x, y, &c};
			scores_state s;
			void *ws = aligned_alloc(scores_WS_ALIGN, (size_t)scores_ws_bytes(&a));

			for (int i = 0; i < 24; i++)
				x[i] = 0.5f;
			scores_init_state(&s);
			if (scores_init_ws(&a, ws) || scores_call(&a, &s, ws) || scores_call(&a, &s, ws))
				return 1;
			for (int i = 0; i < 6; i++)
				printf("%.6g ", (double)y[i]);
			printf("%d", (int)c);
			a.n = 65;
			printf(" %d", scores_call(&a, &s, ws) == scores_SIZE);
			a.n = 3;
			printf(" %d\n", scores_call(&a, &s, (char *)ws + 4) == scores_ALIGN);
			free(ws);
			return 0;
		}
	END
	trace scores.t | fuse | render -t clang | pack --name scores -o lib
	[ "$(echo lib/*)" = "lib/scores.c lib/scores.h" ]
	$CC -O1 -Wall -Wextra -fsanitize=address,undefined -o main main.c lib/scores.c -lm 2> /dev/null
	ok ./main
	[ "$output" = "0.622459 0.377541 0.622459 0.377541 0.622459 0.377541 2 1 1" ]
}

@test "names that C cannot have, and wrong ones of the module" {
	printf 'input int f32[2]\noutput double = int * 2\n' > odd.t
	trace odd.t | fuse | render -t clang > odd.mp
	ok pack --name odd -o lib odd.mp
	ok $CC -c -o /dev/null lib/odd.c
	fails 2 pack --name for -o lib2 odd.mp
	fails 2 pack --name 'a b' -o lib2 odd.mp
	[ ! -e lib2 ]
}
