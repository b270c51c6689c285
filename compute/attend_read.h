/* SPDX-License-Identifier: MIT */
/* Keys and values of the cache as vectors of floats, whatever type they are kept as; included by attend_body.h. */

INLINE vf bytes_v(const int8_t *p)
{
	vb b;

	memcpy(&b, p, sizeof(b));
	return __builtin_convertvector(b, vf);
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
	return half_v((const uint16_t *)group + lane) *
	       bytes_v((const int8_t *)group + 32 + i % 32 * CACHE_BLOCK + lane);
}

/* Dimensions at .. at+LANES-1 of the value of position j of a group; those past its end are zero. */
INLINE vf value_v(enum cache_type type, const char *values, size_t stride, int j, size_t at)
{
	const char *row = values + (size_t)j * stride, *group = row + at / 32 * 34;
	uint16_t scale;

	if (type == CACHE_F32)
		return load((const float *)row + at);
	if (type == CACHE_F16)
		return half_v((const uint16_t *)row + at);
	memcpy(&scale, group, sizeof(scale));
	return splat(half_value(scale)) * bytes_v((const int8_t *)group + 2 + at % 32);
}
