/* SPDX-License-Identifier: MIT */
/* The Mersenne Twister MT19937 by Matsumoto and Nishimura; uniform numbers as C++'s generate_canonical makes them. */
#ifndef MT_H
#define MT_H
#include <stdint.h>

struct mt {
	uint32_t state[624];
	unsigned used; /* words of state given out */
};

void mt_seed(struct mt *m, uint32_t seed);
uint32_t mt_next(struct mt *m);
/* In [0, 1): a double takes two words (low first), a float one. */
double mt_double(struct mt *m);
float mt_float(struct mt *m);
#endif
