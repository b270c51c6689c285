/* SPDX-License-Identifier: MIT */
/* f32, f16, bf16, f32.npy, stats, heatmap.png and types.svg of a model with a tensor of every type, without a mount. */
#include "config.h"
#include "fs/node.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_PNG
#include <png.h>
#endif
#include "tap.h"

static const struct {
	const char *name;
	uint32_t type;
	size_t values, bytes;
} types[] = {
#define T(id, name, len, size) { #name, id, len, size },
#include "gguf-types.def"
#undef T
};
enum { TYPES = sizeof types / sizeof *types, ROWS = 6 };

static uint32_t state = 1;

static uint32_t random_word(void)
{
	state = state * 1664525 + 1013904223;
	return state >> 8;
}

/* Row length of tensor k: whole blocks, at least some hundred values. */
static uint64_t width_of(size_t k)
{
	return types[k].values <= 64 ? 320 : 512;
}

/* Random bytes; an exponent is kept from being all ones often enough that most values are finite. */
static void fill(uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)random_word() & 0xbf;
}

static void add_tensors(struct gguf_writer *w)
{
	for (size_t k = 0; k < TYPES; k++) {
		uint64_t extent[4] = { width_of(k), ROWS / 2, 2, 1 };
		char name[64];

		snprintf(name, sizeof name, "blk.%zu.%s", k % 3, types[k].name);
		gguf_writer_tensor(w, name, strlen(name), types[k].type, 3, extent);
	}
}

/* The file in memory, to be freed. */
static uint8_t *make_model(size_t *size)
{
	struct gguf_writer *w;
	const void *header;
	size_t header_size;
	uint8_t *file = NULL;

	if (gguf_writer_new(&w))
		return NULL;
	add_tensors(w);
	if (!gguf_writer_header(w, &header, &header_size)) {
		*size = (size_t)gguf_writer_file_size(w);
		file = calloc(1, *size);
	}
	if (file) {
		memcpy(file, header, header_size);
		fill(file + header_size, *size - header_size);
	}
	gguf_writer_free(w);
	return file;
}

/* Inode number of tensors/NAME/FILE, 0 if there is none. */
static uint64_t find(const struct mtree *t, size_t k, const char *file)
{
	char name[64];
	uint64_t ino = 0;

	snprintf(name, sizeof name, "blk.%zu.%s", k % 3, types[k].name);
	if (node_lookup(t, NODE_ROOT, "tensors", 7, &ino) || node_lookup(t, ino, name, strlen(name), &ino) ||
	    node_lookup(t, ino, file, strlen(file), &ino))
		return 0;
	return ino;
}

/* The bytes of a file, to be freed; NULL unless they are as many as node_stat says. */
static uint8_t *whole(struct mtree *t, uint64_t ino, size_t *size)
{
	struct stat st;
	uint8_t *p;

	if (!ino || node_stat(t, ino, &st) || !(p = malloc((size_t)st.st_size + 1)))
		return NULL;
	*size = (size_t)st.st_size;
	if (node_read(t, ino, p, *size + 1, 0) == (ssize_t)*size)
		return p;
	free(p);
	return NULL;
}

static int slices_agree(struct mtree *t, uint64_t ino, const uint8_t *all, size_t size)
{
	uint8_t *part = malloc(size + 8);
	int good = part != NULL;

	for (int round = 0; round < 200 && good; round++) {
		size_t at = random_word() % size, odd = random_word() % 4;
		size_t n = round % 2 ? random_word() % 70 : random_word() % size;
		size_t want = n < size - at ? n : size - at;

		good = node_read(t, ino, part + odd, n, at) == (ssize_t)want && !memcmp(part + odd, all + at, want);
	}
	good = good && !node_read(t, ino, part, 1, size);
	free(part);
	return good;
}

/* Every form against the library; the narrow ones by the distance that rounding may make. */
static void check_narrow(const char *what, const float *want, const uint8_t *got, size_t n, uint32_t type, double ulp,
			 double least)
{
	size_t bad = 0;

	for (size_t k = 0; k < n; k++) {
		float v;

		gguf_decode(type, &v, got + 2 * k, 1);
		bad += isnan(want[k]) ? !isnan(v) : isinf(v) ? fabs((double)want[k]) < 65519 :
		       !(fabs((double)want[k] - (double)v) <= ulp * fabs((double)want[k]) + least);
	}
	ok(!bad, "%s: nearest values", what);
}

static void check_forms(struct mtree *t, size_t k)
{
	static const char *const names[] = { "raw", "f32", "f16", "bf16", "f32.npy" };
	size_t n = (size_t)width_of(k) * ROWS, size[5] = { 0 };
	uint8_t *p[5];
	float *want = malloc(n * sizeof *want);
	int good = want != NULL;

	for (int i = 0; i < 5; i++) {
		p[i] = whole(t, find(t, k, names[i]), &size[i]);
		good = good && p[i] && slices_agree(t, find(t, k, names[i]), p[i], size[i]);
	}
	if (ok(good, "%s: any part of each form is that of the whole", types[k].name)) {
		gguf_decode(types[k].type, want, p[0], n / types[k].values);
		ok(size[1] == 4 * n && !memcmp(p[1], want, 4 * n), "%s: f32 is what is decoded", types[k].name);
		ok(size[4] > size[1] && size[4] % 64 == size[1] % 64 && !memcmp(p[4] + size[4] - size[1], want, 4 * n),
		   "%s: f32.npy ends in f32", types[k].name);
		check_narrow(types[k].name, want, p[2], n, GGUF_TYPE_F16, 0x1p-11, 0x1p-25);
		check_narrow(types[k].name, want, p[3], n, GGUF_TYPE_BF16, 0x1p-8, 0x1p-133);
	}
	for (int i = 0; i < 5; i++)
		free(p[i]);
	free(want);
}

