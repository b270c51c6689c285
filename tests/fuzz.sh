#!/bin/sh
# Fuzzes every target for FUZZ_S seconds with clang's libFuzzer, ASan and UBSan. make fuzz sets TARGETS, SOURCES, LIBS,
# CPPFLAGS and CFLAGS. A finding is left in fuzz-build/; its place, fixed, is tests/corpus/NAME.
set -e
out=fuzz-build
san=-fsanitize=address,undefined
jobs=$(nproc)
mkdir -p $out
one() { # one SOURCE: compiles it, unless its object is newer
	o=$out/$(echo "$1" | tr / _).o
	[ -f "$o" ] && [ "$o" -nt "$top_srcdir/$1" ] && return
	${FUZZ_CC:-clang} -DHAVE_CONFIG_H -I. $CPPFLAGS $CFLAGS -g -O1 $san -fno-sanitize-recover=undefined \
		-fsanitize=fuzzer-no-link -c -o "$o" "$top_srcdir/$1"
}
if [ "$1" = -c ]; then
	one "$2"
	exit
fi
for s in $SOURCES; do case $s in *.c) echo "$s" ;; esac; done | sort -u | xargs -P "$jobs" -n 1 "$0" -c
rm -f $out/lib.a
for s in $SOURCES; do case $s in *.c) echo "$out/$(echo "$s" | tr / _).o" ;; esac; done | sort -u | xargs ar rcs $out/lib.a
status=0
for t in ${FUZZ_TARGETS:-$TARGETS}; do
	one tests/fuzz_$t.c
	${FUZZ_CC:-clang} $san -fsanitize=fuzzer $CFLAGS -o $out/fuzz_$t $out/tests_fuzz_$t.c.o $out/lib.a $LIBS
	mkdir -p $out/found_$t
	echo "== fuzz_$t for ${FUZZ_S:-60} s"
	$out/fuzz_$t -max_total_time=${FUZZ_S:-60} -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
		-artifact_prefix=$out/$t- $out/found_$t "$top_srcdir/tests/corpus/$t" >$out/$t.log 2>&1 || status=1
	grep -E 'ERROR|SUMMARY|executed_units|cov: .*DONE|stat::average' $out/$t.log | tail -5
done
exit $status
