## Matrix kernels, one file per ISA.
libcomputecore_la_SOURCES += %D%/kernel.h %D%/kernel.c %D%/target.h %D%/tiers.def %D%/block.h %D%/block.c %D%/fma.h \
	%D%/scalar.c
