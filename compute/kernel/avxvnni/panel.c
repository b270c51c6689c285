/* SPDX-License-Identifier: MIT */
/* Integer weights, many tokens: all types stand in the panel 128 too high, as vpdpbusd wants one factor without a sign. */
#ifdef __x86_64__
#include "avxvnni.h"
#ifdef AVXVNNI_KNOWN
#include "kernel/avx2/tiles.h"

enum { HIGH = 128 };
#define EACH_KIND(X) X(BLOCK_SCALE) X(BLOCK_OFFSET) X(BLOCK_PAIR) X(BLOCK_PAIR_MIN)

KERNEL_BEGIN(AVXVNNI_TARGET)
#define KIND_TILES(kind) TILES(kind, kind, HIGH, 2, unsigned_products, NULL)
EACH_KIND(KIND_TILES)
static panel_tile_fn *const tiles[][TOKENS] = { EACH_KIND(TILE_TABLE) };

INLINE void mul_type(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to, uint32_t type,
		     size_t values, size_t bytes, enum block_kind kind)
{
	struct form f = { type, values / ACT_BLOCK, bytes, kind, HIGH, false };

	mul_panels(w, a, y, stride, from, to, &f, tiles[kind]);
}

#define PANELS(NAME, name, kind, ...) \
	void avxvnni_panels_##NAME(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to) \
	{ \
		mul_type(w, a, y, stride, from, to, GGUF_TYPE_##NAME, NAME##_VALUES, NAME##_BYTES, kind); \
	}
AVX2_INT_KERNELS(PANELS)

void avxvnni_panels_int(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to)
{
	mul_type(w, a, y, stride, from, to, w->type, gguf_type_values(w->type), gguf_type_bytes(w->type), block_types[w->type].kind);
}
KERNEL_END
#endif
#endif
