#!/bin/sh
# SPDX-License-Identifier: MIT
# gguf-embed: forms of output, norms, pooling, and refusals.
model=$shared/vectors/logits2/bert_mean/model.gguf
[ -r "$model" ] || { echo '1..0 # SKIP no vectors'; exit 0; }
e=$top_builddir/gguf-embed n=0 bad=0
ok() { # ok STATUS WHAT
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; bad=1; fi
}
text='a b
c'
"$e" -p "$text" --embd-output-format raw "$model" | awk 'NF != 96 { exit 1 } { s = 0; for (i = 1; i <= NF; i++) s += $i * $i
	if (s < .9999 || s > 1.0001) exit 1 } END { exit NR != 2 }'
ok $? 'two lines, two vectors of length 1'
"$e" -p "$text" --embd-output-format raw --embd-normalize 1 "$model" | awk '{ s = 0
	for (i = 1; i <= NF; i++) s += $i < 0 ? -$i : $i; if (s < .999 || s > 1.001) exit 1 }'
ok $? 'taxicab norm'
"$e" -p "$text" --embd-output-format raw --pooling none "$model" | awk 'END { exit NR < 4 }'
ok $? 'a vector for each token'
"$e" -p "$text" --embd-output-format json+ "$model" | python3 -c 'import json, sys
d = json.load(sys.stdin)
assert len(d["data"]) == 2 and len(d["data"][1]["embedding"]) == 96 and d["cosineSimilarity"][0][0] == 1'
ok $? 'JSON'
[ "$("$e" -p a -t 1 "$model")" = "$("$e" -p a -t 2 "$model")" ]
ok $? 'the same for one thread and two'
[ "$("$e" -p 'a|b' --embd-separator '|' --embd-output-format array "$model" | tr -cd '[' | wc -c)" -eq 3 ]
ok $? 'separator and array'
"$e" "$model" 2>/dev/null; [ $? -eq 2 ]
ok $? 'no text: wrong use'
"$e" -p a --pooling median "$model" 2>/dev/null; [ $? -eq 2 ]
ok $? 'no such pooling'
# The texts of the reference's tokens; the file of its vectors beside the model.
reference() { # reference SET FILE POOLING
	"$e" -p 'regions : australia here any how when call for either lowwood 17' --pooling "$3" --embd-normalize -1 \
		--embd-output-format array "$shared/vectors/logits2/$1/model.gguf" | python3 -c 'import json, struct, sys
got = [x for v in json.load(sys.stdin) for x in v]
want = [x[0] for x in struct.iter_unpack("<f", open(sys.argv[1], "rb").read())]
assert len(got) == len(want) and all(abs(a - b) < 1e-3 for a, b in zip(got, want))' "$shared/vectors/logits2/$1/$2"
	ok $? "$1: $3: as the reference"
}
reference bert_mean embd_exactgelu_pooled.f32 mean
reference bert_mean embd_exactgelu_tokens.f32 none
reference nomic-bert embd_pooled.f32 mean
reference nomic-bert embd_tokens.f32 none
if [ -c /dev/full ]; then
	"$e" -p "$text" "$model" 2>&1 >/dev/full | grep -q 'No space left'
	ok $? 'a full standard output is told with its reason'
fi
echo "1..$n"
exit $bad
