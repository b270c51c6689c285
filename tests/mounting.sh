# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Sourced by the tests that mount: TAP, a folder of their own in $tmp, and the end of it all.
[ -c /dev/fuse ] && [ -w /dev/fuse ] || { echo '1..0 # SKIP no /dev/fuse that may be written'; exit 0; }
build=$top_builddir
demo=$top_srcdir/data/austen-2.6m-Q4_K_M.gguf
tmp=$(mktemp -d) || exit 99
count=0 bad=0

unmount_all() {
	for m in "$tmp"/m*; do umount -l "$m" 2>/dev/null || fusermount3 -uqz "$m" 2>/dev/null; done
	rm -rf "$tmp"
}
trap unmount_all EXIT
trap 'exit 1' INT TERM

# result WHAT STATUS: a line of TAP; $tmp/said goes with a failure
result() {
	count=$((count + 1))
	if [ "$2" = 0 ]; then
		echo "ok $count - $1"
	else
		echo "not ok $count - $1"
		sed 's/^/# /' "$tmp/said"
		bad=1
	fi
}

# check WHAT COMMAND...: it succeeds
check() {
	what=$1
	shift
	"$@" >"$tmp/said" 2>&1
	result "$what" $?
}

# same WHAT WANT GOT
same() {
	printf 'want %s\ngot  %s\n' "$2" "$3" >"$tmp/said"
	[ "$2" = "$3" ]
	result "$1" $?
}

# fails WHAT STATUS TEXT COMMAND...: ends with that status and says that
fails() {
	what=$1 want=$2 text=$3
	shift 3
	"$@" >"$tmp/said" 2>&1
	got=$?
	echo "status $got, expected $want with '$text'" >>"$tmp/said"
	[ "$got" = "$want" ] && grep -qF -- "$text" "$tmp/said" && [ "$(wc -l <"$tmp/said")" -ge 2 ]
	result "$what" $?
}

# A sanitizer's memory is not the program's, and it wants more than a limit leaves.
sanitized() { grep -q __asan_init "$build/mount.gguf"; }

skip() {
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}

done_testing() {
	echo "1..$count"
	exit $bad
}

# mount_gguf ARGUMENT...: MOUNT_OPTIONS can add to what a test asks for
mount_gguf() {
	"$build/mount.gguf" "$@" ${MOUNT_OPTIONS:+-o "$MOUNT_OPTIONS"}
}

# daemon_of DIR: the process that serves it (its helper has another name)
daemon_of() {
	for p in $(pgrep -x mount.gguf); do
		if { tr '\0' '\n' <"/proc/$p/cmdline"; } 2>/dev/null | grep -qxF -- "$1"; then
			echo "$p"
			return
		fi
	done
}

# all_ended PATTERN: waits for all processes whose command line has it, and those that they start until then
all_ended() {
	while p=$(pgrep -o -f -- "$1"); do ended "$p" || return; done
}

# Whether unshare makes a mount namespace: not where the root is no mount.
own_namespace() {
	unshare -m --propagation private true 2>/dev/null
}

# changed WHAT DIR: waits until DIR is mounted or unmounted (WHAT is mount or umount), a second at most; callers look
# again, so that a change just before it was called costs that second
changed() {
	findmnt -n --poll="$1" --first-only --timeout 1000 "$2" >/dev/null
}

# soon COMMAND...: looks until it succeeds, 20 seconds at most: for what the kernel has no event to wait for
soon() {
	until=$(($(date +%s) + 20))
	until "$@"; do [ "$(date +%s)" -lt $until ] || return 1; done
}

# has_state PID LETTER: one of its threads is in that state
has_state() {
	grep -q "^State:.$2" "/proc/$1"/task/*/status
}

# gone DIR: waits until nothing is mounted there, 20 seconds at most
gone() {
	for _ in $(seq 20); do
		findmnt -n "$1" >/dev/null || return 0
		changed umount "$1"
	done
	return 1
}

# ended PID: waits for it, 20 seconds at most
ended() {
	timeout 20 tail -s 0.05 --pid="$1" -f /dev/null
}
