#!/bin/sh
# SPDX-License-Identifier: MIT
# What programs write: whole under its name or not at all, and a full disk is told.
cd "$top_builddir" || exit 99
top=$PWD model=$(cd "$top_srcdir" && pwd)/data/austen-2.6m-Q4_K_M.gguf
tmp=$(mktemp -d) && cd "$tmp" || exit 99
trap 'umount -l "$tmp/small" 2>/dev/null; rm -rf "$tmp"' EXIT
n=0 bad=0
ok() { # ok WHAT, after the test
	r=$? n=$((n + 1))
	if [ $r = 0 ]; then echo "ok $n - $1"; else echo "not ok $n - $1"; sed 's/^/# /' out | head -20; bad=1; fi
}
skip() { n=$((n + 1)); echo "ok $n - $1 # SKIP $2"; }
# fails TEXT COMMAND...: with a status of its own, one line, and that text in it
fails() {
	text=$1
	shift
	"$@" 2>out
	s=$?
	echo "status $s" >>out
	[ $s -gt 0 ] && [ $s -lt 99 ] && [ "$(grep -cF "$text" out)" = 1 ]
}
logits() { "$top/gguf-run" "$model" --ids '1 2 3 4 5 6 7 8 9' -c 32 -t 1 --logits "$1"; }
text() { i=0; while [ $i -lt 200 ]; do printf 'It is a truth universally acknowledged. '; i=$((i + 1)); done; }
text >text
base() { "$top/gguf-perplexity" "$model" -f text -c 64 -t 1 --save-all-logits "$1" >/dev/null; }
alone() { [ "$(ls "$1")" = "$2" ]; } # the folder holds that and nothing else

mkdir d
for what in logits base; do
	$what d/x 2>out && [ -s d/x ] && alone d x; ok "$what: written, nothing beside it"
	cp d/x good
	echo old >d/x; chmod 640 d/x
	$what d/x 2>out && cmp d/x good >>out && [ "$(stat -c %a d/x)" = 640 ]; ok "$what: replaces a file, with its mode"
	ln -s d/x link
	$what link 2>out && [ -L link ] && cmp d/x good >>out; ok "$what: follows a link"
	rm link
	echo old >d/x
	limited() ( ulimit -f 16 && "$@" )
	fails 'File too large' limited $what d/x && [ "$(cat d/x)" = old ] && alone d x
	ok "$what: too long for a limit, the old file is whole and nothing beside it"
	if [ -c /dev/full ]; then
		fails 'No space left' $what /dev/full; ok "$what: a full device"
	else
		skip "$what: a full device" 'no /dev/full'
	fi
	rm d/x
done

echo old >d/x
"$top/gguf-perplexity" "$model" -f text -c 64 -t 1 --save-all-logits d/x >/dev/null 2>out &
until [ -n "$(find d -name 'x.*' -size +0)" ] || ! kill -0 $! 2>/dev/null; do :; done
kill -9 $!
wait $! 2>/dev/null
[ "$(cat d/x)" = old ] && [ "$(find d -name 'x.*' -size +0 | wc -l)" = 1 ]; ok 'killed in the middle, the old file is whole'
rm -r d

mkdir small
if mount -t tmpfs -o size=16k none small 2>out; then
	for what in logits base; do
		fails 'No space left' $what small/x && alone small ''; ok "$what: a full disk, and nothing is left there"
	done
else
	skip 'a full disk' 'no right to mount a tmpfs'
fi

full() { "$@" >/dev/full; }
closed() { "$@" >&-; }
for what in mount.gguf fsck.gguf gguf-run gguf-tokenize gguf-embed gguf-perplexity gguf-bench; do
	fails 'Bad file' closed "$top/$what" --help && fails 'Bad file' closed "$top/$what" --version
	ok "$what: help and version, standard output is closed"
done
if [ -c /dev/full ]; then
	fails 'No space left' full "$top/fsck.gguf" "$model"; ok 'fsck.gguf: standard output is full'
	"$top/fsck.gguf" --hash "$model" >hashes 2>out
	[ $? = 8 ] || { fails 'No space left' full "$top/fsck.gguf" --hash "$model"; ok 'fsck.gguf --hash: standard output is full'; }
	fails 'No space left' full "$top/gguf-tokenize" -m "$model" -f text; ok 'gguf-tokenize: standard output is full'
	fails 'No space left' full "$top/gguf-run" "$model" -p a -n 20 -c 64 -t 1 --no-show-timings; ok 'gguf-run: standard output is full'
	fails 'No space left' full "$top/gguf-run" "$model" --ids 1 -n 20 -c 64 -t 1 --print-ids --no-show-timings
	ok 'gguf-run --print-ids: standard output is full'
	fails 'No space left' full "$top/gguf-perplexity" "$model" -f text -c 64 -t 1; ok 'gguf-perplexity: standard output is full'
	fails 'No space left' full "$top/gguf-bench" -m "$model" -t 1 -p 8 -n 4 -r 1; ok 'gguf-bench: standard output is full'
	for what in mount.gguf fsck.gguf gguf-run gguf-tokenize gguf-embed gguf-perplexity gguf-bench; do
		fails 'No space left' full "$top/$what" --help && fails 'No space left' full "$top/$what" --version
		ok "$what: help and version, standard output is full"
	done
else
	skip 'standard output is full' 'no /dev/full'
fi
echo "1..$n"
exit $bad
