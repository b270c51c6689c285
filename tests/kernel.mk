KERNEL_TEST_CPPFLAGS = $(COMPUTE_CPPFLAGS) -I$(top_srcdir)/compute/kernel
check_PROGRAMS += %D%/test_team
%C%_test_team_SOURCES = %D%/test_team.c
%C%_test_team_CPPFLAGS = $(KERNEL_TEST_CPPFLAGS)
%C%_test_team_CFLAGS = $(COMPUTE_CFLAGS)
%C%_test_team_LDADD = $(COMPUTE_LIBS)
check_PROGRAMS += %D%/test_kernel
%C%_test_kernel_SOURCES = %D%/test_kernel.c
%C%_test_kernel_CPPFLAGS = $(KERNEL_TEST_CPPFLAGS)
%C%_test_kernel_CFLAGS = $(COMPUTE_CFLAGS)
%C%_test_kernel_LDADD = $(COMPUTE_LIBS)
## Not a test: makes models of real dimensions for gguf-bench.
noinst_PROGRAMS += %D%/make_bench_model
%C%_make_bench_model_SOURCES = %D%/make_bench_model.c
%C%_make_bench_model_LDADD = libggufcore.la
BENCHES += %D%/bench_model.sh
EXTRA_DIST += %D%/bench_model.sh