/* The number in the line of stats that begins with name. */
static double stat_of(const char *text, const char *name)
{
	const char *line = strstr(text, name);

	return line ? strtod(line + strlen(name), NULL) : NAN;
}

static int close_to(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fabs(b) || a == b;
}

static void check_stats(struct mtree *t, size_t k)
{
	size_t n = (size_t)width_of(k) * ROWS, size, finite = 0, zeros = 0, nans = 0, infinite = 0;
	float *v = (float *)(void *)whole(t, find(t, k, "f32"), &size);
	char *text = (char *)whole(t, find(t, k, "stats"), &size);
	double sum = 0, squares = 0, low = INFINITY, high = -INFINITY;

	for (size_t i = 0; v && i < n; i++) {
		double x = (double)v[i];

		zeros += x == 0;
		nans += isnan(x) != 0;
		infinite += isinf(x) != 0;
		if (isfinite(x)) {
			finite++;
			sum += x;
			low = fmin(low, x);
			high = fmax(high, x);
		}
	}
	for (size_t i = 0; v && i < n; i++)
		if (isfinite(v[i]))
			squares += ((double)v[i] - sum / (double)finite) * ((double)v[i] - sum / (double)finite);
	if (text)
		text[size] = '\0';
	ok(text && stat_of(text, "values") == (double)n && close_to(stat_of(text, "min"), low) &&
	   close_to(stat_of(text, "max"), high) && close_to(stat_of(text, "mean"), sum / (double)finite) &&
	   close_to(stat_of(text, "std"), sqrt(squares / (double)finite)) && stat_of(text, "zeros") == (double)zeros &&
	   stat_of(text, "nan") == (double)nans && stat_of(text, "inf") == (double)infinite, "%s: stats",
	   types[k].name);
	free(v);
	free(text);
}

#ifdef HAVE_PNG
/* The pixels as red, green and blue, to be freed. */
static uint8_t *pixels_of(struct mtree *t, size_t k, unsigned *width, unsigned *height)
{
	png_image image = { .version = PNG_IMAGE_VERSION };
	size_t size;
	uint8_t *file = whole(t, find(t, k, "heatmap.png"), &size), *pixels = NULL;

	if (file && png_image_begin_read_from_memory(&image, file, size)) {
		image.format = PNG_FORMAT_RGB;
		pixels = malloc(PNG_IMAGE_SIZE(image));
		if (pixels && !png_image_finish_read(&image, NULL, pixels, 0, NULL)) {
			free(pixels);
			pixels = NULL;
		}
		*width = image.width;
		*height = image.height;
	}
	free(file);
	return pixels;
}

/* Red where the value is above zero, blue below, black where it is not finite. */
static void check_picture(struct mtree *t, size_t k)
{
	unsigned width = 0, height = 0, zoom = 16 / ROWS;
	size_t size, wrong = 0;
	float *v = (float *)(void *)whole(t, find(t, k, "f32"), &size);
	uint8_t *pixels = pixels_of(t, k, &width, &height);

	for (size_t y = 0; v && pixels && y < height; y++)
		for (size_t x = 0; x < width; x++) {
			float f = v[y / zoom * width + x];
			const uint8_t *p = pixels + 3 * (y * width + x);

			wrong += !isfinite(f) ? p[0] || p[1] || p[2] :
				 f > 0 ? p[0] < p[2] : f < 0 ? p[0] > p[2] : p[0] != 255;
		}
	ok(v && pixels && width == width_of(k) && height == ROWS * zoom && !wrong, "%s: picture", types[k].name);
	free(v);
	free(pixels);
}
#else
static void check_picture(struct mtree *t, size_t k)
{
	(void)t;
	skip(types[k].name, "built without libpng");
}
#endif

static void check_chart(struct mtree *t)
{
	uint64_t ino = 0;
	size_t size, names = 0;
	char *text = node_lookup(t, NODE_ROOT, "types.svg", 9, &ino) ? NULL : (char *)whole(t, ino, &size);

	if (text)
		text[size] = '\0';
	for (size_t k = 0; text && k < TYPES; k++) {
		char wanted[64];

		snprintf(wanted, sizeof wanted, ">%s</text>", types[k].name);
		names += strstr(text, wanted) != NULL;
	}
	ok(text && !strncmp(text, "<svg ", 5) && !strcmp(text + size - 7, "</svg>\n") && names == TYPES &&
	   strstr(text, ">layer 2</text>"), "types.svg has every type and layer");
	free(text);
}

int main(void)
{
	struct mtree_options opt = { 0 };
	struct gguf *g = NULL;
	struct mtree *t = NULL;
	size_t size = 0;
	uint8_t *file = make_model(&size);

	if (!file || gguf_open_memory(&g, file, size, NULL) || mtree_new(&t, g, &opt)) {
		printf("Bail out! no model\n");
		return 1;
	}
	for (size_t k = 0; k < TYPES; k++) {
		check_forms(t, k);
		check_stats(t, k);
		check_picture(t, k);
	}
	check_chart(t);
	mtree_free(t);
	gguf_close(g);
	free(file);
	done();
}
