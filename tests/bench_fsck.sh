#!/bin/sh
# SPDX-License-Identifier: MIT
# How fast fsck.gguf --deep is, as a share of the speed of reading the same file from the page cache.
set -e
size=${BENCH_MIB:-1024}
tmp=$(mktemp -d "${BENCH_DIR:-/dev/shm}/bench_fsck.XXXXXX") && trap 'rm -rf "$tmp"' EXIT
n=$((size / 4 * 1048576)) blocks8=$((size / 4 * 1048576 / 34)) blocks4=$((size / 4 * 1048576 / 144))
pad() { echo $((($1 + 31) / 32 * 32)); }
o2=$((2 * n)) o3=$(pad $((2 * n + blocks8 * 34)))
"$top_builddir/tests/make_file" "hdr 3 4 1 key general.architecture string str bench ten a 1 $((n / 4)) F32 0 ten b 1 $((n / 2)) F16 $n
	ten c 1 $((blocks8 * 32)) Q8_0 $o2 ten d 1 $((blocks4 * 256)) Q4_K $o3 pad 32" >"$tmp/head"
# Bytes 0 to 63 only: as floats of any width they are small, as scales too.
head -c $((8 << 20)) /dev/zero | tr '\0' '\052' >"$tmp/piece"
cp "$tmp/head" "$tmp/model.gguf"
for i in $(seq $((size / 8))); do cat "$tmp/piece"; done >>"$tmp/model.gguf"
now() { date +%s%N; }
best() { # best COMMAND...: its shortest time of five, in microseconds
	b=
	for i in 1 2 3 4 5; do
		s=$(now); "$@" >/dev/null 2>&1; t=$((($(now) - s) / 1000))
		[ -z "$b" ] || [ $t -lt $b ] && b=$t
	done
	echo $b
}
"$top_builddir/fsck.gguf" --deep -q "$tmp/model.gguf"
read=$(best dd if="$tmp/model.gguf" of=/dev/null bs=1M)
deep=$(best "$top_builddir/fsck.gguf" --deep -q "$tmp/model.gguf")
echo "read $((read / 1000)) ms, fsck --deep $((deep / 1000)) ms: $(awk "BEGIN { printf \"%.2f\", $read / $deep }") x the speed of reading (at least 0.70)"
