/* SPDX-License-Identifier: MIT */
/* The search through a code book, sixteen entries at once: written once, compiled for the baseline and for each ISA. */
#include <math.h>
#include "../book.h"

typedef float nearest_floats __attribute__((vector_size(64)));
typedef int32_t nearest_ints __attribute__((vector_size(64)));

/* |v - p|^2 is least where |p|^2 / 2 - v * p is. */
static uint32_t nearest_entry(const struct book *b, const float *v)
{
	nearest_ints index = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 }, at = index;
	nearest_floats least = (nearest_floats){ 0 } + INFINITY;
	uint32_t best = 0;

	for (int k = 0; k < b->count; k += 16, index += 16) {
		nearest_floats score, point;

		memcpy(&score, b->half_norm + k, sizeof score);
		for (int i = 0; i < b->dims; i++) {
			memcpy(&point, b->point[i] + k, sizeof point);
			score -= v[i] * point;
		}
		nearest_ints less = score < least;
		least = (nearest_floats)((less & (nearest_ints)score) | (~less & (nearest_ints)least));
		at = (less & index) | (~less & at);
	}
	for (uint32_t k = 1; k < 16; k++)
		if (least[k] < least[best] || (least[k] == least[best] && at[k] < at[best]))
			best = k;
	return (uint32_t)at[best];
}
