dist_check_SCRIPTS += %D%/test_fire.sh
noinst_PROGRAMS += %D%/fire
tests_fire_SOURCES = %D%/fire.c %D%/tap.h
tests_fire_LDADD = libggufcore.la
