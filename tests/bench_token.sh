#!/bin/sh
# How long vocabularies take to be ready and how fast text becomes tokens: vocabularies of $shared, English text.
shared=${shared-$top_srcdir/../shared}
text=$shared/models/demo/valid.txt
[ -f "$text" ] || { echo "skipped: no $text"; exit 0; }
for m in "$top_srcdir"/data/*.gguf "$shared"/models/vocab/*.gguf; do
	printf '%-30s ' "$(basename "$m" .gguf)"
	"$top_builddir/tests/bench_token" "$m" "$text" || exit
done
