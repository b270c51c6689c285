#!/bin/sh
# SPDX-License-Identifier: MIT
# The same as an ordinary user, through fusermount3. As root: as nobody, with a /dev/fuse that lets everybody in.
# shellcheck source=tests/mounting.sh
. "$top_srcdir/tests/mounting.sh"
command -v fusermount3 >/dev/null || { echo '1..0 # SKIP no fusermount3'; exit 0; }

m=$tmp/m
if [ "$(id -u)" = 0 ] && [ -z "${USER_TEST-}" ]; then
	command -v setpriv >/dev/null || { echo '1..0 # SKIP no setpriv'; exit 0; }
	own_namespace || { echo '1..0 # SKIP no mount namespace of its own here: a chroot?'; exit 0; }
	mknod -m 666 "$tmp/fuse" c 10 229 || { echo '1..0 # SKIP no device nodes here'; exit 0; }
	chmod 755 "$tmp"
	mkdir "$tmp/bin" "$tmp/home" && chown nobody "$tmp/home"
	cp "$build/mount.gguf" "$tmp/bin/" && cp "$demo" "$tmp/home/model.gguf" && chmod 644 "$tmp/home/model.gguf"
	# the tree of the sources may lie where nobody can go
	mkdir -p "$tmp/src/tests" && cp "$top_srcdir/tests/mounting.sh" "$0" "$tmp/src/tests/"
	export USER_TEST="$tmp" TMPDIR="$tmp/home" top_srcdir="$tmp/src" top_builddir="$tmp/bin"
	unshare -m --propagation private sh -c 'mount --bind "$USER_TEST/fuse" /dev/fuse &&
		exec setpriv --reuid "$(id -u nobody)" --regid "$(id -g nobody)" --clear-groups sh "$0"' "$tmp/src/tests/$(basename "$0")"
	exit
fi
[ -n "${USER_TEST-}" ] && demo=$USER_TEST/home/model.gguf
[ -w /dev/fuse ] || { echo '1..0 # SKIP /dev/fuse is not for everybody'; exit 0; }

mkdir "$m"
not_mounted() { ! findmnt -n "$m" >/dev/null; }
check 'an ordinary user mounts' mount_gguf "$demo" "$m"
same 'the files are theirs' "$(id -u) $(id -g)" "$(stat -c '%u %g' "$m/info")"
same 'and readable' llama "$(cat "$m/metadata/general.architecture")"
check 'model.gguf is the file' cmp "$m/model.gguf" "$demo"
same 'the type of the mount' fuse.gguf "$(findmnt -n -o FSTYPE "$m")"
pid=$(daemon_of "$m")
fails 'a second mount there is refused' 32 'already' mount_gguf "$demo" "$m"
same 'and the first one stays' llama "$(cat "$m/metadata/general.architecture")"
check 'fusermount3 -u unmounts' fusermount3 -u "$m"
check 'the daemon ends' ended "$pid"

mount_gguf "$demo" "$m"
pid=$(daemon_of "$m")
exec 7<"$m/model.gguf"
kill -TERM "$pid"
check 'SIGTERM unmounts, through the helper' gone "$m"
check 'an open file lives on' cmp - "$demo" <&7
exec 7<&-
check 'the daemon ends with it' ended "$pid"

mount_gguf "$demo" "$m" -o auto_unmount
pid=$(daemon_of "$m")
kill -9 "$pid"
check 'auto_unmount: kill -9 leaves no mount' gone "$m"

if grep -q '^user_allow_other' /etc/fuse.conf 2>/dev/null; then
	skip 'allow_other is refused' 'fuse.conf allows it'
else
	fails 'allow_other is refused, with the reason' 32 user_allow_other mount_gguf "$demo" "$m" -o allow_other
fi
fails 'a directory of somebody else' 32 /usr mount_gguf "$demo" /usr
check 'nothing is left mounted' not_mounted
done_testing
