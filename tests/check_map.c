/* check_map SEED COUNT: a map against a plain array, keys put and taken out at random. */
#include "base/base.h"
#include <stdlib.h>

enum { KEYS = 100 };

int main(int argc, char **argv)
{
	static char thing[KEYS];
	char *is[KEYS] = {0};
	Map m = {0};
	srand(atoi(argv[1]));
	for (int i = 0; i < atoi(argv[2]); i++) {
		int k = rand() % KEYS;
		size_t n = 0;
		is[k] = rand() % 2 ? &thing[rand() % KEYS] : NULL;
		map_put(&m, k, is[k]);
		for (int j = 0; j < KEYS; j++) {
			n += is[j] != NULL;
			if (map_get(&m, j) != is[j]) {
				printf("after %d: key %d is not what was put there\n", i, j);
				return 1;
			}
		}
		if (m.n != n) {
			printf("after %d: %zu keys, not %zu\n", i, m.n, n);
			return 1;
		}
	}
	map_free(&m);
	return 0;
}
