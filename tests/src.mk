## What makes GGUF files for tests: build.h has the words, cases.h the spoiled ones.
check_LTLIBRARIES += %D%/libbuild.la
tests_libbuild_la_SOURCES = %D%/build.h %D%/build.c %D%/cases.h %D%/cases.c

check_PROGRAMS += %D%/test_parse
tests_test_parse_SOURCES = %D%/test_parse.c
tests_test_parse_LDADD = %D%/libbuild.la libggufcore.la
