/* ResNet-50 and BERT packed as libnets.a: an image and words, as bytes, to what each makes of them. */
#include "nets.h"
#include <stdio.h>

static _Alignas(64) unsigned char image_ws[nets_resnet50_WS_BYTES], words_ws[nets_bert_WS_BYTES];
static struct { float image[nets_resnet50_input_BYTES / 4];
	int64_t ids[nets_bert_input_ids_BYTES / 8], mask[nets_bert_attention_mask_BYTES / 8],
		types[nets_bert_token_type_ids_BYTES / 8]; } in;
static struct { float scores[nets_resnet50_output_BYTES / 4],
	words[nets_bert_last_hidden_state_BYTES / 4], pooled[nets_bert_pooler_output_BYTES / 4]; } out;

int main(void)
{
	nets_resnet50_args r = {.input = in.image, .output = out.scores};
	nets_bert_args b = {in.ids, in.mask, in.types, out.words, out.pooled};
	return !fread(&in, sizeof in, 1, stdin)
		|| nets_resnet50_init_ws(image_ws) || nets_resnet50_call(&r, image_ws)
		|| nets_bert_init_ws(words_ws) || nets_bert_call(&b, words_ws)
		|| !fwrite(&out, sizeof out, 1, stdout);
}
