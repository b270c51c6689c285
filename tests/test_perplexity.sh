#!/bin/sh
# gguf-perplexity: figures, the file of base probabilities, and what is refused.
ppl=$top_builddir/gguf-perplexity
own=$top_srcdir/data/austen-2.6m-Q4_K_M.gguf
demo=$shared/models/demo
n=0 bad=0
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
exec </dev/null
check() { what=$1; shift; n=$((n + 1)); if "$@"; then echo "ok $n - $what"; else echo "not ok $n - $what"; bad=1; fi; }
skip() { n=$((n + 1)); echo "ok $n - $1 # SKIP $2"; }
fails() {
	want=$1 text=$2; shift 2
	"$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	[ $got = "$want" ] && grep -q -e "$text" "$tmp/err" || { sed 's/^/# /' "$tmp/err"; echo "# status $got"; false; }
}
near() { awk -v a="$1" -v b="$2" -v by="$3" 'BEGIN { d = a - b; print "# " a " for " b; exit !(d <= by && d >= -by && a != "") }'; }
final() { sed -n 's/^Final estimate: PPL = \([0-9.]*\) .*/\1/p' "$tmp/out"; }

# a text of four chunks of 32, in the words of the model
i=0
while [ $i -lt 12 ]; do
	echo 'Mr. Darcy was at first determined to be pleased; but Emma could not think of it without some surprise.'
	i=$((i + 1))
done >"$tmp/text"
"$ppl" -f "$tmp/text" -c 32 -ctk f32 -ctv f32 --chunks 4 "$own" >"$tmp/out"
check "runs" [ $? = 0 ]
check "a figure after each chunk" grep -qE '^\[1\][0-9.]+,\[2\][0-9.]+,\[3\][0-9.]+,\[4\][0-9.]+,$' "$tmp/out"
one=$(final)
check "a final estimate with its error" grep -qE '^Final estimate: PPL = [0-9.]+ \+/- [0-9.]+$' "$tmp/out"
"$ppl" -f - -c 32 -ctk f32 -ctv f32 -t 1 -b 5 --chunks 4 -m "$own" <"$tmp/text" >"$tmp/out"
check "the same from standard input, in other batches" [ "$(final)" = "$one" ]
"$ppl" -f "$tmp/text" -c 32 --chunks 3 --ppl-output-type 1 "$own" >"$tmp/out"
check "lines with their errors" [ "$(grep -cE '^ +[0-9]+  [0-9.]+ +[0-9.]+ +[0-9.]+$' "$tmp/out")" = 3 ]

# the same by hand: from the logits that gguf-run writes
py=$(command -v /usr/bin/python3 || command -v python3)
if [ -z "$py" ]; then
	skip "perplexity by hand" "no python3"
else
	cat >"$tmp/hand.py" <<'PY'
import array, math, subprocess, sys
top, model, text, tmp = sys.argv[1:]
ids = eval(subprocess.check_output([top + "/gguf-tokenize", "-m", model, "--ids", "-f", text, "--no-parse-special"], text=True))
nll = n = 0
for c in range(4):
    chunk = [1] + ids[32 * c + 1 : 32 * c + 32]
    subprocess.check_call([top + "/gguf-run", model, "--ids", " ".join(map(str, chunk)), "--logits", tmp + "/l", "-ctk", "f32", "-ctv", "f32"])
    l = array.array("f"); l.frombytes(open(tmp + "/l", "rb").read())
    for i in range(16, 31):
        row = l[1024 * i : 1024 * (i + 1)]
        nll -= row[chunk[i + 1]] - math.log(sum(map(math.exp, row)))
        n += 1
print(math.exp(nll / n))
PY
	printf '%s' "$(cat "$tmp/text")" >"$tmp/exact"
	check "perplexity by hand" near "$one" "$("$py" "$tmp/hand.py" "$top_builddir" "$own" "$tmp/exact" "$tmp")" 0.0002
