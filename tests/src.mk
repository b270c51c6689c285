## What makes GGUF files for tests: build.h has the words, cases.h the spoiled ones.
noinst_LTLIBRARIES += %D%/libbuild.la
tests_libbuild_la_SOURCES = %D%/build.h %D%/build.c %D%/cases.h %D%/cases.c

check_PROGRAMS += %D%/test_parse %D%/test_value %D%/test_split %D%/test_writer
tests_test_parse_SOURCES = %D%/test_parse.c
tests_test_parse_LDADD = %D%/libbuild.la libggufcore.la
tests_test_value_SOURCES = %D%/test_value.c
tests_test_value_LDADD = %D%/libbuild.la libggufcore.la
tests_test_split_SOURCES = %D%/test_split.c
tests_test_split_LDADD = %D%/libbuild.la libggufcore.la
tests_test_writer_SOURCES = %D%/test_writer.c
tests_test_writer_LDADD = %D%/libbuild.la libggufcore.la

check_PROGRAMS += %D%/test_scan
tests_test_scan_SOURCES = %D%/test_scan.c
tests_test_scan_LDADD = libggufcore.la -lm
dist_check_SCRIPTS += %D%/test_layers.sh %D%/test_fsck.sh %D%/test_symbols.sh
BENCHES += %D%/bench_fsck.sh
EXTRA_DIST += %D%/bench_fsck.sh
