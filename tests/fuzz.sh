#!/bin/sh
# Fuzzes every target for FUZZ_S seconds with clang's libFuzzer, ASan and UBSan; without seconds (FUZZ_S=0) only builds.
# make fuzz sets TARGETS, SOURCES, LIBS, CPPFLAGS and CFLAGS. A finding is left in fuzz-build/; its place, fixed, is
# tests/corpus/NAME.
set -e
out=${FUZZ_BUILD:-fuzz-build}
san='-fsanitize=address,undefined -fno-sanitize-recover=undefined'
jobs=$(nproc)
mkdir -p "$out"
one() { # one SOURCE: compiles it, unless its object is newer
	o=$out/$(echo "$1" | tr / _).o
	[ -f "$o" ] && [ "$o" -nt "$top_srcdir/$1" ] && return
	case $1 in
	compute/kernel/* | compute/vec_*) checks= ;; # clang does not come to an end with wide vectors and these
	*) checks="$san -fsanitize=fuzzer-no-link" ;;
	esac
	# shellcheck disable=SC2086 # flags are words
	${FUZZ_CC:-clang} -DHAVE_CONFIG_H -I. $CPPFLAGS $CFLAGS -Wno-missing-field-initializers -g -O1 $checks -c -o "$o" "$top_srcdir/$1"
}
if [ "$1" = -c ]; then
	one "$2"
	exit
fi
# a header that changed: all over again
[ ! -f "$out/lib.a" ] || [ -z "$(find "$top_srcdir/src" "$top_srcdir/fs" "$top_srcdir/compute" "$top_srcdir/tests" -name '*.h' \
	-newer "$out/lib.a")" ] || rm -f "$out"/*.o "$out/lib.a"
for s in $SOURCES; do case $s in *.c) echo "$s" ;; esac; done | sort -u | xargs -P "$jobs" -n 1 "$0" -c
rm -f "$out/lib.a"
for s in $SOURCES; do case $s in *.c) echo "$out/$(echo "$s" | tr / _).o" ;; esac; done | sort -u | xargs ar rcs "$out/lib.a"
status=0
for t in ${FUZZ_TARGETS:-$TARGETS}; do
	one "tests/fuzz_$t.c"
	# shellcheck disable=SC2086
	${FUZZ_CC:-clang} $san -fsanitize=fuzzer $CFLAGS -o "$out/fuzz_$t" "$out/tests_fuzz_$t.c.o" "$out/lib.a" $LIBS
	[ "${FUZZ_S:-60}" = 0 ] && continue
	mkdir -p "$out/found_$t"
	echo "== fuzz_$t for ${FUZZ_S:-60} s"
	"$out/fuzz_$t" -max_total_time="${FUZZ_S:-60}" -timeout=25 -rss_limit_mb=2048 -close_fd_mask=1 -print_final_stats=1 \
		-artifact_prefix="$out/$t-" "$out/found_$t" "$top_srcdir/tests/corpus/$t" >"$out/$t.log" 2>&1 || status=1
	grep -E 'ERROR|SUMMARY|executed_units|cov: .*DONE|stat::average' "$out/$t.log" | tail -5
done
exit $status
