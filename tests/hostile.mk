dist_check_SCRIPTS += %D%/test_writes.sh
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
