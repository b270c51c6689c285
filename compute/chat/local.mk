## Chat templates.
libcomputecore_la_SOURCES += %D%/template.h %D%/chat.h
