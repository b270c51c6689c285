/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "picture.h"
#include "floats.h"
#include "png_write.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	SIDE = 1024,      /* pixels at most */
	SIDE_LEAST = 16,  /* a side of fewer values is shown with larger pixels */
	PIECE = 16384,    /* values at once */
	WHITE = 127,      /* index of zero; colours go as far down as up */
	NOT_FINITE = 255,
};

/* The picture that was made last, and the sizes of those of some shapes. lock is held while one is made. */
struct pictures {
	pthread_mutex_t lock; /* for the picture: held while one is made, however long that takes */
	uint64_t i;
	uint8_t *png; /* NULL: none yet */
	size_t size;
	pthread_mutex_t sizes; /* for all below */
	struct known { /* a model has few shapes, and each takes a picture to know its size */
		uint32_t width, height;
		size_t size; /* 0: none */
	} known[16];
	unsigned next;
};

int pictures_new(struct pictures **out)
{
	struct pictures *p = calloc(1, sizeof *p);

	if (!p)
		return -ENOMEM;
	pthread_mutex_init(&p->lock, NULL);
	pthread_mutex_init(&p->sizes, NULL);
	*out = p;
	return 0;
}

void pictures_free(struct pictures *p)
{
	if (!p)
		return;
	pthread_mutex_destroy(&p->sizes);
	pthread_mutex_destroy(&p->lock);
	free(p->png);
	free(p);
}

/* ---- the shape: a tensor is rows of its first extent, cells of several values each ---- */

struct shape {
	uint64_t width, height;  /* values */
	uint32_t columns, rows;  /* cells */
	uint32_t zoom_x, zoom_y; /* pixels of a cell's sides */
};

static uint32_t zoom_of(uint32_t cells)
{
	return cells < SIDE_LEAST ? SIDE_LEAST / cells : 1;
}

/* Of a tensor with values: an extent of 0 has no picture. */
static struct shape shape_of(const struct gguf_tensor *tensor)
{
	struct shape s = { .width = tensor->extent[0], .height = tensor->values / tensor->extent[0] };

	s.columns = s.width < SIDE ? (uint32_t)s.width : SIDE;
	s.rows = s.height < SIDE ? (uint32_t)s.height : SIDE;
	s.zoom_x = zoom_of(s.columns);
	s.zoom_y = zoom_of(s.rows);
	return s;
}

/* The cell that value number k of total lies in. No cell is empty, as there are no more than values. */
static uint32_t cell_of(uint64_t k, uint64_t total, uint32_t cells)
{
	return (uint32_t)((unsigned __int128)k * cells / total);
}

/* The first value past that cell. */
static uint64_t end_of(uint32_t cell, uint64_t total, uint32_t cells)
{
	return (uint64_t)(((unsigned __int128)(cell + 1) * total + cells - 1) / cells);
}

/* ---- the cells: sums of values, then means ---- */

struct cells {
	struct shape shape;
	float *mean;       /* columns * rows */
	double *sum;       /* of the row of cells being filled */
	uint64_t *count;
	uint64_t at;       /* the value to come */
	float scale;       /* what has the deepest colour */
};

static void finish_row(struct cells *c, uint32_t row)
{
	for (uint32_t x = 0; x < c->shape.columns; x++)
		c->mean[(size_t)row * c->shape.columns + x] = (float)(c->sum[x] / (double)c->count[x]);
	memset(c->sum, 0, c->shape.columns * sizeof *c->sum);
	memset(c->count, 0, c->shape.columns * sizeof *c->count);
}

/* n values of one row, from column first on */
static void add_values(struct cells *c, const float *v, size_t n, uint64_t first)
{
	uint64_t end = 0;
	uint32_t x = 0;

	for (size_t k = 0; k < n; k++) {
		if (first + k >= end) {
			x = cell_of(first + k, c->shape.width, c->shape.columns);
			end = end_of(x, c->shape.width, c->shape.columns);
		}
		c->sum[x] += (double)v[k];
		c->count[x]++;
	}
}

/* The next n values, whatever rows they belong to. */
static void add_piece(struct cells *c, const float *v, size_t n)
{
	const struct shape *s = &c->shape;

	while (n) {
		uint64_t row = c->at / s->width, first = c->at % s->width;
		uint32_t cell = cell_of(row, s->height, s->rows);
		size_t now = n < s->width - first ? n : (size_t)(s->width - first);

		add_values(c, v, now, first);
		v += now;
		n -= now;
		c->at += now;
		if (first + now == s->width && (row + 1 == s->height || cell_of(row + 1, s->height, s->rows) != cell))
			finish_row(c, cell);
	}
}

/* Runs through the tensor once; memory is bounded by the cells, whatever its size. */
static int fill_cells(const struct mtree *t, uint64_t i, struct cells *c)
{
	uint64_t values = gguf_tensor(t->g, i)->values;
	float v[PIECE];
	int err = 0;

	while (c->at < values && !err) {
		size_t n = values - c->at < PIECE ? (size_t)(values - c->at) : PIECE;

		err = mtree_stops(t) ? -EINTR : floats_values(t, i, v, n, c->at);
		if (!err)
			add_piece(c, v, n);
	}
	return err;
}

static void free_cells(struct cells *c)
{
	free(c->mean);
	free(c->sum);
	free(c->count);
}

