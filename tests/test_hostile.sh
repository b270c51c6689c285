#!/bin/sh
# SPDX-License-Identifier: MIT
# Every file that a stranger could send, given to our programs.
cd "$top_builddir" || exit 99
tmp=$(mktemp -d) && trap 'umount -l "$tmp/m" 2>/dev/null || fusermount3 -uqz "$tmp/m" 2>/dev/null; rm -rf "$tmp"' EXIT
mkdir "$tmp/m" && ./tests/hostile "$tmp" "$top_srcdir/data/austen-2.6m-Q4_K_M.gguf"
