#!/bin/sh
# SPDX-License-Identifier: MIT
# Ends of all kinds: signals with and without readers, kill -9, the terminal closing, the file going away.
# shellcheck source=tests/mounting.sh
. "$top_srcdir/tests/mounting.sh"

m=$tmp/m
mkdir "$m"
cd "$tmp" || exit 99
not_mounted() { ! findmnt -n "$m" >/dev/null; }

for signal in TERM INT HUP QUIT XCPU; do
	mount_gguf "$demo" "$m"
	pid=$(daemon_of "$m")
	kill -$signal "$pid"
	check "SIG$signal: the daemon ends" ended "$pid"
	check "SIG$signal: nothing is mounted" not_mounted
done

mount_gguf "$demo" "$m"
pid=$(daemon_of "$m")
for signal in USR1 USR2 ALRM VTALRM PROF IO PWR PIPE RTMIN RTMAX; do
	kill -$signal "$pid"
	check "SIG$signal changes nothing" grep -q llama "$m/metadata/general.architecture"
done
umount "$m"
check 'and the daemon ends with its mount' ended "$pid"

# without the process that unmounts for it
mount_gguf "$demo" "$m"
pid=$(daemon_of "$m")
keeper=$(pgrep -x -P "$pid" gguf-unmount)
kill -9 "$keeper"
kill -TERM "$pid"
ended "$keeper"
kill -TERM "$pid"
if [ -z "${MOUNT_OPTIONS-}" ]; then
	check 'it cannot unmount any more: it serves on' grep -q llama "$m/metadata/general.architecture"
	umount "$m" 2>/dev/null || fusermount3 -u "$m"
fi
check 'and ends with its mount all the same' ended "$pid"
mount_gguf "$demo" "$m" -o no_sandbox
pid=$(daemon_of "$m")
kill -9 "$(pgrep -x -P "$pid" gguf-unmount)"
kill -TERM "$pid"
check 'without a sandbox it unmounts itself' ended "$pid"
check 'and nothing is mounted then' not_mounted

# an open file lives on after the unmount, and the daemon with it
mount_gguf "$demo" "$m"
pid=$(daemon_of "$m")
exec 7<"$m/model.gguf"
head -c 4096 <&7 >"$tmp/part"
kill -TERM "$pid"
check 'SIGTERM with a reader: unmounted' gone "$m"
cat <&7 >>"$tmp/part"
check 'the reader finishes' cmp "$tmp/part" "$demo"
check 'the daemon waits for it' kill -0 "$pid"
exec 7<&-
check 'and ends with it' ended "$pid"

# a daemon that was asked to unmount, lives on for a reader and is killed then, takes no later mount with it
mount_gguf "$demo" "$m" -o auto_unmount
pid=$(daemon_of "$m")
exec 7<"$m/model.gguf"
kill -TERM "$pid"
gone "$m"
keeper=$(pgrep -x -P "$pid" gguf-unmount)
mount_gguf "$demo" "$m"
kill -9 "$pid"
exec 7<&-
ended "$keeper"
check 'killed late, it leaves the next mount alone' grep -q llama "$m/metadata/general.architecture"
umount "$m"

# the second signal does not wait
mount_gguf "$demo" "$m"
pid=$(daemon_of "$m")
exec 7<"$m/model.gguf"
kill -TERM "$pid"
gone "$m"
kill -TERM "$pid"
check 'a second SIGTERM ends it at once' ended "$pid"
exec 7<&-

# a long read of which nobody waits for the end: of s it takes its turn behind that of t
"$build/tests/make_file" 'hdr 3 2 1 key general.architecture string str x ten s 1 8 f32 0 ten t 1 2^36 f32 32 pad 32' >long.gguf
truncate -s 300G long.gguf
mount_gguf long.gguf "$m"
pid=$(daemon_of "$m")
cat "$m/tensors/t/stats" >"$tmp/null" 2>&1 &
reader=$!
check 'a read of minutes' soon has_state "$pid" R
cat "$m/tensors/t/stats" >"$tmp/null" 2>&1 &
other=$!
kill -9 "$reader"
wait "$reader" 2>"$tmp/null"
soon grep -qx cat "/proc/$other/comm" # before, the signal would be the shell's, which has a trap for it
check 'its reader killed, and the other takes over' soon grep -qE 'request_wait|folio_wait|^0' "/proc/$other/wchan"
kill "$other"
check 'a reader that waits for its answer can be killed' ended "$other"
check 'and the next read has its turn' timeout 20 grep -q '^values *8$' "$m/tensors/s/stats"
umount "$m"
check 'the daemon ends' ended "$pid"
rm long.gguf

