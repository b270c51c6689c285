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

## Fuzz targets: fuzz_NAME.c here, inputs in corpus/NAME. make check replays those, make fuzz FUZZ_S=60 looks for more.
## Another one, in any .mk here: FUZZERS += NAME, its files in EXTRA_DIST, and a program of fuzz_NAME.c and $(FUZZ_MAIN).
FUZZERS = parse split check
FUZZ_MAIN = %D%/fuzz.h %D%/fuzz_main.c %D%/fuzz_walk.c
FUZZED_FILES = $(libggufcore_la_SOURCES) $(libcheck_la_SOURCES) $(libcomputecore_la_SOURCES) %D%/fuzz_walk.c
check_PROGRAMS += %D%/fuzz_parse %D%/fuzz_split %D%/fuzz_check
tests_fuzz_parse_SOURCES = %D%/fuzz_parse.c $(FUZZ_MAIN)
tests_fuzz_parse_LDADD = libggufcore.la
tests_fuzz_split_SOURCES = %D%/fuzz_split.c $(FUZZ_MAIN)
tests_fuzz_split_LDADD = libggufcore.la
tests_fuzz_check_SOURCES = %D%/fuzz_check.c $(FUZZ_MAIN)
tests_fuzz_check_LDADD = libcheck.la libggufcore.la $(CRYPTO_LIBS) $(XXHASH_LIBS) -lpthread -lm
EXTRA_DIST += %D%/fuzz.sh %D%/corpus
fuzz:
	top_srcdir='$(srcdir)' TARGETS='$(FUZZERS)' SOURCES='$(FUZZED_FILES)' CPPFLAGS='$(COMPUTE_CPPFLAGS)' \
	CFLAGS='$(COMPUTE_CFLAGS)' LIBS='$(JANSSON_LIBS) $(PCRE2_LIBS) $(UTF8PROC_LIBS) $(CRYPTO_LIBS) $(XXHASH_LIBS) -lm' $(srcdir)/%D%/fuzz.sh
.PHONY: fuzz
clean-local:
	rm -rf fuzz-build

check_PROGRAMS += %D%/test_scan
tests_test_scan_SOURCES = %D%/test_scan.c
tests_test_scan_LDADD = libggufcore.la -lm
dist_check_SCRIPTS += %D%/test_layers.sh %D%/test_fsck.sh %D%/test_symbols.sh
BENCHES += %D%/bench_fsck.sh
EXTRA_DIST += %D%/bench_fsck.sh
