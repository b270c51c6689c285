dist_check_SCRIPTS += %D%/test_writes.sh %D%/test_limits.sh
dist_check_SCRIPTS += %D%/test_fire.sh
noinst_PROGRAMS += %D%/fire
tests_fire_SOURCES = %D%/fire.c %D%/tap.h
tests_fire_LDADD = libggufcore.la

## What strangers send: make_file makes one of it, hostile gives all of it to our programs.
dist_check_SCRIPTS += %D%/test_hostile.sh
noinst_PROGRAMS += %D%/hostile %D%/make_file
tests_hostile_SOURCES = %D%/hostile.c %D%/patches.h %D%/patches.c
tests_hostile_LDADD = %D%/libbuild.la libggufcore.la
tests_make_file_SOURCES = %D%/make_file.c %D%/patches.h %D%/patches.c
tests_make_file_LDADD = %D%/libbuild.la libggufcore.la

## A disk that goes bad, for test_limits.sh.
noinst_PROGRAMS += %D%/eio_fs
tests_eio_fs_SOURCES = %D%/eio_fs.c
tests_eio_fs_CFLAGS = $(AM_CFLAGS) $(FUSE_CFLAGS)
tests_eio_fs_LDADD = $(FUSE_LIBS)
