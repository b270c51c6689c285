#!/bin/sh
# SPDX-License-Identifier: MIT
# Real mounts: every byte of raw against the file, texts against jq and od, names, links, attributes, many readers.
# shellcheck source=tests/mounting.sh
. "$top_srcdir/tests/mounting.sh"

command -v python3 >/dev/null || { echo '1..0 # SKIP no python3'; exit 0; }
m=$tmp/m
mkdir "$m"

# whole MODEL: what holds of any model that is one version 3 file
whole() {
	name=$(basename "$1" .gguf)
	check "$name: mounts" mount_gguf "$1" "$m"
	check "$name: raw files are slices of the file, sizes exact, metadata.json and metadata/ agree" \
		python3 "$top_srcdir/tests/check_tree.py" "$m" "$1"
	check "$name: model.gguf is the file" cmp "$m/model.gguf" "$1"
	check "$name: unmounts" umount "$m"
}

# ---- the model that comes with the product ----

whole "$demo"
mount_gguf "$demo" "$m" || { echo 'Bail out! mount failed'; exit 1; }
t=$m/tensors/blk.0.attn_q.weight
same 'a string' llama "$(cat "$m/metadata/general.architecture")"
same 'a type' Q4_K "$(cat "$t/type")"
same 'a shape, row length first' '256 256' "$(cat "$t/shape")"
same 'a small number' 1e-5 "$(cat "$m/metadata/llama.attention.layer_norm_rms_epsilon")"
same 'jq reads metadata.json' "$(wc -l <"$m/metadata/tokenizer.ggml.tokens")" \
	"$(jq '."tokenizer.ggml.tokens" | length' "$m/metadata.json")"
same 'the first bytes by od' "$(od -A n -t x1 -N 16 "$t/raw")" "$(od -A n -t x1 -N 16 -j "$(awk -F'	' \
	'$1 == "blk.0.attn_q.weight" { print $7 }' "$m/tensors.tsv")" "$demo")"
same 'a layer links to tensors' ../../tensors/blk.0.attn_q.weight "$(readlink "$m/layers/0/attn_q.weight")"
same 'and the link leads there' Q4_K "$(cat "$m/layers/0/attn_q.weight/type")"
same 'layers are counted' "$(cat "$m/metadata/llama.block_count")" "$(ls "$m/layers" | wc -l)"
same 'attribute: name' tokenizer.ggml.tokens \
	"$(getfattr --absolute-names --only-values -n user.gguf.name "$m/metadata/tokenizer.ggml.tokens")"
same 'attribute: type of a number' u32 "$(getfattr --absolute-names --only-values -n user.gguf.type "$m/metadata/llama.block_count")"
same 'attribute: type of an array' 'array[string]' \
	"$(getfattr --absolute-names --only-values -n user.gguf.type "$m/metadata/tokenizer.ggml.tokens")"
same 'attribute: location' "$demo	$(awk -F'	' '$1 == "blk.0.attn_q.weight" { print $7 "\t" $5 }' "$m/tensors.tsv")" \
	"$(getfattr --absolute-names --only-values -n user.gguf.location "$t/raw")"
same 'getfattr --absolute-names -d lists both' 2 "$(getfattr --absolute-names -d "$m/metadata/llama.block_count" 2>/dev/null | grep -c '^user\.gguf\.')"
same 'times are the file'"'"'s' "$(stat -c %Y "$demo")" "$(stat -c %Y "$m/info")"
same 'the type of the mount' fuse.gguf "$(findmnt -n -o FSTYPE "$m")"
same 'its source' "$demo" "$(findmnt -n -o SOURCE "$m")"
same 'statfs: the longest name' 255 "$(stat -f -c %l "$m")"
same 'statfs: as many files as there are' "$(find "$m" | wc -l)" "$(stat -f -c %c "$m")"
check 'info names the architecture' grep -q 'architecture *llama' "$m/info"
check 'README names info' grep -q '^info' "$m/README"
fails 'nothing can be written' 1 'Read-only' touch "$m/new"
fails 'or removed' 1 'Read-only' rm -f "$m/info"
fails 'or found that is not there' 2 'No such file' ls "$m/tensors/none"
ls -lRi "$m" >"$tmp/first"
check 'a second listing is the same' sh -c "ls -lRi '$m' | cmp - '$tmp/first'"
umount "$m" && mount_gguf "$demo" "$m"
check 'inode numbers are the same in another mount' sh -c "ls -lRi '$m' | cmp - '$tmp/first'"

odd_reads() {
	size=$(stat -c %s "$t/raw")
	cp "$t/raw" "$tmp/whole"
	for at in 0 1 17 4095 4096 4097 $((size - 3)) "$size" $((size + 1000)); do
		for n in 1 3 4096 10000; do
			dd if="$t/raw" bs=$n count=1 iflag=skip_bytes skip=$at status=none >"$tmp/a" 2>&1
			tail -c +$((at + 1)) "$tmp/whole" | head -c $n | cmp - "$tmp/a" || return 1
		done
	done
}
check 'reads at odd offsets' odd_reads

maps() {
	python3 - "$t/raw" <<-'END'
		import mmap, sys
		f = open(sys.argv[1], 'rb')
		want = f.read()
		for flags in (mmap.MAP_SHARED, mmap.MAP_PRIVATE):
		    m = mmap.mmap(f.fileno(), 0, flags=flags, prot=mmap.PROT_READ)
		    assert m[:] == want
	END
}
check 'shared and private maps' maps

