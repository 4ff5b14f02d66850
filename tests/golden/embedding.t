# a gather whose rows join what is done to them
input table f32[10, 4]
input id i64[5]
output y = embedding(id, table) * 2
