check_PROGRAMS += %D%/test_template
CHAT_CPPFLAGS = $(COMPUTE_CPPFLAGS) -I$(top_srcdir)/compute/chat
%C%_test_template_SOURCES = %D%/tap.h %D%/test_template.c %D%/template_cases.h
%C%_test_template_CPPFLAGS = $(CHAT_CPPFLAGS)
%C%_test_template_CFLAGS = $(COMPUTE_CFLAGS)
%C%_test_template_LDADD = $(COMPUTE_LIBS)
