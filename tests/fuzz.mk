## Fuzz targets: fuzz_NAME.c here, inputs in corpus/NAME. make check replays those, make fuzz FUZZ_S=60 looks for more.
FUZZERS = parse split decode check tree options sample token vocab chat template
FUZZ_MAIN = %D%/fuzz.h %D%/fuzz_main.c
FUZZ_CPPFLAGS = $(COMPUTE_CPPFLAGS) -I$(top_srcdir) -I$(top_srcdir)/compute/chat
FUZZED_FILES = $(libggufcore_la_SOURCES) $(libcheck_la_SOURCES) $(libmountcore_la_SOURCES) $(libcomputecore_la_SOURCES) \
	$(libcomputecli_la_SOURCES) compute/run_options.c %D%/fuzz_walk.c
check_PROGRAMS += %D%/fuzz_parse
%C%_fuzz_parse_SOURCES = %D%/fuzz_parse.c %D%/fuzz_walk.c $(FUZZ_MAIN)
%C%_fuzz_parse_CPPFLAGS = $(FUZZ_CPPFLAGS)
%C%_fuzz_parse_CFLAGS = $(COMPUTE_CFLAGS)
%C%_fuzz_parse_LDADD = libggufcore.la
check_PROGRAMS += %D%/fuzz_split
%C%_fuzz_split_SOURCES = %D%/fuzz_split.c %D%/fuzz_walk.c $(FUZZ_MAIN)
%C%_fuzz_split_CPPFLAGS = $(FUZZ_CPPFLAGS)
%C%_fuzz_split_CFLAGS = $(COMPUTE_CFLAGS)
%C%_fuzz_split_LDADD = libggufcore.la
check_PROGRAMS += %D%/fuzz_decode
%C%_fuzz_decode_SOURCES = %D%/fuzz_decode.c $(FUZZ_MAIN)
%C%_fuzz_decode_CPPFLAGS = $(FUZZ_CPPFLAGS)
%C%_fuzz_decode_CFLAGS = $(COMPUTE_CFLAGS)
%C%_fuzz_decode_LDADD = libggufcore.la
check_PROGRAMS += %D%/fuzz_check
%C%_fuzz_check_SOURCES = %D%/fuzz_check.c $(FUZZ_MAIN)
%C%_fuzz_check_CPPFLAGS = $(FUZZ_CPPFLAGS)
%C%_fuzz_check_CFLAGS = $(COMPUTE_CFLAGS)
%C%_fuzz_check_LDADD = libcheck.la libggufcore.la $(CRYPTO_LIBS) $(XXHASH_LIBS) -lpthread -lm
check_PROGRAMS += %D%/fuzz_tree
%C%_fuzz_tree_SOURCES = %D%/fuzz_tree.c $(FUZZ_MAIN)
%C%_fuzz_tree_CPPFLAGS = $(FUZZ_CPPFLAGS)
%C%_fuzz_tree_CFLAGS = $(COMPUTE_CFLAGS)
%C%_fuzz_tree_LDADD = libmountcore.la libggufcore.la $(PNG_LIBS) -lm
check_PROGRAMS += %D%/fuzz_options
%C%_fuzz_options_SOURCES = %D%/fuzz_options.c compute/run_options.c $(FUZZ_MAIN)
%C%_fuzz_options_CPPFLAGS = $(FUZZ_CPPFLAGS)
%C%_fuzz_options_CFLAGS = $(COMPUTE_CFLAGS)
%C%_fuzz_options_LDADD = libmountcore.la libcomputecli.la $(COMPUTE_LIBS) $(PNG_LIBS)
check_PROGRAMS += %D%/fuzz_sample
%C%_fuzz_sample_SOURCES = %D%/fuzz_sample.c $(FUZZ_MAIN)
%C%_fuzz_sample_CPPFLAGS = $(FUZZ_CPPFLAGS)
%C%_fuzz_sample_CFLAGS = $(COMPUTE_CFLAGS)
%C%_fuzz_sample_LDADD = libcomputecli.la $(COMPUTE_LIBS)
check_PROGRAMS += %D%/fuzz_token
%C%_fuzz_token_SOURCES = %D%/fuzz_token.c %D%/fuzz_source.h $(FUZZ_MAIN)
%C%_fuzz_token_CPPFLAGS = $(FUZZ_CPPFLAGS)
%C%_fuzz_token_CFLAGS = $(COMPUTE_CFLAGS)
%C%_fuzz_token_LDADD = $(COMPUTE_LIBS)
check_PROGRAMS += %D%/fuzz_vocab
%C%_fuzz_vocab_SOURCES = %D%/fuzz_vocab.c %D%/fuzz_source.h $(FUZZ_MAIN)
%C%_fuzz_vocab_CPPFLAGS = $(FUZZ_CPPFLAGS)
%C%_fuzz_vocab_CFLAGS = $(COMPUTE_CFLAGS)
%C%_fuzz_vocab_LDADD = $(COMPUTE_LIBS)
check_PROGRAMS += %D%/fuzz_chat
%C%_fuzz_chat_SOURCES = %D%/fuzz_chat.c %D%/fuzz_source.h $(FUZZ_MAIN)
%C%_fuzz_chat_CPPFLAGS = $(FUZZ_CPPFLAGS)
%C%_fuzz_chat_CFLAGS = $(COMPUTE_CFLAGS)
%C%_fuzz_chat_LDADD = $(COMPUTE_LIBS)
check_PROGRAMS += %D%/fuzz_template
%C%_fuzz_template_SOURCES = %D%/fuzz_template.c $(FUZZ_MAIN)
%C%_fuzz_template_CPPFLAGS = $(FUZZ_CPPFLAGS)
%C%_fuzz_template_CFLAGS = $(COMPUTE_CFLAGS)
%C%_fuzz_template_LDADD = $(COMPUTE_LIBS)
EXTRA_DIST += %D%/fuzz.sh %D%/corpus
fuzz:
	top_srcdir='$(srcdir)' TARGETS='$(FUZZERS)' SOURCES='$(FUZZED_FILES)' CPPFLAGS='$(FUZZ_CPPFLAGS)' \
	CFLAGS='$(COMPUTE_CFLAGS) $(PNG_CFLAGS) -ffp-contract=off' \
	LIBS='$(JANSSON_LIBS) $(PCRE2_LIBS) $(UTF8PROC_LIBS) $(CRYPTO_LIBS) $(XXHASH_LIBS) $(PNG_LIBS) -lm' $(srcdir)/%D%/fuzz.sh
.PHONY: fuzz
clean-local:
	rm -rf fuzz-build
