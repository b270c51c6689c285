#!/bin/sh
# SPDX-License-Identifier: MIT
# What fsck.gguf finds, and with which status.
cd "$top_builddir" || exit 99
top=$PWD model=$(cd "$top_srcdir" && pwd)/data/austen-2.6m-Q4_K_M.gguf
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT && cd "$tmp" || exit 99
n=0 bad=0
ok() { # ok WHAT, after the test
	r=$? n=$((n + 1))
	if [ $r = 0 ]; then echo "ok $n - $1"; else echo "not ok $n - $1"; sed 's/^/# /' out | head -20; bad=1; fi
}
skip() { n=$((n + 1)); echo "ok $n - $1 # SKIP $2"; }
make() { "$top/tests/make_file" "$@"; }
fsck() { # fsck STATUS ARGS: as expected?
	want=$1; shift
	"$top/fsck.gguf" "$@" >out 2>err
	s=$?
	cat err >>out
	[ $s = "$want" ] || { echo "status $s" >>out; return 1; }
}
has() { grep -qF -e "$1" out; }
finds() { # finds STATUS WHAT TEXT SCRIPT
	make "$4" >x.gguf
	fsck "$1" --deep -v x.gguf && has "$3"
	ok "$2"
}
split() { echo "key split.no u16 u16 $1 key split.count u16 u16 3 key split.tensors.count i32 i32 3"; }

fsck 0 --deep "$model" && has clean; ok "the demo model is clean"
fsck 16 && has "fsck.gguf: no file is named" && has "Try 'fsck.gguf --help'."; ok "no file: usage"
fsck 16 --nonsense "$model" && has "unknown option --nonsense"; ok "an unknown option: usage"
fsck 16 -Z "$model" && has "unknown option -Z"; ok "an unknown letter: usage"
fsck 16 "$model" --check && has "option --check needs a value"; ok "a value that is missing: usage"
fsck 16 -j many "$model" && has "option -j: many is no number of threads"; ok "no number of threads: usage"
fsck 8 nowhere.gguf && has "fsck.gguf: nowhere.gguf: cannot be opened" && [ "$(wc -l <err)" = 1 ]; ok "an absent file"
mkdir dir.gguf
fsck 8 dir.gguf && has "fsck.gguf: dir.gguf: Is a directory"; ok "a directory"
mkfifo fifo.gguf
fsck 8 fifo.gguf && has "fsck.gguf: fifo.gguf: not a regular file"; ok "a pipe"
{ printf 'GGUF\3\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0k'; printf '\10\0\0\0\0\0\0\0\2\0\0\0'; } >long.gguf
truncate -s 10G long.gguf
fsck 4 long.gguf && has "has 8589934592 bytes, expected a header of 2^27 at most"; ok "a string that is too long, in a file that has it"
printf '\11\0\0\0\14\0\0\0\0\0\200\0' | dd of=long.gguf bs=1 seek=33 conv=notrunc 2>/dev/null
if grep -q __asan_init "$top/fsck.gguf"; then
	skip "no memory says nothing about the file" "a sanitizer wants more than the limit"
else
	(ulimit -v 60000; fsck 8 long.gguf) && has "Cannot allocate memory"; ok "no memory says nothing about the file"
fi
rm long.gguf
fsck 0 -a -f -p -C0 "$model"; ok "the options that fsck(8) passes on"
fsck 0 --version && has fsck.gguf; ok "--version"
fsck 0 --help && has --deep; ok "--help"
fsck 4 "$model" "$top_srcdir/COPYING" && has "clean" && has "not a GGUF file"; ok "two files, one of them sound"
fsck 4 -q "$top_srcdir/COPYING" && [ ! -s out ]; ok "--quiet says nothing"

finds 0 "padding that is used" "the padding behind it is not zero" \
	"hdr 3 2 1 key general.architecture string str x ten a 1 3 f32 0 ten b 1 8 f32 32 pad 32 zero 13 u8 1 zero 50"
finds 0 "bytes behind the last tensor" "7 bytes follow the last tensor" \
	"hdr 3 1 1 key general.architecture string str x ten a 1 8 f32 0 pad 32 zero 39"
finds 4 "concatenated shards" "another GGUF file starts here" \
	"hdr 3 1 1 key general.architecture string str x ten a 1 8 f32 0 pad 32 zero 32 hdr 3 0 0"
finds 0 "a name that ggml does not take" "the name has 64 bytes, ggml takes 63" \
	"hdr 3 1 1 key general.architecture string str x ten @64 1 8 f32 0 pad 32 zero 32"
