/* SPDX-License-Identifier: MIT */
#include "number.h"
#include "tap.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	double v;
	const char *f32, *f64;
} known[] = {
	{ 0, "0", "0" },
	{ -0.0, "-0", "-0" },
	{ 1, "1", "1" },
	{ -1.5, "-1.5", "-1.5" },
	{ 0.1, "0.1", "0.1" },
	{ 10000, "10000", "10000" },
	{ 1000000, "1000000", "1000000" },
	{ 1e-5, "1e-5", "1e-5" },
	{ 1e-6, "1e-6", "1e-6" },
	{ 0.0001, "0.0001", "0.0001" },
	{ 0.00012345, "0.00012345", "0.00012345" },
	{ 123.456, "123.456", "123.456" },
	{ 1e15, "1000000000000000", "1000000000000000" },
	{ 1e16, "1e16", "1e16" },
	{ 1.5e-7, "1.5e-7", "1.5e-7" },
	{ 16777216, "16777216", "16777216" },
	{ 9007199254740993.0, "9007199000000000", "9007199254740992" },
	{ 3.4028234663852886e38, "3.4028235e38", "3.4028234663852886e38" },
	{ 1.401298464324817e-45, "1e-45", "1.401298464324817e-45" },
	{ INFINITY, "inf", "inf" },
	{ -INFINITY, "-inf", "-inf" },
};

static bool reads(const char *text, size_t n, const char *want)
{
	return n == strlen(want) && !memcmp(text, want, n);
}

static void test_known(void)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		char a[NUMBER_SIZE], b[NUMBER_SIZE];
		size_t n = number_f32(a, (float)known[i].v), m = number_f64(b, known[i].v);

		ok(reads(a, n, known[i].f32), "f32 %s: %.*s", known[i].f32, (int)n, a);
		ok(reads(b, m, known[i].f64), "f64 %s: %.*s", known[i].f64, (int)m, b);
	}
}

static void test_integers(void)
{
	char t[NUMBER_SIZE];

	ok(reads(t, number_u64(t, 0), "0"), "u64 0");
	ok(reads(t, number_u64(t, UINT64_MAX), "18446744073709551615"), "u64: the largest");
	ok(reads(t, number_i64(t, INT64_MIN), "-9223372036854775808"), "i64: the smallest");
	ok(reads(t, number_i64(t, -7), "-7"), "i64 -7");
	ok(reads(t, number_f64(t, NAN), "nan") && reads(t, number_f32(t, -NAN), "nan"), "NaN has no sign");
}

static size_t digits_of(const char *text, char digits[40])
{
	size_t n = 0, lead = 0;

	for (; *text && *text != 'e'; text++)
		if (*text >= '0' && *text <= '9')
			digits[n++] = *text;
	while (lead < n && digits[lead] == '0')
		lead++;
	while (n > lead && digits[n - 1] == '0')
		n--;
	memmove(digits, digits + lead, n - lead);
	digits[n - lead] = '\0';
	return n - lead;
}

/* How many digits printf needs, one more at a time, until reading gives v again. */
static size_t printf_needs(double v, bool single, char digits[40])
{
	char text[64];

	for (int p = 0; p < 17; p++) {
		snprintf(text, sizeof text, "%.*e", p, v);
		if (single ? strtof(text, NULL) == (float)v : strtod(text, NULL) == v)
			break;
	}
	return digits_of(text, digits);
}

/* Reads back; no more digits than printf; and where as many, the same: printf's are the nearest. */
static bool is_best(double v, bool single)
{
	char text[NUMBER_SIZE + 1], ours[40], theirs[40];
	size_t n = single ? number_f32(text, (float)v) : number_f64(text, v), a, b;

	text[n] = '\0';
	if (single ? strtof(text, NULL) != (float)v : strtod(text, NULL) != v)
		return false;
	a = digits_of(text, ours);
	b = printf_needs(v, single, theirs);
	return a < b || (a == b && !strcmp(ours, theirs));
}

static uint64_t random_state = 42;
static uint64_t random_bits(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	return random_state ^= random_state << 17;
}

static void report(const char *what, unsigned bad, double example)
{
	ok(!bad, "%s%s", what, "");
	if (bad)
		printf("# %u wrong, one is %.17g\n", bad, example);
}

static void test_floats(const char *what, bool single, double (*make)(unsigned i), unsigned n)
{
	unsigned bad = 0;
	double example = 0;

	for (unsigned i = 0; i < n; i++) {
		double v = make(i);

		if (!isfinite(v) || v == 0 || is_best(v, single))
			continue;
		bad++;
		example = v;
	}
	report(what, bad, example);
}

static double any_f32(unsigned i)
{
	uint32_t bits = (uint32_t)random_bits();
	float v;

	(void)i;
	memcpy(&v, &bits, sizeof v);
	return (double)v;
}

static double any_f64(unsigned i)
{
	uint64_t bits = random_bits();
	double v;

	(void)i;
	memcpy(&v, &bits, sizeof v);
	return v;
}

static double power_f32(unsigned i)
{
	return (double)(ldexpf(1, (int)i - 149));
}

static double power_f64(unsigned i)
{
	return ldexp(1, (int)i - 1074);
}

static double small_f32(unsigned i)
{
	return (double)(ldexpf((float)i, -149));
}

static double hundredth(unsigned i)
{
	return (double)((float)i / 100);
}

static double below_power_f64(unsigned i)
{
	return nextafter(power_f64(i), 0);
}

int main(void)
{
	test_known();
	test_integers();
	test_floats("any f32", true, any_f32, 100000);
	test_floats("powers of two, f32", true, power_f32, 277);
	test_floats("the smallest f32", true, small_f32, 20000);
	test_floats("hundredths, f32", true, hundredth, 100000);
	test_floats("any f64", false, any_f64, 50000);
	test_floats("powers of two, f64", false, power_f64, 2098);
	test_floats("just below powers of two, f64", false, below_power_f64, 2098);
	done();
}
