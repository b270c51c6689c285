## Tokenizers.
libcomputecore_la_SOURCES += %D%/token.h %D%/vocab.h %D%/vocab.c %D%/special.c %D%/piece.c \
	%D%/index.h %D%/index.c %D%/trie.h %D%/trie.c %D%/utf8.h %D%/utf8.c %D%/bytemap.h %D%/merge.h \
	%D%/split.h %D%/split.c %D%/pre.def \
	%D%/spm.c %D%/bpe.c %D%/wpm.c %D%/ugm.c %D%/rwkv.c
