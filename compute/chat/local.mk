## Chat templates.
libcomputecore_la_SOURCES += %D%/template.h %D%/template.c %D%/chat.h %D%/chat.c %D%/builtin_chat.c \
	%D%/job.h %D%/job.c %D%/utf8.h %D%/utf8.c %D%/number.h %D%/number.c \
	%D%/value.h %D%/value.c %D%/dict.h %D%/dict.c %D%/compare.h %D%/compare.c \
	%D%/lexer.h %D%/lexer.c %D%/node.h %D%/parser.h %D%/parser.c %D%/expression.c %D%/operand.c \
	%D%/run.h %D%/eval.c %D%/exec.h %D%/exec.c %D%/loop.c %D%/call.c \
	%D%/operator.c %D%/attribute.c %D%/iterate.c %D%/json.h %D%/json.c \
	%D%/format.h %D%/format.c %D%/format_spec.c %D%/textops.h \
	%D%/builtin.h %D%/globals.c %D%/tests.c \
	%D%/method_text.c %D%/method_find.c %D%/method_case.c \
	%D%/filter_text.c %D%/filter_list.c %D%/filter_pick.c
