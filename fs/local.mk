## mount.gguf: the tree as data, the bytes of each file, the FUSE callbacks that translate.
## The core has no FUSE in it, so that tests reach the tree without a mount.
noinst_LTLIBRARIES += libmountcore.la
libmountcore_la_SOURCES = %D%/out.h %D%/out.c \
	%D%/name.h %D%/name.c \
	%D%/number.h %D%/number.c \
	%D%/text.h %D%/text.c \
	%D%/value.h %D%/value.c \
	%D%/layer.h %D%/layer.c \
	%D%/items.h %D%/items.c \
	%D%/files.h %D%/files.c \
	%D%/about.h %D%/about.c \
	%D%/data.h %D%/data.c \
	%D%/joined.h %D%/joined.c \
	%D%/floats.h %D%/floats.c \
	%D%/stats.h %D%/stats.c \
	%D%/png_write.h %D%/png_write.c \
	%D%/picture.h %D%/picture.c \
	%D%/chart.h %D%/chart.c \
	%D%/dropcache.h %D%/dropcache.c \
	%D%/mtree.h %D%/mtree.c \
	%D%/node.h %D%/node.c \
	%D%/xattr.h %D%/xattr.c \
	%D%/options.h %D%/options.c
libmountcore_la_LIBADD = $(PNG_LIBS) -lm
libmountcore_la_CFLAGS = $(AM_CFLAGS) $(PNG_CFLAGS)
helper_PROGRAMS += mount.gguf
mount_gguf_SOURCES = %D%/main.c \
	%D%/serve.h %D%/serve.c \
	%D%/ops.h %D%/ops.c \
	%D%/slow.h %D%/slow.c \
	%D%/keeper.h %D%/keeper.c \
	%D%/signals.h %D%/signals.c \
	%D%/mountinfo.h %D%/mountinfo.c \
	%D%/readahead.h %D%/readahead.c \
	%D%/sandbox.h %D%/sandbox.c
mount_gguf_CFLAGS = $(AM_CFLAGS) $(FUSE_CFLAGS) $(SECCOMP_CFLAGS)
mount_gguf_LDADD = libmountcore.la libggufcore.la $(PNG_LIBS) $(FUSE_LIBS) $(SECCOMP_LIBS) -lm
