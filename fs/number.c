/* SPDX-License-Identifier: MIT */
/*
 * Shortest decimal forms after R. Giulietti, "The Schubfach way to render doubles": a value c * 2^q and the borders of
 * what rounds to it are scaled by a power of ten, kept to 128 bits, such that at most a few integers lie between.
 * Float and double share the method: only where the borders are differs.
 */
#include "number.h"
#include <math.h>
#include <pthread.h>
#include <string.h>

typedef unsigned __int128 u128;

enum { POW_MIN = -292, POW_MAX = 324, LIMBS = 28 };

/* 10^k as the upper 128 bits of it, the last one rounded up where it is not exact. */
static u128 powers[POW_MAX - POW_MIN + 1];
static pthread_once_t powers_once = PTHREAD_ONCE_INIT;

/* The upper 128 bits of a number of 32-bit limbs, lowest first; up: one is added where bits were lost. */
static u128 upper(const uint32_t limb[LIMBS], bool up)
{
	int top = LIMBS - 1, shift;
	u128 v = 0;

	while (!limb[top])
		top--;
	for (int i = 0; i < 4; i++)
		v = v << 32 | (top - i >= 0 ? limb[top - i] : 0);
	shift = __builtin_clz(limb[top]);
	v <<= shift;
	if (top >= 4)
		v |= (uint64_t)limb[top - 4] << shift >> 32;
	for (int i = 0; i < top - 4 && !up; i++)
		up = limb[i];
	up |= top >= 4 && (uint32_t)((uint64_t)limb[top - 4] << shift);
	return v + up;
}

static void times_5(uint32_t limb[LIMBS])
{
	uint64_t carry = 0;

	for (int i = 0; i < LIMBS; i++, carry >>= 32) {
		carry += limb[i] * UINT64_C(5);
		limb[i] = (uint32_t)carry;
	}
}

static void over_5(uint32_t limb[LIMBS])
{
	uint64_t rest = 0;

	for (int i = LIMBS - 1; i >= 0; i--) {
		rest = rest << 32 | limb[i];
		limb[i] = (uint32_t)(rest / 5);
		rest %= 5;
	}
}

/* Factors of two do not matter for the upper bits, so powers of five do. Quotients are never exact: round up. */
static void make_powers(void)
{
	uint32_t limb[LIMBS] = { 1 };

	for (int k = 0; k <= POW_MAX; k++, times_5(limb))
		powers[k - POW_MIN] = upper(limb, false);
	memset(limb, 0, sizeof limb);
	limb[LIMBS - 1] = 1;
	for (int k = -1; k >= POW_MIN; k--) {
		over_5(limb);
		powers[k - POW_MIN] = upper(limb, true);
	}
}

