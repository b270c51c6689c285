## libgguf: the format, and blocks to floats and back. Takes nothing from fs/ or compute/.
## The core archive has the sources; the library is a versioned door to it, so that tests reach inner functions.
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = src/gguf.pc
include_HEADERS += %D%/gguf.h %D%/gguf-types.def
noinst_LTLIBRARIES += libggufcore.la
libggufcore_la_SOURCES = %D%/gguf.h %D%/gguf-types.def %D%/tree.h %D%/target.h %D%/descriptors.h \
	%D%/error.h %D%/error.c \
	%D%/quote.h %D%/quote.c \
	%D%/identify.h %D%/identify.c \
	%D%/input.h %D%/input.c %D%/pages.h %D%/pages.c \
	%D%/cursor.h %D%/cursor.c \
	%D%/names.h %D%/names.c \
	%D%/model.h %D%/parse.c %D%/place.c \
	%D%/value.c %D%/key.c %D%/tensor.c %D%/swap.c %D%/scan.h %D%/scan.c \
	%D%/open.c %D%/split.h %D%/split.c %D%/write.c \
	%D%/type.c
libggufcore_la_LIBADD = -lm
## encoders give the same blocks on every host
libggufcore_la_CFLAGS = $(AM_CFLAGS) -ffp-contract=off
lib_LTLIBRARIES += libgguf.la
libgguf_la_SOURCES =
libgguf_la_LIBADD = libggufcore.la
libgguf_la_LDFLAGS = -no-undefined -version-info 0:0:0 -Wl,--version-script=$(srcdir)/%D%/gguf.map
EXTRA_libgguf_la_DEPENDENCIES = %D%/gguf.map
EXTRA_DIST += %D%/gguf.map

## fsck.gguf; what it checks is an archive, so that tests reach it.
noinst_LTLIBRARIES += libcheck.la
libcheck_la_SOURCES = %D%/check.h %D%/check_keys.c %D%/check_tokens.c %D%/check_settings.c %D%/check_layout.c \
	%D%/check_set.c %D%/check_data.c %D%/check_hash.c
libcheck_la_CFLAGS = $(AM_CFLAGS) $(CRYPTO_CFLAGS) $(XXHASH_CFLAGS)
helper_PROGRAMS += fsck.gguf
fsck_gguf_SOURCES = %D%/fsck.c %D%/fsck_report.h %D%/fsck_report.c %D%/fsck_manifest.c
fsck_gguf_LDADD = libcheck.la libggufcore.la $(CRYPTO_LIBS) $(XXHASH_LIBS) -lpthread -lm
dist_man_MANS += doc/fsck.gguf.8
EXTRA_DIST += SECURITY.md
