#!/bin/sh
# SPDX-License-Identifier: MIT
# The daemon while its file is truncated, overwritten, hidden and restored under 64 readers. FIRE_S: for how long.
[ -c /dev/fuse ] && [ -w /dev/fuse ] || { echo '1..0 # SKIP no /dev/fuse that may be written'; exit 0; }
cd "$top_builddir" || exit 99
tmp=$(mktemp -d) && trap 'umount -l "$tmp/m" 2>/dev/null || fusermount3 -uqz "$tmp/m"; rm -rf "$tmp"' EXIT
mkdir "$tmp/m" && cp "$top_srcdir/data/austen-2.6m-Q4_K_M.gguf" "$tmp/good.gguf" && cp "$tmp/good.gguf" "$tmp/model.gguf" &&
	./mount.gguf "$tmp/model.gguf" "$tmp/m" ${MOUNT_OPTIONS:+-o "$MOUNT_OPTIONS"} || { echo 'Bail out! mount failed'; exit 1; }
./tests/fire "$tmp/m" "$tmp/model.gguf" "$tmp/good.gguf" "${FIRE_S:-5}" 64
