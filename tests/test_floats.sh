#!/bin/sh
# Decoded tensors through a real mount: every reference vector, every f32.npy of real models, and stats, with NumPy.
python=
for p in python3 /usr/bin/python3; do
	$p -c 'import numpy' 2>/dev/null && python=$p && break
done
[ -n "$python" ] || { echo "1..0 # SKIP no python3 with numpy"; exit 0; }
[ -c /dev/fuse ] && [ -w /dev/fuse ] || { echo "1..0 # SKIP no /dev/fuse"; exit 0; }
[ -d "$shared/vectors/dequant" ] || { echo "1..0 # SKIP no shared/vectors/dequant"; exit 0; }
tmp=$(mktemp -d) || exit 99
trap 'fusermount3 -uqz "$tmp/m"; rm -rf "$tmp"' EXIT
mkdir "$tmp/m"
export tmp
"$python" "$top_srcdir/tests/floats.py" "$top_builddir/mount.gguf"
