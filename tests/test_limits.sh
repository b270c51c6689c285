#!/bin/sh
# SPDX-License-Identifier: MIT
# A mount where things are short: memory, descriptors, a disk that goes bad below, and many mounts one after another.
# shellcheck source=tests/mounting.sh
. "$top_srcdir/tests/mounting.sh"
m=$tmp/m
mkdir "$m"
cd "$tmp" || exit 99

# read_all DIR: the names and sums of all files
read_all() { (cd "$1" && find . -type f ! -name heatmap.png -print0 | sort -z | xargs -0 sha256sum); }
mount_gguf "$demo" "$m" && read_all "$m" >want 2>err
umount "$m"
check 'what there is to read' [ "$(wc -l <want)" -gt 200 ]

# ---- memory ----

limited() { ulimit -v "$1" && shift && "$@"; }
small() { (limited "$@"); }
# far too little for anything: one line, and a status
limits='20000 28000 30000 36000 60000'
if sanitized; then
	skip 'limits of memory' 'a sanitizer wants more'
	limits=
fi
small 4000 "$build/mount.gguf" "$demo" "$m" >said 2>&1
check 'ulimit -v 4 MB: mount.gguf does not start, and nothing is mounted' sh -c "[ $? != 0 ] && ! findmnt -n '$m'"
for kb in $limits; do
	small $kb "$build/mount.gguf" "$demo" "$m" -o no_sandbox >why 2>&1
	status=$?
	if [ $status = 0 ]; then
		read_all "$m" >got 2>err
		grep -v -e ': Cannot allocate memory' -e ': Input/output error' err >wrong
		# what could be read is right, what could not is told
		grep -vxF -f want got >>wrong
		check "ulimit -v $kb: right bytes or an error" [ ! -s wrong ]
		check "ulimit -v $kb: the daemon is alive" grep -q llama "$m/metadata/general.architecture"
		umount "$m"
	else
		check "ulimit -v $kb: refused, with a reason" grep -q '^mount.gguf: .' why
		check "ulimit -v $kb: nothing is mounted" sh -c "! findmnt -n '$m'"
	fi
done

group=/sys/fs/cgroup/ggufs-test-$$
if [ -w /sys/fs/cgroup/cgroup.procs ] && mkdir "$group" 2>/dev/null && [ -w "$group/memory.max" ]; then
	echo 33554432 >"$group/memory.max"
	sh -c "echo \$\$ >$group/cgroup.procs; exec '$build/mount.gguf' '$demo' '$m'"
	read_all "$m" >got 2>err
	check 'a cgroup with 32 MiB: all bytes' cmp want got
	check 'a cgroup with 32 MiB: the daemon is alive' grep -q llama "$m/metadata/general.architecture"
	members=$(cat "$group/cgroup.procs")
	umount "$m"
	for p in $members; do ended "$p"; done
	rmdir "$group"
else
	rmdir "$group" 2>/dev/null
	skip 'a cgroup with 32 MiB' 'no right to make one with a memory limit'
fi

# what make's job server and the test harness hold open is closed first: it would be in the way of the loader
sanitized && skip 'too few descriptors: told' 'a sanitizer wants some itself'
sanitized || fails 'too few descriptors: told' 2 'Too many open files' \
	sh -c "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n 4; exec '$build/mount.gguf' '$demo' '$m'"
check 'too few descriptors: nothing is mounted' sh -c "! findmnt -n '$m'"

# ---- the disk goes bad ----

mkdir below
trap 'umount -l "$tmp/below" 2>/dev/null; unmount_all' EXIT
if "$build/tests/eio_fs" "$demo" "$tmp/bad" 500000 "$tmp/below" 2>said && mount_gguf below/model.gguf "$m"; then
	check 'a file in another FUSE mount: all bytes' cmp "$m/model.gguf" "$demo"
	umount "$m"
	: >bad
	mount_gguf below/model.gguf "$m"
	check 'the header can be read: it mounts' grep -q llama "$m/metadata/general.architecture"
	fails 'a tensor on bad sectors: EIO' 1 'Input/output error' cat "$m/tensors/blk.3.ffn_up.weight/raw"
	check 'the daemon is alive' grep -q llama "$m/metadata/general.architecture"
	"$build/fsck.gguf" --deep below/model.gguf >found 2>&1
	status=$?
	check 'fsck.gguf --deep names what cannot be read' grep -q "tensor .*: cannot be read: Input/output error" found
	same 'with the status of errors' 4 $status
	rm bad
	check 'good again: right bytes' cmp "$m/model.gguf" "$demo"
	umount "$m"
	: >bad
	fails 'bad where the header is: told' 32 'Input/output error' \
		sh -c "umount '$tmp/below'; '$build/tests/eio_fs' '$demo' '$tmp/bad' 0 '$tmp/below' && '$build/mount.gguf' below/model.gguf '$m'"
	umount below
else
	skip 'a disk that goes bad' "no mount inside a mount: $(head -c 80 said)"
fi

# ---- many times ----

mounts() { findmnt -rn -o TARGET | grep -c "^$tmp/"; }
before=$(mounts)
cycle() {
	for i in $(seq "${CYCLES:-30}"); do
		mount_gguf "$demo" "$m" && cat "$m/info" >/dev/null && umount "$m" || { echo "cycle $i"; return 1; }
	done
}
check "${CYCLES:-30} times mounted and unmounted" cycle
same 'no mount is left' "$before" "$(mounts)"
check 'and no process' all_ended "mount.gguf.*$tmp/m"

# a daemon that is used for long holds no more descriptors than at first
mount_gguf "$demo" "$m"
pid=$(daemon_of "$m")
descriptors() { find "/proc/$pid/fd" -mindepth 1 | wc -l; }
read_all "$m" >got 2>err
had=$(descriptors)
for _ in 1 2 3 4 5; do read_all "$m" >got 2>err; done
same 'descriptors of a daemon in use' "$had" "$(descriptors)"
umount "$m"
done_testing
