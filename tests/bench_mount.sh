#!/bin/sh
# SPDX-License-Identifier: MIT
# What the mount costs, each figure against its pair, measured in turns: medians of $RUNS.
# bench_mount.sh [TOPIC...]: start list small raw direct map memory
[ -c /dev/fuse ] || { echo 'no /dev/fuse: nothing to measure'; exit 0; }
tmp=$(mktemp -d) && shm=$(mktemp -d -p /dev/shm) || exit
m=$tmp/m
trap 'umount -l "$m" 2>/dev/null; rm -rf "$tmp" "$shm"' EXIT
mkdir "$m"
RUNS=${RUNS:-5}
make_model=$top_builddir/tests/make_model
read=$top_builddir/tests/bench_read
mount_gguf() { "$top_builddir/mount.gguf" "$@"; }

# median of the lines of a file
median() { sort -g "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# line WHAT ASKED VALUE...: one result
line() { printf '%-58s %-12s %s\n' "$1" "$2" "$3"; }

# ratio WHAT ASKED A B: seconds of the pair; how much faster (or, with <=, slower) the first is
faster() { line "$1" "$2" "$(echo "$4 $3" | awk '{ printf "%.2f   (%.4f s, pair %.4f s)", $1 / $2, $2, $1 }')"; }
slower() { line "$1" "$2" "$(echo "$3 $4" | awk '{ printf "%.2f   (%.4f s, pair %.4f s)", $1 / $2, $1, $2 }')"; }

seconds() {
	start=$(date +%s%N)
	"$@" >/dev/null 2>&1
	echo $(($(date +%s%N) - start)) | awk '{ print $1 / 1e9 }'
}

daemon() {
	for p in $(pgrep -x mount.gguf); do
		{ tr '\0' '\n' <"/proc/$p/cmdline"; } 2>/dev/null | grep -qxF "$m" && echo "$p" && return
	done
}
# its memory in KiB
memory_of() { awk '/VmRSS/ { print $2 }' "/proc/$1/status"; }

# ---- start: time to mount, memory ----

start_one() { # start_one WHAT ASKED KEYS VOCABULARY TENSORS
	"$make_model" large "$tmp/start.gguf" "$3" "$4" "$5" 32
	header=$(awk -v s="$(stat -c %s "$tmp/start.gguf")" -v t="$5" 'BEGIN { print int((s - 32 * t) / 1024) }')
	: >"$tmp/cpu"
	: >"$tmp/wall"
	for _ in $(seq "$RUNS"); do
		seconds mount_gguf "$tmp/start.gguf" "$m" >>"$tmp/wall"
		# nanoseconds that its threads ran
		pid=$(daemon)
		awk '{ s += $1 } END { print s / 1e6 }' "/proc/$pid"/task/*/schedstat >>"$tmp/cpu"
		memory=$(memory_of "$pid")
		umount "$m"
	done
	line "mount, $1: ms of the daemon's CPU" "$2" "$(median "$tmp/cpu")   ($(median "$tmp/wall") s until ready)"
	line "  memory in KiB, header $header" "<= $((8192 + 2 * header))" "$memory"
}

bench_start() {
	start_one '150k-token vocabulary' '<= 20' 30 150000 300
	start_one '50,000 tensors' '<= 1000' 30 0 50000
	start_one '50,000 keys' '<= 1000' 50000 0 300
}

# ---- list, small: 5,000 directories against the same tree on tmpfs ----

make_listed() {
	"$make_model" large "$tmp/list.gguf" 30 0 5000 64 && mount_gguf "$tmp/list.gguf" "$m" || exit
	# the same names and sizes; small files have their bytes
	(cd "$m" && find . -type d) | (cd "$shm" && mkdir -p same && cd same && xargs mkdir -p)
	(cd "$m" && find . \( -type f -size -8k -o -type l \) -print0 | tar --null --no-recursion -T - -cf -) | tar -xf - -C "$shm/same"
	(cd "$m" && find . -type f -size +7k -printf '%s %p\n') | (cd "$shm/same" && while read -r s p; do truncate -s "$s" "$p"; done)
	umount "$m"
}

bench_list() {
	[ -d "$shm/same" ] || make_listed
	: >"$tmp/first" && : >"$tmp/again" && : >"$tmp/pair"
	for _ in $(seq "$RUNS"); do
		mount_gguf "$tmp/list.gguf" "$m"
		seconds ls -lR "$m" >>"$tmp/first"
		seconds ls -lR "$shm/same" >>"$tmp/pair"
		seconds ls -lR "$m" >>"$tmp/again"
		umount "$m"
	done
	slower "ls -lR, $(find "$shm/same" | wc -l) files: first, against tmpfs" '<= 2.5' "$(median "$tmp/first")" "$(median "$tmp/pair")"
	slower 'the same again' '<= 1.2' "$(median "$tmp/again")" "$(median "$tmp/pair")"
}

bench_small() {
	[ -d "$shm/same" ] || make_listed
	: >"$tmp/ours" && : >"$tmp/pair"
	mount_gguf "$tmp/list.gguf" "$m"
	find "$m/tensors" -name type -o -name shape >"$tmp/list"
	find "$shm/same/tensors" -name type -o -name shape >"$tmp/list2"
	for _ in $(seq "$RUNS"); do
		"$read" open "$tmp/list" 5 >>"$tmp/ours"
		"$read" open "$tmp/list2" 5 >>"$tmp/pair"
	done
	umount "$m"
	faster 'open, read, close of cached small files, against tmpfs' '>= 0.6' "$(median "$tmp/ours")" "$(median "$tmp/pair")"
}

# ---- raw, direct, map, memory: a tensor of 1 GiB ----

make_raw() {
	[ -e "$tmp/raw.gguf" ] || "$make_model" large "$tmp/raw.gguf" 10 0 1 $((1 << 30))
	raw=$m/tensors/blk.0.attn_q.weight/raw
}

bench_raw() {
	make_raw
	: >"$tmp/ours" && : >"$tmp/pair"
	for _ in $(seq "$RUNS"); do
		"$read" plain "$tmp/raw.gguf" >/dev/null
		mount_gguf "$tmp/raw.gguf" "$m"
		"$read" plain "$raw" >>"$tmp/ours"
		umount "$m"
		rm -f "$shm/out"
		"$read" copy "$tmp/raw.gguf" "$shm/out" >>"$tmp/pair"
	done
	rm -f "$shm/out"
	faster '1 GiB of raw, against dd of the file into tmpfs' '>= 1.25' "$(median "$tmp/ours")" "$(median "$tmp/pair")"
}

bench_direct() {
	make_raw
	: >"$tmp/ours" && : >"$tmp/pair"
	mount_gguf "$tmp/raw.gguf" "$m"
	"$read" plain "$tmp/raw.gguf" >/dev/null
	for _ in $(seq "$RUNS"); do
		"$read" direct "$raw" >>"$tmp/ours"
		"$read" plain "$tmp/raw.gguf" >>"$tmp/pair"
	done
	umount "$m"
	faster 'raw with O_DIRECT, against reading the file' '>= 0.3' "$(median "$tmp/ours")" "$(median "$tmp/pair")"
}

bench_map() {
	make_raw
	: >"$tmp/ours" && : >"$tmp/pair"
	mount_gguf "$tmp/raw.gguf" "$m" -o cache=both
	for _ in $(seq "$RUNS"); do
		"$read" map "$raw" >>"$tmp/ours"
		"$read" map "$tmp/raw.gguf" >>"$tmp/pair"
	done
	umount "$m"
	faster 'warm stream over a map, against a map of the file' '>= 0.85' "$(median "$tmp/ours")" "$(median "$tmp/pair")"
}

bench_memory() {
	make_raw
	"$read" drop "$tmp/raw.gguf" >/dev/null
	mount_gguf "$tmp/raw.gguf" "$m"
	"$read" plain "$raw" >/dev/null
	line 'MiB of the file in the page cache after reading raw' '<= 32' "$("$read" cached "$tmp/raw.gguf")"
	umount "$m"
	"$read" plain "$tmp/raw.gguf" >/dev/null
	mount_gguf "$tmp/raw.gguf" "$m"
	"$read" plain "$raw" >/dev/null
	line 'the same where the file was cached before' '>= 1000' "$("$read" cached "$tmp/raw.gguf")"
	umount "$m"
	"$read" drop "$tmp/raw.gguf" >/dev/null
	mount_gguf "$tmp/raw.gguf" "$m" -o cache=both
	"$read" plain "$raw" >/dev/null
	line 'the same with cache=both' '>= 1000' "$("$read" cached "$tmp/raw.gguf")"
	umount "$m"
}

[ $# -gt 0 ] || set -- start list small raw direct map memory
line 'what' 'asked' 'measured'
for topic; do
	"bench_$topic"
done
