/* SPDX-License-Identifier: MIT */
/*
 * Sixteen bytes at once, for the fast decoders. A tier's file includes this, defines
 *   lanes_look(table, at)                      at's bytes (0 to 15) looked up in table
 *   lanes_put(dst, level, scale)               16 floats: scale * level, of signed bytes
 *   lanes_put_above(dst, level, scale, min)    scale * level - min
 *   lanes_put_half(dst, src), lanes_put_bfloat(dst, src)   16 floats of 16 bits each
 *   lanes_put_words(dst, src), lanes_put_longs(dst, src)   16 floats of integers of 16, 32 bits each
 * and then includes types.h, which has a decoder for each type: written once, compiled for each ISA.
 */
#include "../fp4.h"
#include "../grid/grid.h"
#include "../iq.h"
#include "../k.h"

typedef uint8_t lanes16 __attribute__((vector_size(16)));
typedef uint16_t lanes8x16 __attribute__((vector_size(16)));
typedef uint64_t lanes2x64 __attribute__((vector_size(16)));

static inline lanes16 lanes_load(const void *p)
{
	lanes16 v;

	memcpy(&v, p, sizeof v);
	return v;
}

/* 8 bytes low, 8 bytes high */
static inline lanes16 lanes_of_words(uint64_t low, uint64_t high)
{
	return (lanes16)(lanes2x64){ low, high };
}

/* The bits of mask from shift on, of every byte. There are no shifts of bytes in hardware; mask drops what crosses. */
static inline lanes16 lanes_bits(lanes16 v, int shift, unsigned mask)
{
	return (lanes16)((lanes8x16)v >> (uint16_t)shift) & (uint8_t)mask;
}

static inline lanes16 lanes_nibble(lanes16 v, int shift)
{
	return lanes_bits(v, shift, 15);
}

/* 0xff where the bit of that number is set in bits, else 0 */
static inline lanes16 lanes_mask(unsigned bits)
{
	const lanes16 each = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
	lanes16 spread = lanes_of_words((bits & 255) * 0x0101010101010101u, (bits >> 8 & 255) * 0x0101010101010101u);

	return (lanes16)((spread & each) == each);
}

/* v, negated where a bit of signs is set */
static inline lanes16 lanes_sign(lanes16 v, unsigned signs)
{
	lanes16 mask = lanes_mask(signs);

	return (v ^ mask) - mask;
}
