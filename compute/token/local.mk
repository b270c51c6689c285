## Tokenizers.
libcomputecore_la_SOURCES += %D%/token.h %D%/vocab.h %D%/vocab.c %D%/special.c %D%/piece.c \
	%D%/index.h %D%/index.c %D%/trie.h %D%/trie.c %D%/utf8.h %D%/utf8.c %D%/bytemap.h %D%/merge.h \
	%D%/split.h %D%/split.c %D%/pre.def \
	%D%/spm.c %D%/bpe.c %D%/wpm.c %D%/ugm.c %D%/rwkv.c %D%/plamo.c
bin_PROGRAMS += gguf-tokenize
gguf_tokenize_SOURCES = %D%/tokenize.c
gguf_tokenize_CPPFLAGS = $(COMPUTE_CPPFLAGS)
gguf_tokenize_CFLAGS = $(COMPUTE_CFLAGS)
gguf_tokenize_LDADD = $(COMPUTE_CLI_LIBS)
dist_man_MANS += doc/gguf-tokenize.1
