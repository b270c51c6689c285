#!/bin/sh
# SPDX-License-Identifier: MIT
# The contract of mount(8) with its helpers, and what a caller is told.
# shellcheck source=tests/mounting.sh
. "$top_srcdir/tests/mounting.sh"

m=$tmp/m
mkdir "$m"
mounted() { findmnt -n "$m" >/dev/null; }
not_mounted() { ! mounted; }
has_options() { findmnt -n -o OPTIONS "$m" | grep -qw -- "$1"; }

# ---- as mount(8) calls it ----

check 'SOURCE DIR -o rw' mount_gguf "$demo" "$m" -o rw
check 'it is mounted' mounted
check 'read-only' has_options ro
umount "$m"
check 'SOURCE DIR -sfnv -o ...: fake' mount_gguf "$demo" "$m" -sfnv -o rw,noauto,user,_netdev,x-systemd.automount
check 'mounts nothing' not_mounted
check '-t TYPE and flags' mount_gguf "$demo" "$m" -n -t gguf -o rw,noexec,nosuid,nodev
check 'noexec is handed on' has_options noexec
umount "$m"
fails 'an empty name' 1 'option fsname=: expected a name' mount_gguf "$demo" "$m" -o fsname=
fails 'an empty SOURCE' 32 'mount.gguf: : No such file or directory' mount_gguf '' "$m"
fails 'an unknown option' 1 'unknown option who' mount_gguf "$demo" "$m" -o who
check 'not with -s' mount_gguf "$demo" "$m" -s -o who
umount "$m"
check '-v says what was given up or why not' sh -c "'$build/mount.gguf' -v '$demo' '$m' 2>&1 | grep -q 'capabilities: '"
umount "$m"

if [ "$(id -u)" != 0 ]; then
	skip 'mount -t gguf' 'only root mounts that way'
elif ! own_namespace; then
	skip 'mount -t gguf' 'no mount namespace of its own here: a chroot?'
else
	mkdir "$tmp/sbin"
	cat >"$tmp/try" <<-END
		mount --bind "$tmp/sbin" /sbin 2>/dev/null
		"\$@"
	END
	ln -s "$build/mount.gguf" "$tmp/sbin/mount.gguf"
	# mount(8) looks for helpers in /sbin: this one, in a namespace of its own
	as_mount8() { unshare -m --propagation private sh "$tmp/try" "$@"; }
	check 'mount -t gguf' as_mount8 sh -c "mount -t gguf '$demo' '$m' && grep -q llama '$m/metadata/general.architecture' && umount '$m'"
	echo "$demo $m gguf ro,noauto,user,uid=7 0 0" >"$tmp/fstab"
	check 'a line of fstab' as_mount8 sh -c "mount -T '$tmp/fstab' '$m' && [ \$(stat -c %u '$m/info') = 7 ] && umount '$m'"
	fails 'mount shows the reason and the status' 32 'none.gguf' as_mount8 mount -t gguf "$tmp/none.gguf" "$m"
	check 'mount -f mounts nothing' as_mount8 sh -c "mount -f -t gguf '$demo' '$m' && ! findmnt '$m'"
fi

# what libfuse has to say is the reason, on the same line
odd_type=$(printf '%05000d' 0)
"$build/mount.gguf" "$demo" "$m" -o subtype="$odd_type" 2>"$tmp/why"
same 'the kernel refuses: one line' 1 "$(wc -l <"$tmp/why")"
check 'and it has the reason' grep -q "^mount.gguf: $m: cannot be mounted on: fuse: ." "$tmp/why"

# ---- what is there already ----

check 'a link to the directory' sh -c "ln -s m '$tmp/link' && '$build/mount.gguf' '$demo' '$tmp/link'"
same 'is mounted on where it leads' "$m" "$(findmnt -n -o TARGET "$m")"
fails 'a second model on a mount' 32 "$m: a model is mounted here already: umount it first" mount_gguf "$demo" "$m"
fails 'by a link too' 32 'a model is mounted here already' mount_gguf "$demo" "$tmp/link"
fails 'or under another type' 32 'a model is mounted here already' mount_gguf "$demo" "$m" -o subtype=odd
umount "$m"
mount_gguf "$demo" "$m" -o subtype=odd
fails 'the same type' 32 'a model is mounted here already' mount_gguf "$demo" "$m" -o subtype=odd
umount "$m"
if mount -t tmpfs tmpfs "$m" 2>/dev/null; then
	check 'on another file system' sh -c "'$build/mount.gguf' '$demo' '$m' && umount '$m' && umount '$m'"
else
	skip 'on another file system' 'only root mounts one'
fi

# ---- options ----

