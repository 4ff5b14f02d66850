// helpers: min_i64 max_f32 min_f32 bits_f32_i32 bits_i32_f32 mulacc_f32
void r_5_37(float *__restrict m, float *__restrict s, long *__restrict i, const float *__restrict x, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		const long v0 = min_i64(gidx0 * 4, 1);
		float acc0_0, acc0_1, acc0_2, acc0_3;
		acc0_0 = -__builtin_inff();
		acc0_1 = -__builtin_inff();
		acc0_2 = -__builtin_inff();
		acc0_3 = -__builtin_inff();
		float acc1_0, acc1_1, acc1_2, acc1_3;
		acc1_0 = 0.0f;
		acc1_1 = 0.0f;
		acc1_2 = 0.0f;
		acc1_3 = 0.0f;
		long acc2_0, acc2_1, acc2_2, acc2_3;
		acc2_0 = 0;
		acc2_1 = 0;
		acc2_2 = 0;
		acc2_3 = 0;
		float acc3_0, acc3_1, acc3_2, acc3_3;
		acc3_0 = -__builtin_inff();
		acc3_1 = -__builtin_inff();
		acc3_2 = -__builtin_inff();
		acc3_3 = -__builtin_inff();
		for (long r1 = 0; r1 < 37; r1++) {
			const float v1 = x[v0 * 37 + r1];
			const float v2 = acc0_0;
			const float v3 = acc1_0;
			const float v4 = max_f32(v2, v1);
			const float v5 = min_f32(max_f32(v2 == v4 ? 0.0f : v2 - v4, -152.0f), 1.3e+02f);
			const float v6 = v5 + 25166078.0f;
			const float v7 = v5 - (v6 - 25166078.0f);
			const float v8 = bits_i32_f32((int)((unsigned)bits_f32_i32(v6) << 23));
			const float v9 = min_f32(max_f32(v1 == v4 ? 0.0f : v1 - v4, -152.0f), 1.3e+02f);
			const float v10 = v9 + 25166078.0f;
			const float v11 = v9 - (v10 - 25166078.0f);
			const float v12 = bits_i32_f32((int)((unsigned)bits_f32_i32(v10) << 23));
			const float v13 = v3 * (mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(1.5030574e-05f, v7, 0.00015653664f), v7, 0.001333949f), v7, 0.00961672f), v7, 0.055503797f), v7, 0.24022673f), v7, 0.69314724f), v7, 1.0f) * v8 * v8) + 1.0f * (mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(1.5030574e-05f, v11, 0.00015653664f), v11, 0.001333949f), v11, 0.00961672f), v11, 0.055503797f), v11, 0.24022673f), v11, 0.69314724f), v11, 1.0f) * v12 * v12);
			acc0_0 = v4;
			acc1_0 = v13;
			const float v14 = acc3_0;
			const long v15 = acc2_0;
			const unsigned char v16 = v14 < v1;
			const float v17 = v16 ? v1 : v14;
			const long v18 = v16 ? r1 : v15;
			acc3_0 = v17;
			acc2_0 = v18;
			const float v19 = x[v0 * 37 + r1 + 37];
			const float v20 = acc0_1;
			const float v21 = acc1_1;
			const float v22 = max_f32(v20, v19);
			const float v23 = min_f32(max_f32(v20 == v22 ? 0.0f : v20 - v22, -152.0f), 1.3e+02f);
			const float v24 = v23 + 25166078.0f;
			const float v25 = v23 - (v24 - 25166078.0f);
			const float v26 = bits_i32_f32((int)((unsigned)bits_f32_i32(v24) << 23));
			const float v27 = min_f32(max_f32(v19 == v22 ? 0.0f : v19 - v22, -152.0f), 1.3e+02f);
			const float v28 = v27 + 25166078.0f;
			const float v29 = v27 - (v28 - 25166078.0f);
			const float v30 = bits_i32_f32((int)((unsigned)bits_f32_i32(v28) << 23));
			const float v31 = v21 * (mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(1.5030574e-05f, v25, 0.00015653664f), v25, 0.001333949f), v25, 0.00961672f), v25, 0.055503797f), v25, 0.24022673f), v25, 0.69314724f), v25, 1.0f) * v26 * v26) + 1.0f * (mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(1.5030574e-05f, v29, 0.00015653664f), v29, 0.001333949f), v29, 0.00961672f), v29, 0.055503797f), v29, 0.24022673f), v29, 0.69314724f), v29, 1.0f) * v30 * v30);
			acc0_1 = v22;
			acc1_1 = v31;
			const float v32 = acc3_1;
			const long v33 = acc2_1;
			const unsigned char v34 = v32 < v19;
			const float v35 = v34 ? v19 : v32;
			const long v36 = v34 ? r1 : v33;
			acc3_1 = v35;
			acc2_1 = v36;
			const float v37 = x[v0 * 37 + r1 + 74];
			const float v38 = acc0_2;
			const float v39 = acc1_2;
			const float v40 = max_f32(v38, v37);
			const float v41 = min_f32(max_f32(v38 == v40 ? 0.0f : v38 - v40, -152.0f), 1.3e+02f);
			const float v42 = v41 + 25166078.0f;
			const float v43 = v41 - (v42 - 25166078.0f);
			const float v44 = bits_i32_f32((int)((unsigned)bits_f32_i32(v42) << 23));
			const float v45 = min_f32(max_f32(v37 == v40 ? 0.0f : v37 - v40, -152.0f), 1.3e+02f);
			const float v46 = v45 + 25166078.0f;
			const float v47 = v45 - (v46 - 25166078.0f);
			const float v48 = bits_i32_f32((int)((unsigned)bits_f32_i32(v46) << 23));
			const float v49 = v39 * (mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(1.5030574e-05f, v43, 0.00015653664f), v43, 0.001333949f), v43, 0.00961672f), v43, 0.055503797f), v43, 0.24022673f), v43, 0.69314724f), v43, 1.0f) * v44 * v44) + 1.0f * (mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(1.5030574e-05f, v47, 0.00015653664f), v47, 0.001333949f), v47, 0.00961672f), v47, 0.055503797f), v47, 0.24022673f), v47, 0.69314724f), v47, 1.0f) * v48 * v48);
			acc0_2 = v40;
			acc1_2 = v49;
			const float v50 = acc3_2;
			const long v51 = acc2_2;
			const unsigned char v52 = v50 < v37;
			const float v53 = v52 ? v37 : v50;
			const long v54 = v52 ? r1 : v51;
			acc3_2 = v53;
			acc2_2 = v54;
			const float v55 = x[v0 * 37 + r1 + 111];
			const float v56 = acc0_3;
			const float v57 = acc1_3;
			const float v58 = max_f32(v56, v55);
			const float v59 = min_f32(max_f32(v56 == v58 ? 0.0f : v56 - v58, -152.0f), 1.3e+02f);
			const float v60 = v59 + 25166078.0f;
			const float v61 = v59 - (v60 - 25166078.0f);
			const float v62 = bits_i32_f32((int)((unsigned)bits_f32_i32(v60) << 23));
			const float v63 = min_f32(max_f32(v55 == v58 ? 0.0f : v55 - v58, -152.0f), 1.3e+02f);
			const float v64 = v63 + 25166078.0f;
			const float v65 = v63 - (v64 - 25166078.0f);
			const float v66 = bits_i32_f32((int)((unsigned)bits_f32_i32(v64) << 23));
			const float v67 = v57 * (mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(1.5030574e-05f, v61, 0.00015653664f), v61, 0.001333949f), v61, 0.00961672f), v61, 0.055503797f), v61, 0.24022673f), v61, 0.69314724f), v61, 1.0f) * v62 * v62) + 1.0f * (mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(mulacc_f32(1.5030574e-05f, v65, 0.00015653664f), v65, 0.001333949f), v65, 0.00961672f), v65, 0.055503797f), v65, 0.24022673f), v65, 0.69314724f), v65, 1.0f) * v66 * v66);
			acc0_3 = v58;
			acc1_3 = v67;
			const float v68 = acc3_3;
			const long v69 = acc2_3;
			const unsigned char v70 = v68 < v55;
			const float v71 = v70 ? v55 : v68;
			const long v72 = v70 ? r1 : v69;
			acc3_3 = v71;
			acc2_3 = v72;
		}
		m[v0] = acc0_0;
		s[v0] = acc1_0;
		i[v0] = acc2_0;
		m[v0 + 1] = acc0_1;
		s[v0 + 1] = acc1_1;
		i[v0 + 1] = acc2_1;
		m[v0 + 2] = acc0_2;
		s[v0 + 2] = acc1_2;
		i[v0 + 2] = acc2_2;
		m[v0 + 3] = acc0_3;
		s[v0 + 3] = acc1_3;
		i[v0 + 3] = acc2_3;
	}
}

void r_5_37_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	r_5_37((float *)bufs[0], (float *)bufs[1], (long *)bufs[2], (const float *)bufs[3], from, to);
}

