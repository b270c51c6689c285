check_PROGRAMS += %D%/test_threads
tests_test_threads_SOURCES = %D%/tap.h %D%/test_threads.c
tests_test_threads_CPPFLAGS = $(COMPUTE_CPPFLAGS)
tests_test_threads_LDADD = $(COMPUTE_LIBS)
check_PROGRAMS += %D%/test_source
tests_test_source_SOURCES = %D%/tap.h %D%/plain.h %D%/test_source.c
tests_test_source_CPPFLAGS = $(COMPUTE_CPPFLAGS)
tests_test_source_LDADD = $(COMPUTE_LIBS)
