/* SPDX-License-Identifier: MIT */
/* Keys and values of the cache as vectors of floats, whatever type they are kept as; included by attend_body.h. */

INLINE vf bytes_v(const int8_t *p)
{
	vb b;

	memcpy(&b, p, sizeof(b));
	return __builtin_convertvector(b, vf);
}

/* The first or the second of LANES pairs of BFloat16. */
INLINE vf pair_v(const char *p, unsigned second)
{
	vu both;

	memcpy(&both, p, sizeof(both));
	return (vf)(both << (second ? 0 : 16) & 0xffff0000);
}

INLINE vf swap_pairs(vf x)
{
	return (vf)((vq)x << 32 | (vq)x >> 32);
}

/* Rounded to BFloat16. */
INLINE vf bf16_v(vf x)
{
	vu bits = (vu)x;

	return (vf)((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000);
}

/* Dimension i of a group's keys at LANES positions, part v of the group; a block has a size of so many bytes. */
INLINE vf key_v(enum cache_type type, const char *keys, size_t block, size_t i, int v)
{
	const char *at = keys + (size_t)(v * LANES / CACHE_BLOCK) * block, *group = at + i / 32 * CACHE_BLOCK * 34;
	size_t lane = (size_t)(v * LANES % CACHE_BLOCK);

	if (type == CACHE_F32)
		return load((const float *)at + i * CACHE_BLOCK + lane);
	if (type == CACHE_F16)
		return half_v((const uint16_t *)at + i * CACHE_BLOCK + lane);
	if (type == CACHE_BF16)
		return pair_v(at + (i / 2 * CACHE_BLOCK + lane) * 4, i % 2 == 0);
	return half_v((const uint16_t *)group + lane) *
	       bytes_v((const int8_t *)group + 32 + i % 32 * CACHE_BLOCK + lane);
}

/* Dimensions at .. at+LANES-1 of the value of position j of a group; those past its end are zero. */
INLINE vf value_v(enum cache_type type, const char *values, size_t stride, int j, size_t at)
{
	const char *row = values + (size_t)(type == CACHE_BF16 ? j & ~1 : j) * stride, *group = row + at / 32 * 34;
	uint16_t scale;

	if (type == CACHE_F32)
		return load((const float *)row + at);
	if (type == CACHE_F16)
		return half_v((const uint16_t *)row + at);
	if (type == CACHE_BF16)
		return pair_v(row + at * 4, !(j & 1));
	memcpy(&scale, group, sizeof(scale));
	return splat(half_value(scale)) * bytes_v((const int8_t *)group + 2 + at % 32);
}