/* Upper half of the product, its last bit set where the lower half is not nothing. */
static uint64_t scaled(u128 power, uint64_t v)
{
	u128 low = (u128)(uint64_t)power * v;
	u128 high = (u128)(uint64_t)(power >> 64) * v + (uint64_t)(low >> 64);

	return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

struct decimal {
	uint64_t digits;
	int exponent; /* of ten */
};

/* Whether exactly one of two neighbours, low and low + 1 times unit, lies within the borders. */
static bool one_inside(uint64_t lower, uint64_t upper_border, uint64_t low, uint64_t unit, uint64_t *digits)
{
	bool below = lower <= 4 * unit * low, above = 4 * unit * (low + 1) <= upper_border;

	*digits = low + above;
	return below != above;
}

/* narrow: the lower border is half as far away, as below a power of two. */
static struct decimal shortest(uint64_t c, int q, bool narrow)
{
	int k = (q * 1262611 - (narrow ? 524031 : 0)) >> 22; /* floor(log10) of the distance between the borders */
	int h = q + ((-k * 1741647) >> 19) + 1;              /* floor(log2(10^-k)) */
	u128 power = powers[-k - POW_MIN];
	uint64_t lower = scaled(power, (4 * c - 2 + narrow) << h) + (c & 1);
	uint64_t value = scaled(power, 4 * c << h);
	uint64_t upper_border = scaled(power, (4 * c + 2) << h) - (c & 1);
	uint64_t s = value / 4, digits;

	if (s >= 10 && one_inside(lower, upper_border, s / 10, 10, &digits))
		return (struct decimal){ digits, k + 1 };
	if (one_inside(lower, upper_border, s, 1, &digits))
		return (struct decimal){ digits, k };
	return (struct decimal){ s + (value > 4 * s + 2 || (value == 4 * s + 2 && s & 1)), k };
}

size_t number_u64(char *text, uint64_t v)
{
	char back[20];
	size_t n = 0;

	do
		back[n++] = (char)('0' + v % 10);
	while (v /= 10);
	for (size_t i = 0; i < n; i++)
		text[i] = back[n - 1 - i];
	return n;
}

size_t number_i64(char *text, int64_t v)
{
	if (v >= 0)
		return number_u64(text, (uint64_t)v);
	text[0] = '-';
	return 1 + number_u64(text + 1, -(uint64_t)v);
}

/* digits[0..n-1] with the point before place: 0.00ddd, dd.d, ddd00 */
static size_t plain(char *text, const char *digits, size_t n, int place)
{
	size_t whole = place > 0 ? (size_t)place : 0, lead = place < 0 ? (size_t)-place : 0;

	if (place <= 0) {
		memcpy(text, "0.0000", 2 + lead);
		memcpy(text + 2 + lead, digits, n);
		return 2 + lead + n;
	}
	if (whole >= n) {
		memcpy(text, digits, n);
		memset(text + n, '0', whole - n);
		return whole;
	}
	memcpy(text, digits, whole);
	text[whole] = '.';
	memcpy(text + whole + 1, digits + whole, n - whole);
	return n + 1;
}

/* d.ddde-N */
static size_t scientific(char *text, const char *digits, size_t n, int exponent)
{
	size_t at = 1;

	text[0] = digits[0];
	if (n > 1) {
		text[at++] = '.';
		memcpy(text + at, digits + 1, n - 1);
		at += n - 1;
	}
	text[at++] = 'e';
	return at + number_i64(text + at, exponent);
}

static size_t decimal_text(char *text, struct decimal d)
{
	char digits[NUMBER_SIZE];
	size_t n;

	for (; d.digits % 10 == 0; d.exponent++)
		d.digits /= 10;
	n = number_u64(digits, d.digits);
	int place = (int)n + d.exponent;
	return place > -4 && place <= 16 ? plain(text, digits, n, place) : scientific(text, digits, n, place - 1);
}

static size_t special(char *text, bool nan, bool infinite)
{
	const char *s = nan ? "nan" : infinite ? "inf" : "0";
	size_t n = strlen(s);

	memcpy(text, s, n);
	return n;
}

/* Mantissa and exponent as stored; bits of the mantissa; what the exponent field of 1.0 * 2^bits holds. */
static size_t finite_text(char *text, uint64_t mantissa, int exponent, int bits, int bias)
{
	uint64_t hidden = exponent ? UINT64_C(1) << bits : 0;
	int q = (exponent ? exponent : 1) - bias;

	pthread_once(&powers_once, make_powers);
	return decimal_text(text, shortest(mantissa | hidden, q, !mantissa && exponent > 1));
}

size_t number_f32(char *text, float v)
{
	uint32_t bits;
	size_t sign = signbit(v) && !isnan(v);

	memcpy(&bits, &v, sizeof bits);
	text[0] = '-';
	if (v == 0 || !isfinite(v))
		return sign + special(text + sign, isnan(v), isinf(v));
	return sign + finite_text(text + sign, bits & 0x7fffff, bits >> 23 & 0xff, 23, 127 + 23);
}

size_t number_f64(char *text, double v)
{
	uint64_t bits;
	size_t sign = signbit(v) && !isnan(v);

	memcpy(&bits, &v, sizeof bits);
	text[0] = '-';
	if (v == 0 || !isfinite(v))
		return sign + special(text + sign, isnan(v), isinf(v));
	return sign + finite_text(text + sign, bits & ((UINT64_C(1) << 52) - 1), bits >> 52 & 0x7ff, 52, 1023 + 52);
}
