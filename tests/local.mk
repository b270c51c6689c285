## Tests speak TAP. Each room lists its own in a .mk beside this one.
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
SH_LOG_DRIVER = $(LOG_DRIVER)
TEST_EXTENSIONS = .sh
AM_TESTS_ENVIRONMENT = top_builddir='$(abs_top_builddir)'; top_srcdir='$(abs_top_srcdir)'; NM='$(NM)'; \
	shared="$${GGUFS_SHARED-$(abs_top_srcdir)/../shared}"; CC='$(CC)'; \
	export top_builddir top_srcdir NM shared CC;
EXTRA_DIST += %D%/tap.h
include %D%/src.mk
include %D%/quant.mk
include %D%/fs.mk
include %D%/kernel.mk
include %D%/token.mk
include %D%/chat.mk
include %D%/engine.mk
include %D%/hostile.mk
include %D%/fuzz.mk
SH_TESTS = $(dist_check_SCRIPTS)
TESTS = $(check_PROGRAMS) $(SH_TESTS)
## Paired measurements: prints ratios, judges nothing.
BENCH_ENVIRONMENT = top_builddir='$(abs_top_builddir)' top_srcdir='$(abs_top_srcdir)' \
	shared="$${GGUFS_SHARED-$(abs_top_srcdir)/../shared}"
bench: all $(BENCHES) $(BENCH_TESTS)
	@for b in $(BENCHES); do echo "== $$b"; case $$b in \
	*.sh) $(BENCH_ENVIRONMENT) $(SHELL) '$(srcdir)'/$$b ;; \
	*) $(BENCH_ENVIRONMENT) ./$$b ;; esac || exit; done
.PHONY: bench
