#!/bin/sh
# SPDX-License-Identifier: MIT
# Each library exports what its header declares, all of it, and nothing else.
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
n=0 bad=0
check() { n=$((n + 1)); if [ -s "$2" ]; then sed 's/^/# /' "$2"; echo "not ok $n - $1"; bad=1; else echo "ok $n - $1"; fi; }
library() { # library NAME HEADER PREFIX LEAST
	lib=$top_builddir/.libs/$1.so
	[ -e "$lib" ] || { n=$((n + 1)); echo "ok $n - $1 # SKIP no shared library was built"; return; }
	${NM:-nm} -D --defined-only "$lib" | awk '$2 != "A" { sub("@.*", "", $3); print $3 }' | sort -u >"$tmp/exported"
	${CC:-cc} -E -P -I"$top_srcdir/src" "$top_srcdir/$2" | grep -oE "\\b$3[a-z0-9_]+ *\\(" | tr -d ' (' |
		grep -v '_fn$' | sort -u >"$tmp/declared"
	comm -23 "$tmp/exported" "$tmp/declared" >"$tmp/diff"
	check "$1 exports nothing that the header does not declare" "$tmp/diff"
	comm -13 "$tmp/exported" "$tmp/declared" >"$tmp/diff"
	check "$1 exports everything that the header declares" "$tmp/diff"
	[ "$(wc -l <"$tmp/exported")" -ge "$4" ] || echo "fewer than $4" >"$tmp/diff"
	check "$1 has functions" "$tmp/diff"
}
library libgguf src/gguf.h gguf_ 40
library libggufs-compute compute/ggufs-compute.h ggufs_ 12
echo "1..$n"
exit $bad
