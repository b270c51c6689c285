/* SPDX-License-Identifier: MIT */
#include "chart.h"
#include "mtree.h"

enum {
	LAYERS = 1000, /* at most */
	LABEL = 90, BAR = 640, ROW = 18, TOP = 34, LEGEND = 90, /* pixels */
	TYPES = GGUF_TYPE_LIMIT + 1, /* the last: unknown ones */
};

struct chart {
	uint64_t bytes[TYPES]; /* of the whole model */
	uint64_t longest;      /* bytes of the largest bar */
};

/* Bytes by type. */
struct bar {
	uint64_t bytes[TYPES], total;
};

static void add_tensor(struct bar *b, const struct gguf_tensor *tensor)
{
	b->bytes[gguf_type_name(tensor->type) ? tensor->type : GGUF_TYPE_LIMIT] += tensor->size;
	b->total += tensor->size;
}

static struct bar layer_bar(const struct mtree *t, const struct layer *l)
{
	struct bar b = { .total = 0 };

	for (size_t k = 0; k < l->count; k++)
		add_tensor(&b, gguf_tensor(t->g, t->layers.members[l->first + k]));
	return b;
}

/* What belongs to no layer: embeddings, output. */
static struct bar other_bar(const struct mtree *t)
{
	struct bar b = { .total = 0 };
	struct gguf_bytes rest;
	uint64_t number;

	for (size_t i = 0; i < gguf_tensor_count(t->g); i++)
		if (!layer_split(gguf_tensor(t->g, i)->name, &number, &rest))
			add_tensor(&b, gguf_tensor(t->g, i));
	return b;
}

/* Colours round the circle, neighbours in the list far apart. */
static unsigned hue_of(unsigned type)
{
	return type * 137 % 360;
}

static const char *name_of(unsigned type)
{
	return type < GGUF_TYPE_LIMIT ? gguf_type_name(type) : "unknown";
}

/* A bar at y: a piece for each type, as wide as its share of the longest bar, and the total after it. */
static void put_bar(const struct bar *b, uint64_t longest, unsigned y, struct out *o)
{
	double x = LABEL;

	for (unsigned k = 0; k < TYPES; k++) {
		double width = longest ? (double)BAR * ((double)b->bytes[k] / (double)longest) : 0;

		if (!b->bytes[k])
			continue;
		out_printf(o, "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" ", x, y, width, ROW - 4);
		out_printf(o, "fill=\"hsl(%u,60%%,55%%)\">", hue_of(k));
		out_printf(o, "<title>%s: %llu bytes</title></rect>\n", name_of(k), (unsigned long long)b->bytes[k]);
		x += width;
	}
	out_printf(o, "<text x=\"%.2f\" y=\"%u\">%.3g MiB</text>\n", x + 6, y + ROW - 7, (double)b->total / (1 << 20));
}

static void put_label(const char *what, uint64_t number, unsigned y, struct out *o)
{
	if (what)
		out_printf(o, "<text x=\"4\" y=\"%u\">%s</text>\n", y + ROW - 7, what);
	else
		out_printf(o, "<text x=\"4\" y=\"%u\">layer %llu</text>\n", y + ROW - 7, (unsigned long long)number);
}

static void put_legend(const struct chart *c, struct out *o)
{
	unsigned x = LABEL;

	for (unsigned k = 0; k < TYPES; k++) {
		if (!c->bytes[k])
			continue;
		out_printf(o, "<rect x=\"%u\" y=\"8\" width=\"12\" height=\"12\" ", x);
		out_printf(o, "fill=\"hsl(%u,60%%,55%%)\"/>", hue_of(k));
		out_printf(o, "<text x=\"%u\" y=\"18\">%s</text>\n", x + 16, name_of(k));
		x += LEGEND;
	}
}

/* Takes a bar into account for the legend and the scale. */
static void measure(struct chart *c, const struct bar *b)
{
	for (unsigned k = 0; k < TYPES; k++)
		c->bytes[k] += b->bytes[k];
	if (b->total > c->longest)
		c->longest = b->total;
}

/* A picture of more layers than that would be of no use, and its size is asked for by every ls. */
bool chart_present(const struct mtree *t, uint64_t i)
{
	(void)i;
	return t->layers.count <= LAYERS;
}

int chart_print(const struct mtree *t, uint64_t i, struct out *o)
{
	struct bar other = other_bar(t);
	struct chart c = { .longest = 0 };
	unsigned kinds = 0, y = TOP, width = LABEL + BAR + LEGEND;

	(void)i;
	measure(&c, &other);
	for (size_t k = 0; k < t->layers.count; k++) {
		struct bar b = layer_bar(t, &t->layers.layers[k]);

		measure(&c, &b);
	}
	for (unsigned k = 0; k < TYPES; k++)
		kinds += c.bytes[k] != 0;
	if (LABEL + kinds * LEGEND > width)
		width = LABEL + kinds * LEGEND;
	out_printf(o, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%zu\" ", width,
		   TOP + ROW * (t->layers.count + 1) + 8);
	out_string(o, "font-family=\"sans-serif\" font-size=\"11\">\n<title>bytes by layer and tensor type</title>\n"
		      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
	put_legend(&c, o);
	for (size_t k = 0; k < t->layers.count; k++, y += ROW) {
		struct bar b = layer_bar(t, &t->layers.layers[k]);

		put_label(NULL, t->layers.layers[k].number, y, o);
		put_bar(&b, c.longest, y, o);
	}
	put_label("other", 0, y, o);
	put_bar(&other, c.longest, y, o);
	out_string(o, "</svg>\n");
	return 0;
}
