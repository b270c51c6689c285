#!/bin/sh
# Tokens, bytes and multiply-adds a second beside what the machine can do. TYPES="F16 Q8_0" chooses other types.
set -e
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for type in ${TYPES-Q4_0 Q8_0}; do
	"$top_builddir/tests/make_bench_model" "${SIZE-0.6b}" "$type" "$tmp/model.gguf"
	"$top_builddir/gguf-bench" -m "$tmp/model.gguf" -p "${PROMPT-512}" -n "${TOKENS-64}" -r "${RUNS-5}"
done