/* c is to be freed, unless this fails. */
static int make_cells(const struct mtree *t, uint64_t i, struct cells *c)
{
	struct shape s = shape_of(gguf_tensor(t->g, i));
	int err = 0;

	*c = (struct cells){
		.shape = s,
		.mean = malloc((size_t)s.columns * s.rows * sizeof *c->mean),
		.sum = calloc(s.columns, sizeof *c->sum),
		.count = calloc(s.columns, sizeof *c->count),
	};
	err = c->mean && c->sum && c->count ? fill_cells(t, i, c) : -ENOMEM;
	if (err)
		free_cells(c);
	return err;
}

/* ---- colours ---- */

/* Four times the cells' root mean square, or the greatest of them if that is less. */
static float scale_of(const struct cells *c)
{
	size_t n = (size_t)c->shape.columns * c->shape.rows, finite = 0;
	double squares = 0, most = 0;

	for (size_t k = 0; k < n; k++)
		if (isfinite(c->mean[k])) {
			squares += (double)c->mean[k] * (double)c->mean[k];
			most = fmax(most, fabs((double)c->mean[k]));
			finite++;
		}
	return (float)fmin(most, finite ? 4 * sqrt(squares / (double)finite) : 0);
}

/* The index of a value's colour: 0 to 254 from -scale to scale, and beyond that the deepest. */
static uint8_t colour_of(float v, float scale)
{
	if (!isfinite(v))
		return NOT_FINITE;
	return (uint8_t)(WHITE + lrintf(WHITE * fmaxf(-1, fminf(1, scale > 0 ? v / scale : 0))));
}

static void set_colour(uint8_t *colour, int red, int green, int blue)
{
	colour[0] = (uint8_t)red;
	colour[1] = (uint8_t)green;
	colour[2] = (uint8_t)blue;
}

static void fill_palette(uint8_t palette[256][3])
{
	for (int k = 0; k <= WHITE; k++) { /* k counts from the deepest colour to white */
		int pale = 255 * k / WHITE, deep = 128 + k;

		set_colour(palette[k], pale, pale, deep);
		set_colour(palette[2 * WHITE - k], deep, pale, pale);
	}
	set_colour(palette[NOT_FINITE], 0, 0, 0);
}

static void picture_line(const void *ctx, uint32_t y, uint8_t *line)
{
	const struct cells *c = ctx;
	const struct shape *s = &c->shape;
	const float *mean = c->mean + (size_t)(y / s->zoom_y) * s->columns;

	for (uint32_t x = 0; x < s->columns * s->zoom_x; x++)
		line[x] = colour_of(mean[x / s->zoom_x], c->scale);
}

static void blank_line(const void *ctx, uint32_t y, uint8_t *line)
{
	const struct shape *s = ctx;

	(void)y;
	memset(line, WHITE, s->columns * s->zoom_x);
}

/* ---- the file ---- */

bool picture_present(const struct mtree *t, uint64_t i)
{
	return png_built_in && floats_present(t, i) && gguf_tensor(t->g, i)->values > 0;
}

/* The size of any picture of that shape. */
static int size_of(const struct shape *s, size_t *size)
{
	struct png_image image = { s->columns * s->zoom_x, s->rows * s->zoom_y, .line = blank_line, .ctx = s };
	struct png_sink counter = { NULL, 0, 0 };
	int err = png_write(&image, &counter);

	*size = counter.used;
	return err;
}

/* With p->sizes held. */
static int find_size(struct pictures *p, const struct shape *s, size_t *size)
{
	struct known *k = p->known, *end = k + sizeof p->known / sizeof *k;
	uint32_t width = s->columns * s->zoom_x, height = s->rows * s->zoom_y;
	int err;

	for (; k < end; k++)
		if (k->size && k->width == width && k->height == height) {
			*size = k->size;
			return 0;
		}
	err = size_of(s, size);
	if (!err)
		p->known[p->next++ % (sizeof p->known / sizeof *k)] = (struct known){ width, height, *size };
	return err;
}

static int known_size(struct pictures *p, const struct shape *s, size_t *size)
{
	int err;

	pthread_mutex_lock(&p->sizes);
	err = find_size(p, s, size);
	pthread_mutex_unlock(&p->sizes);
	return err;
}

int picture_size(const struct mtree *t, uint64_t i, uint64_t *size)
{
	struct shape s = shape_of(gguf_tensor(t->g, i));
	size_t bytes = 0;
	int err = known_size(t->pictures, &s, &bytes);

	*size = bytes;
	return err;
}

/* Puts the picture of tensor i in place of the one that is kept. */
static int make_picture(const struct mtree *t, uint64_t i, struct pictures *p)
{
	struct cells c;
	size_t size;
	int err = make_cells(t, i, &c);

	if (err)
		return err;
	free(p->png);
	p->png = NULL;
	struct png_image image = { c.shape.columns * c.shape.zoom_x, c.shape.rows * c.shape.zoom_y,
				   .line = picture_line, .ctx = &c };
	fill_palette(image.palette);
	c.scale = scale_of(&c);
	err = known_size(p, &c.shape, &size);
	struct png_sink sink = { err ? NULL : malloc(size), size, 0 };
	if (!err)
		err = sink.p ? png_write(&image, &sink) : -ENOMEM;
	free_cells(&c);
	if (!err && sink.used != size)
		err = -EIO;
	if (err) {
		free(sink.p);
		return err;
	}
	p->png = sink.p;
	p->size = size;
	p->i = i;
	return 0;
}

int picture_read(const struct mtree *t, uint64_t i, void *buf, size_t n, uint64_t offset)
{
	struct pictures *p = t->pictures;
	int err = 0;

	pthread_mutex_lock(&p->lock);
	if (!p->png || p->i != i)
		err = make_picture(t, i, p);
	if (!err)
		memcpy(buf, p->png + offset, n);
	pthread_mutex_unlock(&p->lock);
	return err;
}
