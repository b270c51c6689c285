check_PROGRAMS += %D%/test_quant
tests_test_quant_SOURCES = %D%/test_quant.c %D%/tap.h
tests_test_quant_LDADD = libggufcore.la
