/* SPDX-License-Identifier: MIT */
/*
 * What a tensor type is to the library: two functions over whole blocks, in src/quant/NAME.c, found through
 * gguf-types.def. The plain C there is the reference; tiers.def lists faster decoders that give the same bits.
 *
 * Blocks are little-endian bytes at any address. Every product a decoder forms is exact in a float, so neither order
 * of operations nor fused multiply-add can change a result.
 */
#ifndef GGUF_QUANT_H
#define GGUF_QUANT_H
#include <stdint.h>
#include <string.h>
#include "gguf.h"

/* Q4_0_VALUES and Q4_0_BYTES: values and bytes of a block */
enum {
#define T(id, name, len, size) name##_VALUES = len, name##_BYTES = size,
#include "gguf-types.def"
#undef T
};

typedef void gguf_decode_fn(float *dst, const void *src, size_t nblocks);
typedef void gguf_encode_fn(void *dst, const float *src, size_t nblocks);

struct quant {
	gguf_decode_fn *decode; /* NULL: not possible */
	gguf_encode_fn *encode;
};
#define T(id, name, len, size) extern const struct quant quant_##name;
#include "gguf-types.def"
#undef T
/* By id; NULL for an unknown one. */
const struct quant *quant_find(uint32_t type);

static inline uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t get32(const uint8_t *p)
{
	return get16(p) | (uint32_t)get16(p + 2) << 16;
}

static inline uint64_t get64(const uint8_t *p)
{
	return get32(p) | (uint64_t)get32(p + 4) << 32;
}

static inline void put16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static inline void put32(uint8_t *p, uint32_t v)
{
	put16(p, (uint16_t)v);
	put16(p + 2, (uint16_t)(v >> 16));
}

static inline void put64(uint8_t *p, uint64_t v)
{
	put32(p, (uint32_t)v);
	put32(p + 4, (uint32_t)(v >> 32));
}

static inline float float_of_bits(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof f);
	return f;
}

static inline uint32_t bits_of_float(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof bits);
	return bits;
}

/*
 * IEEE half precision. The exponent is moved by a multiplication, which is exact and gets subnormal values right. A NaN
 * becomes a quiet one, as processors' own conversions make it: tails and vectors have the same bits.
 */
static inline float half_value(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = (uint32_t)(h & 0x7fff) << 13;

	if (rest >= 0x0f800000)
		return float_of_bits(sign | 0x70000000 | rest | (rest > 0x0f800000 ? 0x00400000 : 0));
	return float_of_bits(sign | bits_of_float(float_of_bits(rest) * 0x1p112f));
}

static inline float get_half(const uint8_t *p)
{
	return half_value(get16(p));
}

/* Nearest half, ties to even; past 65504 infinity, NaN stays NaN. */
static inline uint16_t half_bits(float f)
{
	uint32_t bits = bits_of_float(f), sign = bits >> 16 & 0x8000, a = bits & 0x7fffffff;

	if (a >= 0x7f800000)
		return (uint16_t)(sign | (a > 0x7f800000 ? 0x7e00 : 0x7c00));
	if (a >= 0x477ff000)
		return (uint16_t)(sign | 0x7c00);
	if (a < 0x38800000) /* subnormal: the addition rounds at 2^-24 */
		return (uint16_t)(sign | (bits_of_float(float_of_bits(a) + 0.5f) - 0x3f000000));
	return (uint16_t)(sign | ((a - 0x38000000 + 0xfff + (a >> 13 & 1)) >> 13));
}

/* For encoders, which write no NaN. */
static inline float not_nan(float f)
{
	return f == f ? f : 0;
}

static inline float get_float(const uint8_t *p)
{
	return float_of_bits(get32(p));
}

/* The low seven signs of a group of eight; the eighth makes the number of minus signs even. */
static inline unsigned even_signs(unsigned seven)
{
	return seven | (unsigned)__builtin_parity(seven) << 7;
}
#endif
