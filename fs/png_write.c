/* SPDX-License-Identifier: MIT */
#include "config.h"
#ifdef HAVE_PNG
#include "png_write.h"
#include <errno.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

/* libpng's writer. Without room to write to it only counts. */
static void put_bytes(png_structp png, png_bytep bytes, png_size_t n)
{
	struct png_sink *sink = png_get_io_ptr(png);

	if (sink->p) {
		if (n > sink->room - sink->used)
			png_error(png, "no room");
		memcpy(sink->p + sink->used, bytes, n);
	}
	sink->used += n;
}

static void flush_nothing(png_structp png)
{
	(void)png;
}

/* The library's messages are for nobody. */
static void warn_nobody(png_structp png, png_const_charp message)
{
	(void)png;
	(void)message;
}

/* Back to png_write, which says -EIO. */
static PNG_NORETURN void give_up(png_structp png, png_const_charp message)
{
	(void)message;
	png_longjmp(png, 1);
}

/* Uncompressed and without filters, so that the size depends on nothing but width and height. */
static void write_image(png_structp png, png_infop info, const struct png_image *image, uint8_t *line)
{
	png_color palette[256];

	for (int k = 0; k < 256; k++)
		palette[k] = (png_color){ image->palette[k][0], image->palette[k][1], image->palette[k][2] };
	png_set_IHDR(png, info, image->width, image->height, 8, PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE,
		     PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	png_set_PLTE(png, info, palette, 256);
	png_set_compression_level(png, 0);
	png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
	png_write_info(png, info);
	for (uint32_t y = 0; y < image->height; y++) {
		image->line(image->ctx, y, line);
		png_write_row(png, line);
	}
	png_write_end(png, info);
}

/* err is volatile: it is set between setjmp and the jump back. */
int png_write(const struct png_image *image, struct png_sink *sink)
{
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, give_up, warn_nobody);
	png_infop info = png ? png_create_info_struct(png) : NULL;
	uint8_t *line = malloc(image->width);
	volatile int err = info && line ? 0 : -ENOMEM;

	if (!err) {
		png_set_write_fn(png, sink, put_bytes, flush_nothing);
		if (setjmp(png_jmpbuf(png)))
			err = -EIO;
		else
			write_image(png, info, image, line);
	}
	png_destroy_write_struct(&png, &info);
	free(line);
	return err;
}
#endif