finds 0 "an unknown type" "type 77 is not known here" "hdr 3 1 1 key general.architecture string str x ten a 1 8 77 0 pad 32 zero 32"
finds 0 "an empty tensor" "it has no values" "hdr 3 1 1 key general.architecture string str x ten a 2 4,0 f32 0 pad 32"
finds 0 "arrays inside an array" "ggml refuses them" "hdr 3 0 2 key general.architecture string str x key a array arr array 1 arr u8 1 u8 1"
finds 0 "an alignment of 4" "expected a multiple of 8" "hdr 3 0 2 key general.architecture string str x key general.alignment u32 u32 4"
finds 0 "bools that are neither" "2 bools are neither 0 nor 1" \
	"hdr 3 0 2 key general.architecture string str x key b array arr bool 3 u8 2 u8 1 u8 255"
finds 4 "text that is no UTF-8" "the text is no UTF-8 at its byte 1" "hdr 3 0 1 key general.architecture string str x%FF"
finds 0 "a name that is odd" "key 'a\\x1b[2J'" "hdr 3 0 2 key general.architecture string str x key a%1B[2J u8 u8 1"
finds 4 "a merge without a space" "1 merges are not two parts" \
	"hdr 3 0 3 key general.architecture string str x key tokenizer.ggml.tokens array arr string 1 str a key tokenizer.ggml.merges array arr string 2 str a%20b str ab"
finds 0 "tokens of one text (log 26)" "1 tokens have the text of another" \
	"hdr 3 0 2 key general.architecture string str x key tokenizer.ggml.tokens array arr string 3 str a str b str a"
finds 0 "an adapter" "this is an adapter (LoRA)" "hdr 3 0 2 key general.architecture string str x key general.type string str adapter"
finds 0 "a projector" "this is a projector (mmproj)" "hdr 3 0 1 key general.architecture string str clip"
finds 0 "an importance matrix" "this is an importance matrix" "hdr 3 0 1 key general.type string str imatrix"

head -c 1000000 "$model" >cut.gguf
fsck 4 cut.gguf && has "is cut: 0 of" && has "tensors are whole, up to tensor 'blk."; ok "a download that was cut (log 13)"
whole=$(grep -c "is cut" out)
fsck 4 -v cut.gguf && [ $((whole + $(grep -c "is whole" out))) -ge 38 ]; ok "each tensor is whole or cut, by name"

make "hdr 3 1 4 $(split 0) key general.architecture string str x ten a 1 8 f32 0 pad 32 zero 32" >s-00001-of-00003.gguf
make "hdr 3 1 3 $(split 1) ten b 1 8 f32 0 pad 32 zero 32" >s-00002-of-00003.gguf
make "hdr 3 1 3 $(split 2) ten c 1 8 f32 0 pad 32 zero 32" >s-00003-of-00003.gguf
fsck 0 --deep s-00002-of-00003.gguf && has "3 tensors, 3 files"; ok "a set of shards"
make "hdr 3 1 3 $(split 2) ten a 1 8 f32 0 pad 32 zero 32" >s-00003-of-00003.gguf
fsck 4 s-00001-of-00003.gguf && has "tensor 'a'"; ok "a name in two shards"
make "hdr 3 1 3 $(split 2) ten c 1 8 f32 0 pad 32 zero 30" >s-00003-of-00003.gguf
rm s-00001-of-00003.gguf
fsck 4 s-00002-of-00003.gguf && has "shard 's-00001-of-00003.gguf': is missing: number 1 of 3" &&
	has "shard 's-00003-of-00003.gguf': tensor 'c': bytes"; ok "one shard is missing, another cut: both are told (log 17)"

"$top/fsck.gguf" --hash "$model" >manifest 2>out
r=$?
if [ $r = 8 ]; then
	n=$((n + 1)); echo "ok $n - hashes # SKIP $(cat out)"
else
	[ $r = 0 ] && [ "$(sed -n 2p manifest | cut -d' ' -f1)" = "$(sha256sum <"$model" | cut -d' ' -f1)" ]; ok "--hash: as sha256sum"
	off=$("$top/fsck.gguf" -v "$model" | wc -l)
	fsck 0 --check manifest "$model"; ok "--check: the same"
	[ "$off" -ge 1 ] && "$top/tests/make_file" --patch "$model" scale-nan >y.gguf
	fsck 4 --check manifest y.gguf && has "tensor blk.1.attn_q.weight: differs from the manifest" && [ "$(grep -c differs out)" = 3 ]
	ok "--check: the tensor that differs, its file and the model"
	sed '/output_norm/d' manifest >less; fsck 4 --check less "$model" && has "tensor output_norm.weight: is not in the manifest"
	ok "--check: a tensor too many"
	sed 's/output_norm/output_mron/' manifest >other
	fsck 4 --check other "$model" && has "tensor output_mron.weight: is in the manifest, but not in the model"; ok "--check: a tensor that lacks"
	fsck 8 --check "$top_srcdir/COPYING" "$model" && has "not a manifest"; ok "--check: no manifest"
	fsck 8 --check nowhere "$model" && has "nowhere: No such file"; ok "--check: an absent manifest"