fi

# a model compared with itself, and what the file weighs
"$ppl" -f "$tmp/text" -c 64 --kl-divergence-base "$tmp/base" "$own" >"$tmp/out"
check "the base is written" [ $? = 0 ]
chunks=$(grep -o '\[[0-9]*\]' "$tmp/out" | wc -l) whole=$(final)
check "its size is llama-perplexity's" [ "$(wc -c <"$tmp/base")" = $((8 + 12 + chunks * 64 * 4 + chunks * 31 * 2 * (4 + 1024))) ]
"$ppl" --kl-divergence --kl-divergence-base "$tmp/base" -c 64 "$own" >"$tmp/out"
check "it is compared" [ $? = 0 ]
check "no divergence from itself" grep -qE '^Mean    KLD: +-?0\.0000' "$tmp/out"
check "the same likeliest tokens" grep -qE '^Same top p: (100|99)\.' "$tmp/out"
check "the same perplexity" near "$(sed -n 's/^Mean PPL(Q)  *: *\([0-9.]*\) .*/\1/p' "$tmp/out")" "$whole" 0.01
check "a ratio of one" grep -qE '^Mean PPL\(Q\)/PPL\(base\) +: +(1\.000|0\.999)' "$tmp/out"

# what is refused
check "a text that is too short" fails 1 "two chunks" "$ppl" -p 'Mr. Darcy' "$own"
check "no text" fails 2 "one of -f and -p" "$ppl" "$own"
check "no model" fails 2 "no model" "$ppl" -p a
check "an unknown option" fails 2 "unknown option" "$ppl" --bogus "$own"
check "no chunks" fails 2 "number of chunks" "$ppl" -p a --chunks 0 "$own"
check "fewer chunks than none" fails 2 "number of chunks" "$ppl" -p a --chunks -5 "$own"
check "a base that is none" fails 1 "not a file of log" "$ppl" --kl-divergence --kl-divergence-base "$tmp/text" "$own"
check "a base that is not named" fails 2 "needs --kl" "$ppl" --kl-divergence "$own"
head -c 3000 "$tmp/base" >"$tmp/cut"
check "a base that is cut short" fails 1 "shorter than it says" "$ppl" --kl-divergence --kl-divergence-base "$tmp/cut" "$own"
{ head -c 8 "$tmp/base"; printf '\377\377\377\177\000\004\000\000\377\377\377\377'; tail -c +21 "$tmp/base"; } >"$tmp/huge"
check "a base of a huge context" fails 1 "context of" "$ppl" --kl-divergence --kl-divergence-base "$tmp/huge" "$own"
{ head -c 16 "$tmp/base"; printf '\377\377\377\377'; tail -c +21 "$tmp/base"; } >"$tmp/huge"
check "a base of very many chunks" fails 1 "shorter than it says" "$ppl" --kl-divergence --kl-divergence-base "$tmp/huge" "$own"
{ head -c 20 "$tmp/base"; printf '\377\377\377\177'; tail -c +25 "$tmp/base"; } >"$tmp/huge"
check "a base of tokens that there are not" fails 1 "has tokens" "$ppl" --kl-divergence --kl-divergence-base "$tmp/huge" -c 64 "$own"

if [ -d "$demo" ]; then
	"$ppl" -f "$demo/valid.txt" -ctk f32 -ctv f32 --chunks 12 "$demo/austen-2.6m-F32.gguf" >"$tmp/out"
	full=$(final)
	"$ppl" -f "$demo/valid.txt" -ctk f32 -ctv f32 --chunks 12 "$demo/austen-2.6m-Q8_0.gguf" >"$tmp/out"
	check "Q8_0 is as good as F32, as by llama.cpp" near "$(awk -v a="$(final)" -v b="$full" 'BEGIN { print a / b }')" 1.0001 0.0005
else
	skip "Q8_0 against F32" "no $demo"
fi
echo "1..$n"
exit $bad
