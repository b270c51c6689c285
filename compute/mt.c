/* SPDX-License-Identifier: MIT */
/* The Mersenne Twister MT19937 of Matsumoto and Nishimura (1998), seeded as std::mt19937 of C++ is. */
#include "mt.h"

enum { WORDS = 624, MIDDLE = 397 };

void mt_seed(struct mt *m, uint32_t seed)
{
	m->state[0] = seed;
	for (uint32_t i = 1; i < WORDS; i++)
		m->state[i] = 1812433253U * (m->state[i - 1] ^ m->state[i - 1] >> 30) + i;
	m->used = WORDS;
}

static void refill(struct mt *m)
{
	uint32_t *s = m->state;

	for (unsigned i = 0; i < WORDS; i++) {
		uint32_t y = (s[i] & 0x80000000U) | (s[(i + 1) % WORDS] & 0x7fffffffU);

		s[i] = s[(i + MIDDLE) % WORDS] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfU : 0);
	}
	m->used = 0;
}

uint32_t mt_next(struct mt *m)
{
	uint32_t y;

	if (m->used == WORDS)
		refill(m);
	y = m->state[m->used++];
	y ^= y >> 11;
	y ^= y << 7 & 0x9d2c5680U;
	y ^= y << 15 & 0xefc60000U;
	return y ^ y >> 18;
}

double mt_double(struct mt *m)
{
	double low = mt_next(m), high = mt_next(m);
	double r = (low + high * 0x1p32) * 0x1p-64;

	return r < 1 ? r : 0x1.fffffffffffffp-1;
}

float mt_float(struct mt *m)
{
	float r = (float)mt_next(m) * 0x1p-32f;

	return r < 1 ? r : 0x1.fffffep-1f;
}
