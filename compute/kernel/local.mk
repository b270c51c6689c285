## Matrix kernels, one file per ISA.
libcomputecore_la_SOURCES += %D%/kernel.h %D%/kernel.c %D%/tiers.def %D%/block.h %D%/block.c %D%/fma.h %D%/flush.h %D%/stream.h \
	%D%/scalar.c %D%/dotprod.c %D%/panel.h %D%/panel.c
libcomputecore_la_SOURCES += %D%/avx2/avx2.h %D%/avx2/part.h %D%/avx2/tiles.h %D%/avx2/rows.h %D%/avx2/limits.h \
	%D%/avx2/tier.c %D%/avx2/int.c %D%/avx2/panel.c %D%/avx2/row.c %D%/avx2/float.c
libcomputecore_la_SOURCES += %D%/avxvnni/avxvnni.h %D%/avxvnni/tier.c %D%/avxvnni/panel.c %D%/avxvnni/row.c
libcomputecore_la_SOURCES += %D%/avx512/avx512.h %D%/avx512/rows.h %D%/avx512/fold.h %D%/avx512/float_body.h \
	%D%/avx512/tier.c %D%/avx512/quantize.c \
	%D%/avx512/panel.c %D%/avx512/unpack.c %D%/avx512/float.c %D%/avx512/bf16.c %D%/avx512/limits.c %D%/avx512/row.c