# 100 readers of a fresh mount, each of another tensor first.
readers() {
	want=$(cd "$m/tensors" && cat ./*/raw | cksum)
	umount "$m" && mount_gguf "$demo" "$m" || return
	pids=
	for i in $(seq 100); do
		(cd "$m/tensors" && cat "./$(ls | sed -n $((i % 38 + 1))p)/raw" ../metadata/*tokens >/dev/null && cat ./*/raw | cksum) \
			>"$tmp/sum$i" &
		pids="$pids $!"
	done
	# shellcheck disable=SC2086 # a list
	wait $pids
	[ "$(cat "$tmp"/sum* | sort | uniq -c | awk '{ print $1 }')" = 100 ] && [ "$(cat "$tmp/sum1")" = "$want" ]
}
check '100 readers at once' readers

mkdir "$tmp/m2"
check 'a second mount of the same file' mount_gguf "$demo" "$tmp/m2"
check 'and both say the same' diff -r "$m" "$tmp/m2"
umount "$tmp/m2"
check 'cache=below: the same bytes' mount_gguf -o cache=below "$demo" "$tmp/m2"
check 'read directly' cmp "$m/model.gguf" "$tmp/m2/model.gguf"
check 'and the texts' diff -r "$m/metadata" "$tmp/m2/metadata"
umount "$tmp/m2" "$m"

# ---- sets and other forms ----

forms=$shared/models/stories/stories260K-f32.gguf
if [ -e "$forms" ]; then
	mkdir "$tmp/set"
	mount_gguf "$forms" "$m"
	"$build/tests/make_model" split "$forms" "$tmp/set/part" 3
	for shard in 1 3; do
		check "a set by its shard $shard" mount_gguf "$tmp/set/part-0000$shard-of-00003.gguf" "$tmp/m2"
		check "set by shard $shard: the same tensors" diff -r "$m/tensors" "$tmp/m2/tensors"
		check "set by shard $shard: joined, it is the model" cmp "$m/model.gguf" "$tmp/m2/model.gguf"
		same "set by shard $shard: three files in info" 3 "$(grep -c part-0000 "$tmp/m2/info")"
		umount "$tmp/m2"
	done
	mkdir "$tmp/links"
	for i in 1 2 3; do
		mv "$tmp/set/part-0000$i-of-00003.gguf" "$tmp/set/hash$i"
		ln -s "../set/hash$i" "$tmp/links/part-0000$i-of-00003.gguf"
	done
	check 'a set of links to other names' mount_gguf "$tmp/links/part-00002-of-00003.gguf" "$tmp/m2"
	umount "$tmp/m2"
	rm "$tmp/set/hash2"
	fails 'a missing shard is named' 32 part-00002-of-00003.gguf mount_gguf "$tmp/links/part-00001-of-00003.gguf" "$tmp/m2"
	for form in '1 little' '2 little' '3 big' '2 big'; do
		# shellcheck disable=SC2086 # two words
		"$build/tests/make_model" form "$forms" "$tmp/form.gguf" $form
		check "version $form: mounts" mount_gguf "$tmp/form.gguf" "$tmp/m2"
		check "version $form: the same tensors" diff -r "$m/tensors" "$tmp/m2/tensors"
		check "version $form: the same metadata" diff -r "$m/metadata" "$tmp/m2/metadata"
		check "version $form: model.gguf is version 3, little-endian" cmp "$m/model.gguf" "$tmp/m2/model.gguf"
		umount "$tmp/m2"
	done
	umount "$m"
else
	skip 'sets and other forms' 'no shared models'
fi

# ---- real vocabularies, and a real model in many types ----

if [ -d "$shared/models" ]; then
	for model in "$shared"/models/vocab/*.gguf "$shared"/models/stories/*.gguf; do
		whole "$model"
	done
else
	skip 'real vocabularies and models' 'no shared models'
fi
mount_gguf "$demo" "$tmp/m"
fails 'a name that is too long' 1 'File name too long' stat "$tmp/m/$(printf '%0256d' 0)"
umount "$tmp/m"

# ---- reads that go through a whole tensor, here two of 4 GiB that are one hole ----

{
	printf 'GGUF\3\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
	printf '\1\0\0\0\0\0\0\0a\1\0\0\0\0\0\0\100\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
	printf '\1\0\0\0\0\0\0\0b\1\0\0\0\0\0\0\100\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0'
} >"$tmp/hole.gguf"
truncate -s 8589934688 "$tmp/hole.gguf"
mkdir "$tmp/m_hole"
mount_gguf "$tmp/hole.gguf" "$tmp/m_hole"
pid=$(daemon_of "$tmp/m_hole")
for file in a/stats b/stats a/heatmap.png b/heatmap.png; do
	timeout 60 cat "$tmp/m_hole/tensors/$file" >"$tmp/null" 2>&1 &
	readers="$readers $!"
done
soon has_state "$pid" R
check 'while tensors are read whole, others are served' timeout 5 cat "$tmp/m_hole/info"
check 'and listed' timeout 5 ls -lR "$tmp/m_hole"
# shellcheck disable=SC2086
kill $readers
umount "$tmp/m_hole" 2>/dev/null || fusermount3 -uz "$tmp/m_hole"
kill -9 "$pid"
wait

done_testing
