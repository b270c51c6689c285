/* SPDX-License-Identifier: MIT */
/* How far quantized forms of a real model are from the model: no further than the stock kernels' figures allow. */
#include "divergence.h"
#include "llm.h"
#include "source.h"
#include "tap.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VOCAB = 512, POSITIONS = 128 };
static const struct { const char *name; double kld; } forms[] = {
	{ "f32", 1e-9 }, { "f16", 1e-4 }, { "q8_0", .0007 }, { "pad256-Q8_0", .0007 }, { "pad256-Q6_K", .0056 },
	{ "pad256-Q5_K_M", .0105 }, { "pad256-Q4_K_M", .040 }, { "pad256-IQ4_XS", .055 }, { "pad256-Q4_0", .107 },
	{ "pad256-Q3_K_M", .186 }, { "pad256-IQ3_S", .304 }, { "pad256-Q2_K", 1.10 },
};

static int read_ids(const char *folder, int32_t *ids)
{
	char path[4096], line[4096];
	int n = 0;
	FILE *f;

	snprintf(path, sizeof path, "%.4000s/refs/stories260K-1.txt", folder);
	f = fopen(path, "r");
	for (int l = 0; f && l < 2 && fgets(line, sizeof line, f); l++) {
		char *p = strchr(line, ':') + 1, *end;

		for (; n < POSITIONS; p = end) {
			long id = strtol(p, &end, 10);

			if (end == p)
				break;
			ids[n++] = (int32_t)id;
		}
	}
	if (f)
		fclose(f);
	return n;
}

static float *run(const char *folder, const char *form, const int32_t *ids, enum cache_type cache)
{
	float *logits = malloc(POSITIONS * VOCAB * sizeof *logits);
	struct llm_options o = { .threads = 1, .context = POSITIONS, .k = cache, .v = cache, .check = true };
	struct source *s = NULL;
	struct llm *m = NULL;
	struct gguf_error e = { 0 };
	char path[4096];
	bool good;

	snprintf(path, sizeof path, "%s/stories260K-%s.gguf", folder, form);
	good = logits && !source_open(&s, path, NULL, &e) && !llm_open(&m, s, &o, &e) && llm_vocab(m) == VOCAB &&
	       !llm_eval(m, ids, POSITIONS, logits, true, &e);
	if (!good) {
		printf("# %s\n", e.text);
		free(logits);
		logits = NULL;
	}
	llm_close(m);
	source_close(s);
	return logits;
}

/* Of a position, in double, from the definition. */
static double divergence(const float *p, const float *q)
{
	double zp = 0, zq = 0, sum = 0;

	for (int i = 0; i < VOCAB; i++) {
		zp += exp((double)p[i]);
		zq += exp((double)q[i]);
	}
	for (int i = 0; i < VOCAB; i++)
		sum += exp((double)p[i]) / zp * (((double)p[i] - log(zp)) - ((double)q[i] - log(zq)));
	return sum;
}

/* The arithmetic of gguf-perplexity --kl-divergence, 16 bits a token, comes to the same. */
static double by_file(const float *p, const float *q, int32_t next, double *nll)
{
	uint16_t packed[4 + VOCAB];
	struct compared c;

	pack_position(packed, p, VOCAB);
	compare_position(&c, q, packed, VOCAB, next);
	*nll = surprise(q, VOCAB, next) - c.nll;
	return c.kld;
}

int main(void)
{
	const char *shared = getenv("shared");
	char folder[4096];
	int32_t ids[POSITIONS + 1] = { 0 };
	float *base;

	snprintf(folder, sizeof folder, "%s/models/stories", shared ? shared : "");
	if (read_ids(folder, ids) != POSITIONS || !(base = run(folder, "f32", ids, CACHE_F32)))
		return printf("1..0 # SKIP no %s\n", folder), 0;
	for (size_t f = 0; f < sizeof(forms) / sizeof(*forms); f++) {
		float *logits = run(folder, forms[f].name, ids, CACHE_F32), *rounded = run(folder, forms[f].name, ids, CACHE_AUTO);
		/* activations are rounded anew, too, which is noise on so few positions */
		double most = forms[f].kld > .005 ? 1.1 * forms[f].kld : 1.25 * forms[f].kld + 1e-6;
		double sum = 0, sum_file = 0, sum_rounded = 0, off = 0, nll;

		for (int i = 0; logits && rounded && i < POSITIONS; i++) {
			sum_rounded += divergence(base + i * VOCAB, rounded + i * VOCAB) / POSITIONS;
			sum += divergence(base + i * VOCAB, logits + i * VOCAB) / POSITIONS;
			sum_file += by_file(base + i * VOCAB, logits + i * VOCAB, ids[i + 1], &nll) / POSITIONS;
			off = fmax(off, fabs(nll));
		}
		ok(logits && sum <= 1.1 * forms[f].kld, "%s: mean KL %.5f, stock %.5f", forms[f].name, sum, forms[f].kld);
		ok(logits && fabs(sum - sum_file) < 1e-4 + sum * 1e-3 && off < 1e-4, "%s: the same by 16-bit probabilities",
		   forms[f].name);
		ok(rounded && sum_rounded <= most, "%s: with the cache's default type %.2g", forms[f].name,
		   sum_rounded);
		free(logits);
		free(rounded);
	}
	free(base);
	done();
}
