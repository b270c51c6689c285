KERNEL_TEST_CPPFLAGS = $(COMPUTE_CPPFLAGS) -I$(top_srcdir)/compute/kernel
check_PROGRAMS += %D%/test_team
%C%_test_team_SOURCES = %D%/test_team.c
%C%_test_team_CPPFLAGS = $(KERNEL_TEST_CPPFLAGS)
%C%_test_team_CFLAGS = $(COMPUTE_CFLAGS)
%C%_test_team_LDADD = $(COMPUTE_LIBS)
