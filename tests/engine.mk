check_PROGRAMS += %D%/test_threads %D%/test_sample
tests_test_threads_SOURCES = %D%/tap.h %D%/test_threads.c
tests_test_threads_CPPFLAGS = $(COMPUTE_CPPFLAGS)
tests_test_threads_LDADD = $(COMPUTE_LIBS)
tests_test_sample_SOURCES = %D%/tap.h %D%/test_sample.c
tests_test_sample_CPPFLAGS = $(COMPUTE_CPPFLAGS)
tests_test_sample_LDADD = $(COMPUTE_LIBS)
