/* SPDX-License-Identifier: MIT */
/* PNG files of 256 colours, stored without packing: their size depends on width and height alone. */
#ifndef FS_PNG_WRITE_H
#define FS_PNG_WRITE_H
#include <stddef.h>
#include <stdint.h>

/* Where the bytes go; where p is NULL they are only counted. */
struct png_sink {
	uint8_t *p;
	size_t room, used;
};

struct png_image {
	uint32_t width, height;
	uint8_t palette[256][3];
	void (*line)(const void *ctx, uint32_t y, uint8_t *line); /* fills line y with width indices */
	const void *ctx;
};

#ifdef HAVE_PNG
/* 0, -ENOMEM, or -EIO when libpng gave up or the room is too small. */
int png_write(const struct png_image *image, struct png_sink *sink);
static const int png_built_in = 1;
#else
#include <errno.h>
static const int png_built_in = 0;
static inline int png_write(const struct png_image *image, struct png_sink *sink)
{
	(void)image;
	(void)sink;
	return -ENOSYS;
}
#endif
#endif
