#!/bin/sh
# f32 through a mount against raw, and with O_DIRECT against decoding in memory.
[ -w /dev/fuse ] || { echo "no /dev/fuse"; exit 0; }
exec "$top_builddir/tests/bench_floats" "$top_builddir/mount.gguf"