fi

# ---- progress, and the end that the user sets ----

head='hdr 3 1 1 key general.architecture string str x'
make "$head ten t 1 2^34 f32 0 pad 32" >long.gguf && truncate -s 65G long.gguf # 64 GiB of nothing on disk
mkfifo progress
"$top/fsck.gguf" --deep -C3 long.gguf 3>progress >out 2>&1 &
exec 4<progress
read -r pass at of name <&4 # the first line, and the checker works on
kill -INT $!
wait $!
[ $? = 32 ] && [ "$pass $of $name" = "1 68719476736 long.gguf" ] && [ "$at" -ge 0 ] && has "canceled" && ! has clean
ok "SIGINT: status 32, and no verdict"
exec 4<&-
"$top/fsck.gguf" --json --deep -C3 long.gguf 3>progress >out 2>err &
exec 4<progress
read -r pass at of name <&4
kill -TERM $!
wait $!
[ $? = 32 ] && grep -q '"clean": false' out; ok "SIGTERM with --json: status 32, not clean"
exec 4<&-
rm long.gguf
make "$head ten t 1 2^28 f32 0 pad 32" >mid.gguf && truncate -s 1073742000 mid.gguf # long enough for a bar
fsck 0 --deep -C mid.gguf && grep -q '#.*%' err; ok "-C: the bar, where there is no terminal too"
fsck 0 --deep -C0 mid.gguf && grep -q '%' err; ok "-C0: the same"
fsck 0 --deep -C-1 mid.gguf && [ ! -s err ]; ok "-C-1: none"
fsck 16 -Cx "$model" && has "option -C: x is no descriptor"; ok "-Cx: usage"
fsck 0 --deep mid.gguf && [ ! -s err ]; ok "no bar without a terminal"

on_terminal() { script -qec "$*" /dev/null </dev/null >out 2>&1; }
if on_terminal true; then
	on_terminal "$top/fsck.gguf" --deep mid.gguf && has '#' && has '%'; ok "a bar on a terminal"
	on_terminal "$top/fsck.gguf" --deep --no-progress mid.gguf && ! has '%'; ok "--no-progress: none"
	make "$head ten e%1B[2J%07 1 8 77 0 pad 32 zero 32" >"$(printf 'n\033[31m.gguf')"
	on_terminal "$top/fsck.gguf" --no-progress -v n*.gguf
	has 'e\x1b[2J\x07' && has 'n\x1b[31m.gguf' && ! grep -q "$(printf '[\033\007]')" out
	ok "control characters of names do not reach the terminal"
	rm n*.gguf
else
	skip "a terminal" "no script(1), or no terminal for it"
fi

make "hdr 3 1 1 key a%22%5C%0A u8 u8 1 ten t%1B%22 1 8 77 0 pad 32 zero 32" >j.gguf
fsck 4 --json --deep j.gguf cut.gguf "$model"
if command -v jq >/dev/null; then
	for name in '%FF%FE' '%1B]0;x%07' '%22%5C%22' '%E2%80%A8' '%00' '%C0%80' '%ED%A0%80'; do
		make "hdr 3 1 1 key k$name string str v$name ten t$name 1 8 77 0 pad 32 zero 33" >"k.gguf"
		"$top/fsck.gguf" --json --deep k.gguf "$top_srcdir/COPYING" nowhere.gguf 2>/dev/null >k.json
		jq -e '.[0].findings[0].severity and (.[1].clean | not)' k.json >/dev/null 2>>out || { echo "$name" >>out; false; }
		ok "--json is JSON with names like $name"
	done
	fsck 4 --json --deep j.gguf cut.gguf "$model"
	[ "$(jq -r '[.[].clean] | join(",")' out)" = false,false,true ] && [ "$(jq '.[1].findings | length > 5' out)" = true ]; ok "--json"
else
	n=$((n + 1)); echo "ok $n - --json # SKIP no jq"
fi
echo "1..$n"
exit $bad