owner=12
[ "$(id -u)" = 0 ] || owner=$(id -u) # who may enter the tree
mount_gguf "$demo" "$m" -o "uid=$owner,gid=34,umask=0027,fsname=some\\,name,subtype=odd"
same 'owner, group and permissions' "$owner 34 440" "$(stat -c '%u %g %a' "$m/info")"
same 'of directories too' "$owner 34 550" "$(stat -c '%u %g %a' "$m")"
same 'fsname, with a comma' some,name "$(findmnt -n -o SOURCE "$m")"
same 'subtype' fuse.odd "$(findmnt -n -o FSTYPE "$m")"
umount "$m"
same 'without: for all to read' '444 555' "$(mount_gguf "$demo" "$m" && stat -c %a "$m/info" "$m" | xargs; umount "$m")"
for opt in allow_other allow_root; do
	if [ "$(id -u)" = 0 ]; then
		check "$opt" mount_gguf "$demo" "$m" -o $opt
		umount "$m"
	else
		skip "$opt" 'needs root or user_allow_other'
	fi
done
check 'allow_other checks permissions' sh -c "'$build/mount.gguf' '$demo' '$m' && findmnt -n -o OPTIONS '$m' | grep -q default_permissions"
umount "$m"

# ---- words and statuses ----

check '--help' sh -c "'$build/mount.gguf' --help | grep -q allow_other"
check '--version' sh -c "'$build/mount.gguf' --version | grep -q ggufs"
fails 'no arguments' 1 'expected SOURCE and DIR' "$build/mount.gguf"
fails 'one argument' 1 'expected SOURCE and DIR' "$build/mount.gguf" "$demo"
fails 'no such model' 32 "$tmp/none.gguf: " mount_gguf "$tmp/none.gguf" "$m"
fails 'no such directory' 32 "$tmp/none: No such file" mount_gguf "$demo" "$tmp/none"
fails 'a file is no directory' 32 'Not a directory' mount_gguf "$demo" "$demo"
fails 'a directory is no model' 32 "$tmp: " mount_gguf "$tmp" "$m"
: >"$tmp/empty.gguf"
fails 'an empty file' 32 'empty.gguf: ' mount_gguf "$tmp/empty.gguf" "$m"
echo '<!DOCTYPE html><html>404</html>' >"$tmp/page.gguf"
fails 'a web page' 32 HTML mount_gguf "$tmp/page.gguf" "$m"
head -c 1000000 "$demo" >"$tmp/cut.gguf"
fails 'a file cut in its data' 32 'cut.gguf: ' mount_gguf "$tmp/cut.gguf" "$m"
fails 'the same in the foreground' 32 'cut.gguf: ' mount_gguf --foreground "$tmp/cut.gguf" "$m"
check 'and nothing is mounted' not_mounted

# ---- the daemon and its caller ----

cd "$tmp" || exit 99
cp "$demo" here.gguf
check 'relative names' mount_gguf here.gguf ./m
same 'the source is shown in full' "$tmp/here.gguf" "$(findmnt -n -o SOURCE "$m")"
same 'reading works' llama "$(cat m/metadata/general.architecture)"
umount "$m"
check 'from within the mount point' sh -c "cd m && '$build/mount.gguf' ../here.gguf . && umount ../m"
mkdir 'm with blank' && check 'a blank in the name' mount_gguf here.gguf 'm with blank'
ahead=/sys/class/bdi/$(findmnt -n -o MAJ:MIN 'm with blank' | xargs)/read_ahead_kb
if [ -w "$ahead" ]; then
	same 'reads ahead 1 MiB' 1024 "$(cat "$ahead")"
else
	skip 'reads ahead 1 MiB' 'read_ahead_kb cannot be written to'
fi
umount 'm with blank'
same 'the caller'"'"'s pipe is let go' done "$(timeout 20 "$build/mount.gguf" here.gguf "$m" && echo done)"
same 'the daemon has no terminal and lives in /' '0 /' \
	"$(p=$(daemon_of "$m") && echo "$(awk '{ print $7 }' "/proc/$p/stat") $(readlink "/proc/$p/cwd")")"
umount "$m"
exec 7<"$demo"
mount_gguf here.gguf "$m"
same 'what the caller has open is not kept' 0 "$(ls -l "/proc/$(daemon_of "$m")/fd" | grep -c "$demo")"
exec 7<&-
if [ -z "${MOUNT_OPTIONS-}" ]; then
	same 'no capabilities, no new privileges' 'CapEff:0000000000000000 NoNewPrivs:1' \
		"$(grep -E '^(CapEff|NoNewPrivs)' "/proc/$(daemon_of "$m")/status" | tr -d '\t' | xargs)"
fi
umount "$m"
check 'no_sandbox keeps them' sh -c "'$build/mount.gguf' here.gguf m -o no_sandbox && umount m"
mount_gguf --foreground here.gguf m &
pid=$!
in_foreground() {
	until findmnt "$m" >/dev/null; do
		kill -0 $pid || return
		changed mount "$m"
	done
	cat m/info
}
check 'in the foreground' in_foreground
umount "$m"
wait $pid
same 'unmounted, it ends well' 0 $?
done_testing
