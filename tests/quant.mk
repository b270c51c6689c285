check_PROGRAMS += %D%/test_quant
tests_test_quant_SOURCES = %D%/test_quant.c %D%/tap.h
tests_test_quant_LDADD = libggufcore.la
check_PROGRAMS += %D%/test_encode
tests_test_encode_SOURCES = %D%/test_encode.c %D%/tap.h
tests_test_encode_LDADD = libggufcore.la -lm
