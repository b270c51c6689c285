#!/bin/sh
# SPDX-License-Identifier: MIT
# From the command typed to the first token, file cache warm: this, without the look for NaN, and (LLAMA_COMPLETION names the
# program) llama-completion from the same file. Alternating runs, the median of RUNS, seconds and ratios.
set -e
vocabulary=$shared/models/vocab/qwen3.gguf
[ -e "$vocabulary" ] || { echo "first token: no $vocabulary"; exit 0; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
model=$tmp/model.gguf
"$top_builddir/tests/make_bench_model" "${SIZE-0.6b}" "${TYPE-Q4_0}" "$model" "$vocabulary"
cat "$model" >/dev/null
ask="-p Once_upon_a_time -n 1 -c 512 -t ${THREADS-2}"
took() { # took FILE COMMAND...
	file=$1
	shift
	from=$(date +%s%N)
	"$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	echo $((($(date +%s%N) - from) / 1000000)) >>"$file"
}
run=0
while [ $run -lt "${RUNS-7}" ]; do
	took "$tmp/checked" "$top_builddir/gguf-run" "$model" $ask --timings
	grep -E '^(open|vocabulary) ' "$tmp/err" | awk '{ t += $(NF - 1) } END { print int(t + .5) }' >>"$tmp/vocabulary"
	took "$tmp/unchecked" "$top_builddir/gguf-run" "$model" $ask --no-check
	[ -z "$LLAMA_COMPLETION" ] || took "$tmp/llama" "$LLAMA_COMPLETION" -m "$model" $ask -no-cnv --no-warmup
	run=$((run + 1))
done
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
echo "header and vocabulary ready: $(median "$tmp/vocabulary") ms"
echo "first token: $(median "$tmp/checked") ms; without the check $(median "$tmp/unchecked") ms, so it costs" \
	"$(echo "$(median "$tmp/checked") $(median "$tmp/unchecked")" | awk '{ printf "%.2f", $1 / $2 }') x"
[ -z "$LLAMA_COMPLETION" ] || echo "llama-completion: $(median "$tmp/llama") ms; ours is" \
	"$(echo "$(median "$tmp/checked") $(median "$tmp/llama")" | awk '{ printf "%.2f", $1 / $2 }') x"
