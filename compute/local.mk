## libggufs-compute: weights, architectures, sampling, and the programs in front of it.
noinst_LTLIBRARIES += libcomputecore.la
COMPUTE_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/compute
COMPUTE_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS) $(JANSSON_CFLAGS) $(PCRE2_CFLAGS) $(UTF8PROC_CFLAGS)
COMPUTE_LIBS = libcomputecore.la libggufcore.la $(JANSSON_LIBS) $(PCRE2_LIBS) $(UTF8PROC_LIBS) -lm
libcomputecore_la_SOURCES = %D%/clock.h %D%/team.h %D%/team.c %D%/matmul.h %D%/matmul.c %D%/act.h %D%/act.c
libcomputecore_la_CPPFLAGS = $(COMPUTE_CPPFLAGS)
libcomputecore_la_CFLAGS = $(COMPUTE_CFLAGS)
## sampling
libcomputecore_la_SOURCES += %D%/threads.h %D%/threads.c %D%/mt.h %D%/mt.c %D%/sampler.h %D%/divergence.h %D%/divergence.c \
	%D%/sample.h %D%/sample.c %D%/sample_cut.c %D%/sample_rank.c %D%/sample_repeat.c
## where a model comes from
libcomputecore_la_SOURCES += %D%/override.h %D%/override.c %D%/source.h %D%/source.c %D%/backend.h %D%/file.c %D%/tree.c %D%/treeval.h %D%/treeval.c %D%/treetable.h %D%/treetable.c \
	%D%/treedir.h %D%/treelist.c \
	%D%/load.h %D%/load.c
## what the programs share
noinst_LTLIBRARIES += libcomputecli.la
libcomputecli_la_SOURCES = %D%/opt.h %D%/opt.c %D%/cli.h %D%/cli.c %D%/cli_files.c %D%/cli_signals.c %D%/safe.h %D%/safe.c %D%/sample_opt.h %D%/sample_opt.c \
	%D%/whole.h %D%/whole.c
libcomputecli_la_CPPFLAGS = $(COMPUTE_CPPFLAGS)
libcomputecli_la_CFLAGS = $(COMPUTE_CFLAGS)
COMPUTE_CLI_LIBS = libcomputecli.la $(COMPUTE_LIBS)
## the model and its forward pass; no contraction of expressions: all vector tiers round alike
libcomputecore_la_CFLAGS += -ffp-contract=off -Wno-psabi
libcomputecore_la_SOURCES += %D%/keys.h %D%/keys.c %D%/network.h %D%/finite.h %D%/finite.c %D%/model.c %D%/kind.c %D%/settings.c %D%/weights.c \
	%D%/rope.h %D%/rope.c %D%/vec.h %D%/vec.c %D%/vec_type.h %D%/vec_body.h %D%/attend_body.h %D%/attend_read.h \
	%D%/attend_pairs.h \
	%D%/vec_scalar.c %D%/vec_avx2.h %D%/vec_avx2.c %D%/vec_avxvnni.c %D%/vec_avx512.h %D%/vec_avx512f.c %D%/vec_avx512.c %D%/vec_neon.c %D%/kv.h %D%/kv.c %D%/engine.h %D%/norm.c %D%/attend.c %D%/mla.c %D%/ffn.c %D%/experts.c \
	%D%/forward.c %D%/crew.h %D%/crew.c %D%/memory.h %D%/memory.c %D%/llm.h %D%/llm.c
include compute/arch/local.mk
## the library that is installed: a versioned door to the same code
include_HEADERS += %D%/ggufs-compute.h
pkgconfig_DATA += compute/ggufs-compute.pc
lib_LTLIBRARIES += libggufs-compute.la
libggufs_compute_la_SOURCES = %D%/ggufs.c
libggufs_compute_la_CPPFLAGS = $(COMPUTE_CPPFLAGS)
libggufs_compute_la_CFLAGS = $(COMPUTE_CFLAGS)
libggufs_compute_la_LIBADD = $(COMPUTE_LIBS)
libggufs_compute_la_LDFLAGS = -no-undefined -version-info 0:0:0 -Wl,--version-script=$(srcdir)/%D%/ggufs.map
EXTRA_libggufs_compute_la_DEPENDENCIES = %D%/ggufs.map
EXTRA_DIST += %D%/ggufs.map
bin_PROGRAMS += gguf-run gguf-perplexity
gguf_run_SOURCES = %D%/run.h %D%/run.c %D%/run_options.c %D%/run_output.c %D%/run_generate.c %D%/run_complete.c \
	%D%/run_chat.c %D%/run_input.c %D%/run_edit.h
if HAVE_EDIT
gguf_run_SOURCES += %D%/run_edit.c
else
gguf_run_SOURCES += %D%/run_noedit.c
endif
gguf_run_CPPFLAGS = $(COMPUTE_CPPFLAGS)
gguf_run_CFLAGS = $(COMPUTE_CFLAGS) $(EDIT_CFLAGS)
gguf_run_LDADD = $(COMPUTE_CLI_LIBS) $(EDIT_LIBS)
gguf_perplexity_SOURCES = %D%/perplexity.c
gguf_perplexity_CPPFLAGS = $(COMPUTE_CPPFLAGS)
gguf_perplexity_CFLAGS = $(COMPUTE_CFLAGS)
gguf_perplexity_LDADD = $(COMPUTE_CLI_LIBS)
## gguf-bench
bin_PROGRAMS += gguf-bench
gguf_bench_SOURCES = %D%/bench.h %D%/bench.c %D%/bench_options.c %D%/bench_limits.c %D%/bench_kernel.c %D%/bench_table.c %D%/bench_weigh.c
gguf_bench_CPPFLAGS = $(COMPUTE_CPPFLAGS)
gguf_bench_CFLAGS = $(COMPUTE_CFLAGS)
gguf_bench_LDADD = $(COMPUTE_CLI_LIBS)
## gguf-embed
bin_PROGRAMS += gguf-embed
gguf_embed_SOURCES = %D%/embed.c
gguf_embed_CPPFLAGS = $(COMPUTE_CPPFLAGS)
gguf_embed_CFLAGS = $(COMPUTE_CFLAGS)
gguf_embed_LDADD = $(COMPUTE_CLI_LIBS)
