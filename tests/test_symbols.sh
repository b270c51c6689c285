#!/bin/sh
# SPDX-License-Identifier: MIT
# The library exports what its header declares, all of it, and nothing else.
lib=$top_builddir/.libs/libgguf.so
[ -e "$lib" ] || { echo "1..0 # SKIP no shared library was built"; exit 0; }
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
${NM:-nm} -D --defined-only "$lib" | awk '$2 != "A" { sub("@.*", "", $3); print $3 }' | sort -u >"$tmp/exported"
${CC:-cc} -E -P -I"$top_srcdir/src" "$top_srcdir/src/gguf.h" | grep -oE '\bgguf_[a-z0-9_]+ *\(' | tr -d ' (' |
	grep -v '_fn$' | sort -u >"$tmp/declared"
bad=0
same() { # same N WHAT OPTION
	comm "$3" "$tmp/exported" "$tmp/declared" >"$tmp/diff"
	if [ -s "$tmp/diff" ]; then sed 's/^/# /' "$tmp/diff"; echo "not ok $1 - $2"; bad=1; else echo "ok $1 - $2"; fi
}
same 1 "nothing is exported that the header does not declare" -23
same 2 "everything is exported that the header declares" -13
[ "$(wc -l <"$tmp/exported")" -ge 40 ] && echo "ok 3 - there are some" || { echo "not ok 3 - there are some"; bad=1; }
echo "1..3"
exit $bad
