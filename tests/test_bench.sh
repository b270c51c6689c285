#!/bin/sh
# SPDX-License-Identifier: MIT
# gguf-bench: which tests its options stand for, its formats, and what it refuses. How fast it is is no matter here.
cd "$top_builddir" || exit 99
top=$PWD model=$(cd "$top_srcdir" && pwd)/data/austen-2.6m-Q4_K_M.gguf
tmp=$(mktemp -d) && cd "$tmp" || exit 99
trap 'rm -rf "$tmp"' EXIT
n=0 bad=0
ok() { # ok WHAT, after the test
	r=$? n=$((n + 1))
	if [ $r = 0 ]; then echo "ok $n - $1"; else echo "not ok $n - $1"; sed 's/^/# /' out | head -20; bad=1; fi
}
bench() { "$top/gguf-bench" -m "$model" -r 1 "$@"; }
# lists 'TESTS' OPTION...: these are the tests of the table, in order
lists() {
	want=$1
	shift
	bench "$@" >out 2>&1 && [ "$(awk -F' *[|] *' 'NR > 2 && NF > 8 { printf "%s%s", sep, $7; sep = " " }' out | tr -d '@')" = "$want" ]
}
# refuses TEXT OPTION...: status 2 and that text
refuses() {
	text=$1
	shift
	bench "$@" >out 2>&1
	[ $? = 2 ] && grep -qF -e "$text" out
}

lists 'pp512 tg128'; ok 'without options: 512 and 128'
lists 'pp8 tg128' -p 8; ok '-p alone: generation is as without options'
lists 'pp512 tg3' -n 3; ok '-n alone: prompts are as without options'
lists 'pp1 pp2 pp4 pp8 pp16 pp18 pp20 tg2' -p '1-8*2,16-20+2' -n 2; ok 'ranges'
lists 'pp4 pp5 pp6 pp9' -p 4-6 -p 9 -n 0; ok 'a step of one; options repeated'
lists 'pp4+tg2 pp3+tg1' -p 0 -n 0 -pg 4,2 -pg 3,1; ok '-pg alone, twice'
lists 'pp4' -p 4 -n 0 -pg 0,0; ok '-pg of nothing'
lists 'pp4 tg2 pp4  d9 tg2  d9' -p 4 -n 2 -d 0,9; ok 'depths'
for types in 'f16 f32' 'f32 q8_0' 'auto auto'; do
	# shellcheck disable=SC2086 # two words
	set -- $types
	lists 'pp40 tg2' -p 40 -n 2 -ctk "$1" -ctv "$2"; ok "keys as $1, values as $2"
done
for wrong in '' 8, ,8 -4 5-4 '0-4*2' '2-9*1' 2-9+0 8x 99999999999; do
	refuses 'not numbers' -p "$wrong"; ok "-p '$wrong' is no list"
done
refuses 'too many' -p 1-500; ok 'too many tests'
refuses 'not one of' -ctk f8; ok 'a type that caches do not have'
refuses 'at least one run' -r 0; ok 'no runs'
refuses 'at least one token' -b 0; ok 'no batch'
refuses 'nothing to measure' -p 0 -n 0; ok 'no tests'
refuses 'nothing to measure' -p 0 -n 0 -pg 0,0; ok 'no tokens'
refuses 'takes no model' --kernels; ok 'kernels and a model'
refuses 'is for --kernels' --type q4_0; ok 'a type without kernels'
bench -d 2147483647 -p 2147483647 -n 0 >out 2>&1
[ $? = 1 ] && grep -q 'too long' out; ok 'more positions than there are numbers'
(
	set -- "$model"
	while [ $# -lt 65 ]; do set -- "$@" "$model"; done
	"$top/gguf-bench" "$@" >out 2>&1
	[ $? = 2 ] && grep -q 'too many models' out
); ok 'too many models'
lists 'pp4 tg2' -p 4 -n 2 -t 0; ok 'as many threads as it likes'
lists 'pp4 tg2 pp4 tg2' -p 4 -n 2 -t 1,0; ok 'one thread, and as many as it likes'
for format in json jsonl csv; do
	bench -p 4 -n 2 -o $format >out 2>&1 && case $format in
	json) python3 -c 'import json; d = json.load(open("out")); assert [(r.get("n_prompt"), r.get("n_gen")) for r in d[:2]] == [(4, 0), (0, 2)]' ;;
	jsonl) python3 -c 'import json; d = [json.loads(l) for l in open("out")]; assert [r.get("n_gen") for r in d[:2]] == [0, 2]' ;;
	csv) python3 -c 'import csv; d = list(csv.DictReader(open("out"))); assert [r["n_prompt"] for r in d[:2]] == ["4", "0"]' ;;
	esac 2>>out; ok "format $format is read by others"
done
cp "$model" "$(printf 'no \377 UTF-8 "\\.gguf')"
"$top/gguf-bench" no* -p 4 -n 0 -r 1 -o json >out 2>&1 &&
	python3 -c 'import json; assert "\ufffd" in json.load(open("out"))[0]["model_filename"]' 2>>out
ok 'a file name that is no UTF-8'
mkfifo rows
"$top/gguf-bench" -m "$model" -p 4,500 -n 0 -r 2000 -o json >rows 2>out &
head -c 30 <rows | grep -q model_filename && kill $!
wait $! 2>/dev/null
[ $? -gt 128 ]; ok 'rows are written as they are measured'
"$top/gguf-bench" --kernels --type F64 -t 1 >out 2>&1 && [ "$(grep -c '^| F64 ' out)" = 1 ]; ok 'kernels of a wide type'
echo "1..$n"
exit $bad
