/* SPDX-License-Identifier: MIT */
/* Decoders of all types in terms of lanes.h. The layouts are described in the file of each type. */
#define LANES_SINGLE(L) L(F32) L(F16) L(BF16) L(F64) L(I8) L(I16) L(I32) L(I64)
#define LANES_BLOCKS(L) \
	L(Q4_0) L(Q4_1) L(Q5_0) L(Q5_1) L(Q8_0) L(Q8_1) L(Q2_K) L(Q3_K) L(Q4_K) L(Q5_K) L(Q6_K) L(Q8_K) \
	L(IQ2_XXS) L(IQ2_XS) L(IQ2_S) L(IQ3_XXS) L(IQ3_S) L(IQ1_S) L(IQ1_M) L(IQ4_NL) L(IQ4_XS) \
	L(TQ1_0) L(TQ2_0) L(MXFP4) L(NVFP4) L(Q1_0) L(Q2_0)

/* ---- one value to a block: 16 at a time, the rest plainly ---- */

#define SINGLE(name, put) \
	static void decode_##name(float *dst, const void *src, size_t n) \
	{ \
		const uint8_t *p = src; \
\
		for (; n >= 16; n -= 16, p += 16 * name##_BYTES, dst += 16) \
			put; \
		quant_##name.decode(dst, p, n); \
	}
/* As vectors of four, since clang makes calls and single steps of a loop over a copy. */
#define EACH(type) \
	for (int i = 0; i < 16; i += 4) { \
		typedef type wide __attribute__((vector_size(4 * sizeof(type)))); \
		typedef float narrow __attribute__((vector_size(16))); \
		wide v; \
		narrow f; \
\
		memcpy(&v, p + i * sizeof(type), sizeof v); \
		f = __builtin_convertvector(v, narrow); \
		memcpy(dst + i, &f, sizeof f); \
	}
SINGLE(F32, memcpy(dst, p, 64))
SINGLE(F64, EACH(double))
SINGLE(I16, lanes_put_words(dst, p))
SINGLE(I32, lanes_put_longs(dst, p))
SINGLE(I64, EACH(int64_t))
SINGLE(F16, lanes_put_half(dst, p))
SINGLE(BF16, lanes_put_bfloat(dst, p))
SINGLE(I8, lanes_put(dst, lanes_load(p), 1))
#undef SINGLE
#undef EACH

/* ---- blocks: a function for one, block_NAME, and the loop over them made at the end ---- */

static inline void block_Q4_0(float *dst, const uint8_t *b)
{
	lanes16 q = lanes_load(b + 2);
	float d = get_half(b);

	lanes_put(dst, lanes_nibble(q, 0) - 8, d);
	lanes_put(dst + 16, lanes_nibble(q, 4) - 8, d);
}

static inline void block_Q4_1(float *dst, const uint8_t *b)
{
	lanes16 q = lanes_load(b + 4);
	float d = get_half(b), min = -get_half(b + 2);

	lanes_put_above(dst, lanes_nibble(q, 0), d, min);
	lanes_put_above(dst + 16, lanes_nibble(q, 4), d, min);
}

static inline void block_Q5_0(float *dst, const uint8_t *b)
{
	lanes16 q = lanes_load(b + 6);
	float d = get_half(b);

	lanes_put(dst, (lanes_nibble(q, 0) | (lanes_mask(get16(b + 2)) & 16)) - 16, d);
	lanes_put(dst + 16, (lanes_nibble(q, 4) | (lanes_mask(get16(b + 4)) & 16)) - 16, d);
}

static inline void block_Q5_1(float *dst, const uint8_t *b)
{
	lanes16 q = lanes_load(b + 8);
	float d = get_half(b), min = -get_half(b + 2);

	lanes_put_above(dst, lanes_nibble(q, 0) | (lanes_mask(get16(b + 4)) & 16), d, min);
	lanes_put_above(dst + 16, lanes_nibble(q, 4) | (lanes_mask(get16(b + 6)) & 16), d, min);
}

static inline void block_Q8_0(float *dst, const uint8_t *b)
{
	float d = get_half(b);

	lanes_put(dst, lanes_load(b + 2), d);
	lanes_put(dst + 16, lanes_load(b + 18), d);
}

static inline void block_Q8_1(float *dst, const uint8_t *b)
{
	float d = get_half(b);

	lanes_put(dst, lanes_load(b + 4), d);
	lanes_put(dst + 16, lanes_load(b + 20), d);
}

static inline void block_Q8_K(float *dst, const uint8_t *b)
{
	float d = get_float(b);

	for (int i = 0; i < 256; i += 16)
		lanes_put(dst + i, lanes_load(b + 4 + i), d);
}

static inline void block_Q2_K(float *dst, const uint8_t *b)
{
	float scale[16], min[16];

	lanes_put(scale, lanes_nibble(lanes_load(b), 0), get_half(b + 80));
	lanes_put(min, lanes_nibble(lanes_load(b), 4), get_half(b + 82));
	for (int g = 0; g < 16; g++) {
		lanes16 q = lanes_load(b + 16 + g / 8 * 32 + g % 2 * 16);

		lanes_put_above(dst + 16 * g, lanes_bits(q, g % 8 / 2 * 2, 3), scale[g], min[g]);
	}
}

/* What q3_k_scale gives for 0 to 15 */
static inline lanes16 q3_k_scales(const uint8_t *s)
{
	uint64_t low = get64(s), high = get32(s + 8);

	high |= high << 30; /* scales 4 to 7 and 12 to 15 have theirs two bits higher */
	return (lanes_of_words(low & 0x0f0f0f0f0f0f0f0f, low >> 4 & 0x0f0f0f0f0f0f0f0f) |
		lanes_of_words((high & 0x0303030303030303) << 4, high & 0x3030303030303030)) - 32;
}

static inline void block_Q3_K(float *dst, const uint8_t *b)
{
	float scale[16];

	lanes_put(scale, q3_k_scales(b + 96), get_half(b + 108));
	for (int g = 0; g < 16; g++) {
		lanes16 low = lanes_bits(lanes_load(b + 32 + g / 8 * 32 + g % 2 * 16), g % 8 / 2 * 2, 3);
		lanes16 high = lanes_bits(lanes_load(b + g % 2 * 16), g / 2, 1);

		lanes_put(dst + 16 * g, low + high * 4 - 4, scale[g]);
	}
}

/* What k_scale and k_min give for 0 to 7: eight scales, eight minima */
static inline lanes16 k_scales(const uint8_t *s)
{
	uint32_t a = get32(s), b = get32(s + 4), c = get32(s + 8);
	uint64_t scales = (c & 0x0f0f0f0f) | (a >> 2 & 0x30303030);
	uint64_t mins = (c >> 4 & 0x0f0f0f0f) | (b >> 2 & 0x30303030);

	return lanes_of_words((a & 0x3f3f3f3f) | scales << 32, (b & 0x3f3f3f3f) | mins << 32);
}

/* d times the scales, dmin times the minima of Q4_K and Q5_K, eight each */
static inline void k_unpack(float *scale, float *min, const uint8_t *b)
{
	float all[16];
	lanes16 s = k_scales(b + 4);

	lanes_put(all, s, get_half(b));
	memcpy(scale, all, 8 * sizeof *scale);
	lanes_put(all, s, get_half(b + 2));
	memcpy(min, all + 8, 8 * sizeof *min);
}

static inline void block_Q4_K(float *dst, const uint8_t *b)
{
	float scale[8], min[8];

	k_unpack(scale, min, b);
	for (int g = 0; g < 8; g += 2)
		for (int i = 0; i < 32; i += 16) {
			lanes16 q = lanes_load(b + 16 + 16 * g + i);

			lanes_put_above(dst + 32 * g + i, lanes_nibble(q, 0), scale[g], min[g]);
			lanes_put_above(dst + 32 * g + 32 + i, lanes_nibble(q, 4), scale[g + 1], min[g + 1]);
		}
}

static inline void block_Q5_K(float *dst, const uint8_t *b)
{
	float scale[8], min[8];

	k_unpack(scale, min, b);
	for (int i = 0; i < 32; i += 16) {
		lanes16 high = lanes_load(b + 16 + i);

		for (int g = 0; g < 8; g += 2) {
			lanes16 q = lanes_load(b + 48 + 16 * g + i);
			lanes16 even = lanes_bits(high, g, 1), odd = lanes_bits(high, g + 1, 1);

			lanes_put_above(dst + 32 * g + i, lanes_nibble(q, 0) + even * 16, scale[g], min[g]);
			lanes_put_above(dst + 32 * g + 32 + i, lanes_nibble(q, 4) + odd * 16, scale[g + 1], min[g + 1]);
		}
	}
}

/* 16 values of each of the four groups that share bytes, 32 values apart */
static inline void q6_k_quarter(float *dst, const uint8_t *low, const uint8_t *high, const float *scale)
{
	lanes16 a = lanes_load(low), b = lanes_load(low + 32), h = lanes_load(high);

	lanes_put(dst, lanes_nibble(a, 0) + lanes_bits(h, 0, 3) * 16 - 32, scale[0]);
	lanes_put(dst + 32, lanes_nibble(b, 0) + lanes_bits(h, 2, 3) * 16 - 32, scale[2]);
	lanes_put(dst + 64, lanes_nibble(a, 4) + lanes_bits(h, 4, 3) * 16 - 32, scale[4]);
	lanes_put(dst + 96, lanes_nibble(b, 4) + lanes_bits(h, 6, 3) * 16 - 32, scale[6]);
}

static inline void block_Q6_K(float *dst, const uint8_t *b)
{
	float scale[16];

	lanes_put(scale, lanes_load(b + 192), get_half(b + 208));
	for (int half = 0; half < 2; half++) {
		const uint8_t *low = b + 64 * half, *high = b + 128 + 32 * half;

		q6_k_quarter(dst + 128 * half, low, high, scale + 8 * half);
		q6_k_quarter(dst + 128 * half + 16, low + 16, high + 16, scale + 8 * half + 1);
	}
}

/* Two times seven signs become two times eight. */
static inline unsigned two_even_signs(uint32_t fourteen)
{
	return even_signs(fourteen & 127) | even_signs(fourteen >> 7 & 127) << 8;
}

static inline void block_IQ2_XXS(float *dst, const uint8_t *b)
{
	float d = get_half(b);

	for (int g = 0; g < 8; g++, dst += 32) {
		const uint8_t *p = b + 2 + 8 * g;
		uint32_t rest = get32(p + 4);
		float scale = d * ((float)(rest >> 28) + 0.5f) * 0.25f;

		for (int i = 0; i < 4; i += 2) {
			lanes16 v = lanes_of_words(grid_IQ2_XXS[p[i]], grid_IQ2_XXS[p[i + 1]]);

			lanes_put(dst + 8 * i, lanes_sign(v, two_even_signs(rest >> 7 * i)), scale);
		}
	}
}

/* 16 scales in nibbles, low first: d * (nibble + 1/2) / 4 */
static inline void iq2_scales(float *scale, const uint8_t *p, float d)
{
	uint64_t w = get64(p);
	lanes16 low = lanes_of_words(w & 0x0f0f0f0f0f0f0f0f, 0), high = lanes_of_words(w >> 4 & 0x0f0f0f0f0f0f0f0f, 0);
	const lanes16 even = { 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7 };
	const lanes16 odd = { 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255 };
	lanes16 each = (lanes_look(low, even) & ~odd) | (lanes_look(high, even) & odd);

	lanes_put(scale, each + each + 1, d * 0.125f);
}

static inline void block_IQ2_XS(float *dst, const uint8_t *b)
{
	float scale[16];

	iq2_scales(scale, b + 66, get_half(b));
	for (int g = 0; g < 16; g++) {
		unsigned p = get16(b + 2 + 4 * g), q = get16(b + 4 + 4 * g);
		lanes16 v = lanes_of_words(grid_IQ2_XS[p & 511], grid_IQ2_XS[q & 511]);

		lanes_put(dst + 16 * g, lanes_sign(v, even_signs(p >> 9) | even_signs(q >> 9) << 8), scale[g]);
	}
}

static inline void block_IQ2_S(float *dst, const uint8_t *b)
{
	float scale[16];

	iq2_scales(scale, b + 74, get_half(b));
	for (int g = 0; g < 16; g++) {
		unsigned high = (unsigned)b[66 + g / 2] >> g % 2 * 4;
		unsigned first = b[2 + 2 * g] | (high & 3) << 8, second = b[3 + 2 * g] | (high & 12) << 6;
		lanes16 v = lanes_of_words(grid_IQ2_S[first], grid_IQ2_S[second]);

		lanes_put(dst + 16 * g, lanes_sign(v, get16(b + 34 + 2 * g)), scale[g]);
	}
}

static inline void block_IQ3_XXS(float *dst, const uint8_t *b)
{
	float d = get_half(b);

	for (int g = 0; g < 8; g++) {
		uint32_t rest = get32(b + 66 + 4 * g);
		float scale = d * ((float)(rest >> 28) + 0.5f) * 0.5f;

		for (int i = 0; i < 2; i++) {
			const uint8_t *p = b + 2 + 8 * g + 4 * i;
			lanes16 v = lanes_of_words(grid_IQ3_XXS[p[0]] | (uint64_t)grid_IQ3_XXS[p[1]] << 32,
						   grid_IQ3_XXS[p[2]] | (uint64_t)grid_IQ3_XXS[p[3]] << 32);

			lanes_put(dst + 32 * g + 16 * i, lanes_sign(v, two_even_signs(rest >> 14 * i)), scale);
		}
	}
}

static inline uint64_t iq3_s_entry(const uint8_t *place, unsigned high)
{
	return grid_IQ3_S[place[0] | (high & 1) << 8] | (uint64_t)grid_IQ3_S[place[1] | (high & 2) << 7] << 32;
}

static inline void block_IQ3_S(float *dst, const uint8_t *b)
{
	float d = get_half(b);

	for (int g = 0; g < 16; g++) {
		const uint8_t *p = b + 2 + 4 * g;
		unsigned high = (unsigned)b[66 + g / 2] >> g % 2 * 4, scale = b[106 + g / 4] >> g % 4 / 2 * 4 & 15;
		lanes16 v = lanes_of_words(iq3_s_entry(p, high), iq3_s_entry(p + 2, high >> 2));

		lanes_put(dst + 16 * g, lanes_sign(v, get16(b + 74 + 2 * g)), d * (float)(1 + 2 * scale));
	}
}

/* Two entries of the signed code book in eighths, each moved by one: down where its bit is set */
static inline lanes16 iq1_lanes(unsigned first, unsigned second, unsigned down)
{
	lanes16 v = lanes_of_words(grid_IQ1[first], grid_IQ1[second]);
	const uint64_t up = 0x0101010101010101u;

	return (v << 3) + lanes_of_words(down & 1 ? UINT64_MAX : up, down & 2 ? UINT64_MAX : up);
}

static inline void block_IQ1_S(float *dst, const uint8_t *b)
{
	float d = get_half(b) * 0.125f;

	for (int g = 0; g < 16; g++) {
		unsigned high = get16(b + 34 + g / 2 * 2), at = high >> g % 2 * 6;
		unsigned first = b[2 + 2 * g] | (at & 7) << 8, second = b[3 + 2 * g] | (at & 56) << 5;

		unsigned down = high & 0x8000 ? 3 : 0, scale = high >> 12 & 7;

		lanes_put(dst + 16 * g, iq1_lanes(first, second, down), d * (float)(1 + 2 * scale));
	}
}

static inline void block_IQ1_M(float *dst, const uint8_t *b)
{
	float d = iq1_m_d(b + 48) * 0.125f;

	for (int g = 0; g < 16; g++) {
		unsigned q = b[32 + g], scale = get16(b + 48 + g / 4 * 2) >> g % 4 * 3 & 7;
		unsigned first = b[2 * g] | (q & 7) << 8, second = b[2 * g + 1] | (q & 0x70) << 4;

		unsigned down = (q >> 3 & 1) | (q >> 6 & 2);

		lanes_put(dst + 16 * g, iq1_lanes(first, second, down), d * (float)(1 + 2 * scale));
	}
}

static inline void table_nibbles(float *dst, const uint8_t *q, const int8_t *table, float d)
{
	lanes16 t = lanes_load(table), v = lanes_load(q);

	lanes_put(dst, lanes_look(t, lanes_nibble(v, 0)), d);
	lanes_put(dst + 16, lanes_look(t, lanes_nibble(v, 4)), d);
}

static inline void block_IQ4_NL(float *dst, const uint8_t *b)
{
	table_nibbles(dst, b + 2, iq4_values, get_half(b));
}

static inline void block_IQ4_XS(float *dst, const uint8_t *b)
{
	float d = get_half(b);
	unsigned high = get16(b + 2);

	for (int g = 0; g < 8; g++) {
		unsigned s = (b[4 + g / 2] >> g % 2 * 4 & 15) | (high >> 2 * g & 3) << 4;

		table_nibbles(dst + 32 * g, b + 8 + 16 * g, iq4_values, d * (float)((int)s - 32));
	}
}

static inline void block_MXFP4(float *dst, const uint8_t *b)
{
	table_nibbles(dst, b + 1, fp4_doubled, e8m0_half(b[0]));
}

static inline void block_NVFP4(float *dst, const uint8_t *b)
{
	lanes16 t = lanes_load(fp4_doubled);

	for (int g = 0; g < 4; g++) {
		uint64_t q = get64(b + 4 + 8 * g);

		lanes_put(dst + 16 * g, lanes_look(t, lanes_of_words(q, q >> 4) & 15), e4m3_half(b[g]));
	}
}

/* The top ternary digits of 16 bytes, less one */
static inline lanes16 top_digits(lanes16 v)
{
	return (lanes16){ 0 } - (lanes16)(v > 85) - (lanes16)(v > 170) - 1;
}

static inline void block_TQ1_0(float *dst, const uint8_t *b)
{
	const lanes16 power = { 1, 1, 1, 1, 3, 3, 3, 3, 9, 9, 9, 9, 27, 27, 27, 27 };
	lanes16 v[3] = { lanes_load(b), lanes_load(b + 16), lanes_load(b + 32) };
	float d = get_half(b + 52);

	for (int k = 0; k < 5; k++)
		for (int i = 0; i < 3; i++) {
			lanes_put(dst + (i < 2 ? 32 * k + 16 * i : 160 + 16 * k), top_digits(v[i]), d);
			v[i] *= 3;
		}
	lanes16 last = lanes_of_words((uint64_t)get32(b + 48) * 0x100000001u, (uint64_t)get32(b + 48) * 0x100000001u);
	lanes_put(dst + 240, top_digits(last * power), d);
}

static inline void block_TQ2_0(float *dst, const uint8_t *b)
{
	float d = get_half(b + 64);

	for (int g = 0; g < 16; g++)
		lanes_put(dst + 16 * g,
			  lanes_bits(lanes_load(b + g / 8 * 32 + g % 2 * 16), g % 8 / 2 * 2, 3) - 1, d);
}

static inline void block_Q1_0(float *dst, const uint8_t *b)
{
	float d = get_half(b);

	for (int g = 0; g < 8; g++)
		lanes_put(dst + 16 * g, (lanes_mask(get16(b + 2 + 2 * g)) & 2) - 1, d);
}

static inline void block_Q2_0(float *dst, const uint8_t *b)
{
	/* each byte four times, then its own two bits */
	const lanes16 spread = { 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3 };
	const lanes16 first = { 255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0 };
	const lanes16 second = { 0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0 };
	const lanes16 third = { 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 0 };
	lanes16 q = lanes_load(b + 2);
	float d = get_half(b);

	for (int g = 0; g < 4; g++) {
		lanes16 v = lanes_look(q, spread + (uint8_t)(4 * g));
		lanes16 low = (v & first) | (lanes_bits(v, 2, 3) & second);
		lanes16 high = (lanes_bits(v, 4, 3) & third) | (lanes_bits(v, 6, 3) & ~(first | second | third));

		lanes_put(dst + 16 * g, ((low | high) & 3) - 1, d);
	}
}

/* ---- the loops, and the table for the tier ---- */

#define LOOP(name) \
	static void decode_##name(float *dst, const void *src, size_t n) \
	{ \
		const uint8_t *b = src; \
\
		for (; n--; b += name##_BYTES, dst += name##_VALUES) \
			block_##name(dst, b); \
	}
LANES_BLOCKS(LOOP)
#undef LOOP
#define LANES_ENTRY(name) [GGUF_TYPE_##name] = decode_##name,
#define LANES_TABLE LANES_SINGLE(LANES_ENTRY) LANES_BLOCKS(LANES_ENTRY)