# kill -9 leaves a dead mount, which the next mount names
mount_gguf "$demo" "$m"
pid=$(daemon_of "$m")
kill -9 "$pid"
ended "$pid"
fails 'over a dead mount: says how to clear it' 32 'fusermount3 -u' mount_gguf "$demo" "$m"
umount "$m" 2>/dev/null || fusermount3 -u "$m"
check 'cleared, it mounts again' mount_gguf "$demo" "$m"
umount "$m"

mount_gguf "$demo" "$m" -o auto_unmount
pid=$(daemon_of "$m")
kill -9 "$pid"
ended "$pid"
check 'auto_unmount: kill -9 leaves no mount' gone "$m"

# what is mounted there by then, or over it, is not the old daemon's to unmount
for signal in TERM KILL; do
	mount_gguf "$demo" "$m" -o auto_unmount
	old=$(daemon_of "$m")
	keeper=$(pgrep -x -P "$old" gguf-unmount)
	exec 7<"$m/info"
	umount -l "$m" 2>/dev/null || fusermount3 -uz "$m"
	mount_gguf "$demo" "$m"
	kill -$signal "$old"
	exec 7<&-
	ended "$old"
	ended "$keeper"
	check "SIG$signal after umount -l: the next mount stays" grep -q llama "$m/metadata/general.architecture"
	umount "$m"
done

mount_gguf "$demo" "$m"
pid=$(daemon_of "$m")
exec 7<"$m/info"
fails 'umount while a file is open' 32 busy umount "$m"
exec 7<&-
check 'and afterwards' umount "$m"
check 'the daemon is gone' ended "$pid"

# the caller is killed while it waits: here for the daemon of the mount that the model lies in
mkdir "$tmp/m_below"
mount_gguf "$demo" "$tmp/m_below"
pid=$(daemon_of "$tmp/m_below")
kill -STOP "$pid"
"$build/mount.gguf" "$tmp/m_below/model.gguf" "$m" 2>"$tmp/null" &
caller=$!
soon pgrep -P "$caller" >"$tmp/null"
kill -9 "$caller"
wait "$caller" 2>"$tmp/null"
kill -CONT "$pid"
check 'a caller that was killed gets no mount: the daemon ends' all_ended "m_below/model.gguf"
check 'and nothing is mounted' not_mounted
umount -l "$m" 2>/dev/null
umount "$tmp/m_below"

# the session that mounted ends
setsid -w sh -c "'$build/mount.gguf' '$demo' '$m'; kill -HUP 0" 2>/dev/null
check 'survives its session' grep -q llama "$m/metadata/general.architecture"
umount "$m"

# ---- the model file changes below ----

cp "$demo" model.gguf
mount_gguf model.gguf "$m"
truncate -s 100000 model.gguf
fails 'truncated: EIO' 1 'Input/output error' cat "$m/tensors/blk.3.ffn_up.weight/raw"
check 'metadata is still there' grep -q llama "$m/metadata/general.architecture"
umount "$m"
cp "$demo" model.gguf
mount_gguf model.gguf "$m"
touch -d '2001-01-01' model.gguf
fails 'another time of change: EIO' 1 'Input/output error' cat "$m/tensors/blk.3.ffn_up.weight/raw"
umount "$m"
cp "$demo" model.gguf
mount_gguf model.gguf "$m"
rm model.gguf
echo other >model.gguf
fails 'replaced: EIO' 1 'Input/output error' cat "$m/tensors/blk.3.ffn_up.weight/raw"
check 'the daemon is alive' grep -q llama "$m/metadata/general.architecture"
umount "$m"

# ---- many times ----

cycle() {
	for i in $(seq "${CYCLES:-50}"); do
		mount_gguf "$demo" "$m" && cat "$m/info" >/dev/null && umount "$m" || { echo "cycle $i"; return 1; }
	done
}
check "${CYCLES:-50} times mounted and unmounted" cycle
check 'leaves no process' all_ended "$tmp"
done_testing
