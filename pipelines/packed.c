/* Classifies handwritten digits, 64 bytes each on standard input, by libdigit.a. */
#include "digit.h"
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	static uint8_t image[digit_image_BYTES_MAX];
	static int64_t digit[digit_n_MAX];
	digit_args args = {.image = image, .digit = digit};

	args.n = (int64_t)fread(image, 64, digit_n_MAX, stdin);
	void *ws = aligned_alloc(digit_WS_ALIGN, (size_t)digit_ws_bytes(&args) + digit_WS_ALIGN);
	if (!ws || digit_init_ws(&args, ws) || digit_call(&args, ws))
		return 1;
	for (int64_t i = 0; i < args.n; i++)
		printf("%d\n", (int)digit[i]);
	free(ws);
}
