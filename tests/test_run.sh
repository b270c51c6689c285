#!/bin/sh
# gguf-run: what it writes, from every form of a model, and how it refuses.
run=$top_builddir/gguf-run
mount=$top_builddir/mount.gguf
own=$top_srcdir/data/austen-2.6m-Q4_K_M.gguf
stories=$shared/models/stories
n=0 bad=0
tmp=$(mktemp -d) || exit 99
trap 'fusermount3 -uqz "$tmp/m" 2>/dev/null; rm -rf "$tmp"' EXIT
exec </dev/null
unset SOURCE_DATE_EPOCH
check() { # check WHAT COMMAND...: holds when the command succeeds
	what=$1; shift; n=$((n + 1))
	if "$@"; then echo "ok $n - $what"; else echo "not ok $n - $what"; bad=1; fi
}
skip() { n=$((n + 1)); echo "ok $n - $1 # SKIP $2"; }
fails() { # fails STATUS TEXT COMMAND...: exits so, with the text in its message
	want=$1 text=$2; shift 2
	"$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	[ $got = "$want" ] && grep -q -e "$text" "$tmp/err" || { sed 's/^/# /' "$tmp/err"; echo "# status $got"; false; }
}
same() { [ "$1" = "$2" ] || { printf '# got:  %s\n# want: %s\n' "$1" "$2"; false; }; }
logits() { "$run" "$1" --ids "$ids" --logits "$2" -ctk f32 -ctv f32 -t "${3:-1}" -b "${4:-512}"; }

# ---- the model that comes with us ----
ids="1 363 46 991 72 53 12 9 200 301 402 77 5 1000 64 33 18"
"$run" "$own" -p 'Mr. Darcy' -n 12 --temp 0 >"$tmp/a" 2>"$tmp/speed"
check "a completion begins with the prompt" grep -q '^Mr\. Darcy ' "$tmp/a"
check "speed goes to standard error" grep -q 'tokens/s' "$tmp/speed"
check "the prompt is left out" same "Mr. Darcy$("$run" "$own" -p 'Mr. Darcy' -n 12 --temp 0 --no-display-prompt 2>/dev/null)" "$(cat "$tmp/a")"
check "the prompt from standard input" same "$(printf 'Mr. Darcy\n' | "$run" "$own" -n 12 --temp 0 2>/dev/null)" "$(cat "$tmp/a")"
printf 'Mr. Darcy\n' >"$tmp/prompt"
check "the prompt from a file" same "$("$run" -m "$own" -f "$tmp/prompt" -n 12 --temp 0 2>/dev/null)" "$(cat "$tmp/a")"
check "escapes" same "$("$run" "$own" -p 'Mr.\x20Darcy' -n 12 --temp 0 2>/dev/null)" "$(cat "$tmp/a")"
check "no escapes" same "$("$run" "$own" -p 'a\nb' -n 0 --no-escape 2>/dev/null)" 'a\nb'
check "quiet" same "$("$run" "$own" -p 'Mr. Darcy' -n 3 --no-show-timings 2>&1 >/dev/null)" ""
check "a seed gives the same text" same "$("$run" "$own" -p 'Emma' -n 30 -s 7 2>/dev/null)" "$("$run" "$own" -p 'Emma' -n 30 -s 7 -t 1 2>/dev/null)"
check "another seed gives another" [ "$("$run" "$own" -p 'Emma' -n 30 -s 7 2>/dev/null)" != "$("$run" "$own" -p 'Emma' -n 30 -s 8 2>/dev/null)" ]
"$run" "$own" --ids "$ids" --print-ids -n 16 --temp 0 >"$tmp/ids" 2>/dev/null
check "ids: a line of numbers and nothing else" grep -qxE '[0-9]+( [0-9]+){0,15}' "$tmp/ids"
check "ids in brackets" same "$("$run" "$own" --ids "[$(echo "$ids" | sed 's/ /, /g')]" --print-ids -n 16 --temp 0 2>/dev/null)" "$(cat "$tmp/ids")"
first=$(cut -d' ' -f1 "$tmp/ids")
check "a bias forbids a token" [ "$("$run" "$own" --ids "$ids" --print-ids -n 1 --temp 0 -l "$first-inf" 2>/dev/null)" != "$first" ]
check "top-k 1 is greedy" same "$("$run" "$own" --ids "$ids" --print-ids -n 16 --top-k 1 2>/dev/null)" "$(cat "$tmp/ids")"
check "a stop string ends it" [ "$("$run" "$own" -p 'Mr. Darcy' -n 200 --temp 0 -r ' the' --no-display-prompt 2>/dev/null | tr -d '\n' | sed 's/.* the$/end/')" = end ]
check "loading phases" [ "$("$run" "$own" -p a -n 1 --timings 2>&1 >/dev/null | grep -cE '^(open|vocabulary|map|first token) ')" = 4 ]
check "a warm-up changes nothing" same "$("$run" "$own" -p 'Mr. Darcy' -n 12 --temp 0 --warmup 2>/dev/null)" "$(cat "$tmp/a")"
check "dry run" [ "$("$run" "$own" --dry-run | grep -cE '^(weights|KV cache|buffers) +[0-9]+ bytes')" = 3 ]
refuses_model() { # refuses_model FILE MODEL: FILE is not written over
	cmp -s "$own" "$tmp/own.gguf" || cp "$own" "$tmp/own.gguf"
	fails 1 'this is the model itself' "$run" "$2" --ids "1 2 3" --logits "$1" && cmp "$own" "$tmp/own.gguf"
}
cp "$own" "$tmp/own.gguf"; ln -s own.gguf "$tmp/link"; ln "$tmp/own.gguf" "$tmp/hard"
for file in own.gguf link hard; do
	check "logits do not replace the model: $file" refuses_model "$tmp/$file" "$tmp/own.gguf"
done
check "a longer context than the model's is told" sh -c "'$run' '$own' -p a -n 1 -c 600 2>&1 >/dev/null | grep -q '600 tokens is more than the 512'"
check "its own is not" [ "$("$run" "$own" -p a -n 1 -c 512 --no-show-timings 2>&1 >/dev/null)" = "" ]
small_stack() ( ulimit -s 256 && "$@" )
check "too small a stack is refused" fails 1 'stacks of 512 KiB' small_stack "$run" "$own" -p a -n 1
small_thread_stack() ( OMP_STACKSIZE=64k; export OMP_STACKSIZE; "$@" )
if [ "$(nproc)" -gt 1 ]; then
	check "of another thread, too" fails 1 'stacks of 512 KiB' small_thread_stack "$run" "$own" -p a -n 1 -t 2
else
	skip "of another thread, too" "one processor"
fi
printf '/foo\nHello\n/foo bar\n' | "$run" "$own" -cnv -n 4 --temp 0 >"$tmp/out" 2>"$tmp/err"
check "an unknown command is none of the model's" [ "$(grep -c '/foo: no such command' "$tmp/err") $(grep -c '^prompt: ' "$tmp/err")" = "1 2" ]
check "each turn's speed is its own" [ "$(sed -n 's/.*generated: \([0-9]*\) token.*/\1/p' "$tmp/err" | sort -u)" = 4 ]
check "version names the kernels" sh -c "'$run' --version | grep -q 'kernels: [a-z0-9]'"
check "help names every sampler's option" [ "$("$run" --help | grep -cE -- '--(temp|top-k|top-p|min-p|typical|top-nsigma|xtc-probability|dry-multiplier|repeat-penalty|mirostat|logit-bias|seed)\b')" -ge 12 ]

# ---- the same bits ----
logits "$own" "$tmp/l1" && logits "$own" "$tmp/l2" 2 3
check "logits: positions times vocabulary" [ "$(wc -c <"$tmp/l1")" = $((17 * 1024 * 4)) ]
check "logits by two threads in batches of three" cmp "$tmp/l1" "$tmp/l2"
logits "$own" - >"$tmp/l2"
check "logits on standard output" cmp "$tmp/l1" "$tmp/l2"
{ echo before; logits "$own" -; echo after; } >"$tmp/l2"
{ echo before; cat "$tmp/l1"; echo after; } >"$tmp/l3"
check "logits stand where standard output stood" cmp "$tmp/l3" "$tmp/l2"
echo before >"$tmp/l2"; logits "$own" /dev/stdout >>"$tmp/l2"
{ echo before; cat "$tmp/l1"; } >"$tmp/l3"
check "logits are appended to it" cmp "$tmp/l3" "$tmp/l2"
shm=/dev/shm/ggufs-test-$$
check "logits to a new file in /dev/shm" sh -c "'$run' '$own' --ids 1 --logits '$shm' && [ \$(wc -c <'$shm') = 4096 ]"
rm -f "$shm"
check "logits nowhere" fails 1 'Bad file descriptor' sh -c "exec '$run' '$own' --ids 1 --logits - >&-"
ended() { # ended SIGNAL STATUS: logits that a signal ends leave nothing
	mkfifo "$tmp/pipe"
	"$run" "$own" -f "$tmp/pipe" --logits "$tmp/cut" -t 1 2>/dev/null & pid=$!
	exec 4>"$tmp/pipe"; kill -"$1" $pid; exec 4>&-
	wait $pid; got=$?; rm "$tmp/pipe"
	[ $got = "$2" ] && [ "$(echo "$tmp"/cut*)" = "$tmp/cut*" ]
}
check "SIGINT while a prompt is read" ended INT 130
check "SIGTERM leaves no file" ended TERM 143
check "more layers than the key says" fails 1 "llama.block_count: there are 2, and yet a tensor 'blk.2" "$run" "$own" -p a --override-kv llama.block_count=int:2
for mode in mmap populate read; do
	"$run" "$own" --ids "$ids" --logits "$tmp/l2" -ctk f32 -ctv f32 --load-mode $mode
	check "logits with --load-mode $mode" cmp "$tmp/l1" "$tmp/l2"
done
"$run" "$own" --ids "$ids" --logits "$tmp/l2" -ctk f32 -ctv f32 --lazy --no-check
check "logits with --lazy --no-check" cmp "$tmp/l1" "$tmp/l2"
mkdir "$tmp/m"
if [ -x "$mount" ] && [ -w /dev/fuse ] && "$mount" "$own" "$tmp/m" 2>"$tmp/err"; then
	logits "$tmp/m" "$tmp/l2"
	check "logits from a mount" cmp "$tmp/l1" "$tmp/l2"
	"$run" "$tmp/m" --ids "$ids" --logits "$tmp/l2" -ctk f32 -ctv f32 --load-mode mmap
	check "logits from a mount's own files" cmp "$tmp/l1" "$tmp/l2"
	mkdir "$tmp/copy" "$tmp/copy/tensors"
	cp -r "$tmp/m/metadata" "$tmp/copy" && chmod -R u+w "$tmp/copy"
	for t in "$tmp"/m/tensors/*; do
		mkdir "$tmp/copy/tensors/${t##*/}"
		cp "$t/type" "$t/shape" "$t/raw" "$tmp/copy/tensors/${t##*/}"
	done
	cp "$tmp/m/tensors.tsv" "$tmp/copy" 2>/dev/null
	logits "$tmp/copy" "$tmp/l2"
	check "logits from a copy of the tree" cmp "$tmp/l1" "$tmp/l2"
	check "text from a mount" same "$("$run" "$tmp/m" -p 'Mr. Darcy' -n 12 --temp 0 2>/dev/null)" "$(cat "$tmp/a")"
	fusermount3 -u "$tmp/m"
	cp "$own" "$tmp/gone.gguf" && "$mount" "$tmp/gone.gguf" "$tmp/m" && rm "$tmp/gone.gguf"
	check "a model that is gone below the mount: told" fails 1 'gguf-run: .*cannot be read' "$run" "$tmp/m" -p a -n 1
	fusermount3 -u "$tmp/m"
	cp "$own" "$tmp/own.gguf" && "$mount" "$tmp/own.gguf" "$tmp/m"
	check "logits do not replace the model below the mount" refuses_model "$tmp/own.gguf" "$tmp/m"
	check "nor below the mount's model.gguf" refuses_model "$tmp/own.gguf" "$tmp/m/model.gguf"
	fusermount3 -u "$tmp/m"
	# the kernel would not give up locking pages that give errors
	cp "$own" "$tmp/cut.gguf" && "$mount" "$tmp/cut.gguf" "$tmp/m" && truncate -s 900000 "$tmp/cut.gguf"
	for mode in mlock populate; do
		check "a model that was cut under the mount: $mode" fails 1 'cannot be read: Input/output error' \
			timeout 20 "$run" "$tmp/m" -p a -n 1 --load-mode $mode
	done
	fusermount3 -u "$tmp/m"
	for file in metadata/llama.block_count tensors/blk.0.attn_q.weight/type tensors/blk.0.attn_q.weight/raw; do
		cp -r "$tmp/copy" "$tmp/pipes" && rm -f "$tmp/pipes/$file" && mkfifo "$tmp/pipes/$file"
		check "a pipe in a tree is refused: $file" fails 1 'regular file\|its 0 bytes' timeout 20 "$run" "$tmp/pipes" -p a -n 1
		rm -r "$tmp/pipes"
	done
else
	skip "logits from a mount" "no mount: $(head -c 60 "$tmp/err" 2>/dev/null)"
fi
printf 'a\0b' >"$tmp/nul"
check "a prompt may hold NUL" [ "$("$run" "$own" -f "$tmp/nul" -n 1 --temp 0 --verbose-prompt 2>&1 >/dev/null | sed -n 1p)" = \
	"$("$top_builddir/gguf-tokenize" -m "$own" -f "$tmp/nul" --ids --log-disable 2>/dev/null | tr -d '[],')" ]
check "a message may not" fails 1 'NUL' "$run" "$own" -st -f "$tmp/nul" --chat-template chatml
limited_size() ( ulimit -f 1 && "$@" )
check "a limit of sizes is told" fails 1 'File too large' limited_size "$run" "$own" --ids "$ids" --logits "$tmp/long"
check "and leaves nothing" [ "$(echo "$tmp"/long*)" = "$tmp/long*" ]
echo 'Mr. Darcy' >"$tmp/prompt"
check "the prompt's file is not written over" fails 1 'what is read' "$run" "$own" -f "$tmp/prompt" --logits "$tmp/prompt"

# ---- the context ----
check "a full context stops" fails 0 "context is full" "$run" "$own" -p 'Mr. Darcy' -c 24 --temp 0 --ignore-eos
check "and counts" [ "$("$run" "$own" --ids "$ids" --print-ids -c 24 --temp 0 --ignore-eos 2>/dev/null | wc -w)" = 8 ]
check "a shift goes on" [ "$("$run" "$own" --ids "$ids" --print-ids -c 24 -n 40 --temp 0 --ignore-eos --context-shift --keep 1 2>/dev/null | wc -w)" = 40 ]
check "a prompt that does not fit" fails 1 "do not fit" "$run" "$own" --ids "$ids" --print-ids -c 8
check "logits of a prompt that does not fit" fails 1 "do not fit" "$run" "$own" --ids "$ids" --logits "$tmp/x" -c 8

# ---- conversation ----
printf 'Hello\n\n/regen\n/clear\nAgain\\\nand again\n/quit\nnever\n' |
	"$run" "$own" -cnv -sys 'Be brief.' -n 6 --temp 0 --verbose-prompt >"$tmp/out" 2>"$tmp/err"
check "a conversation ends well" [ $? = 0 ]
check "ChatML is said to be the fallback" grep -qi 'chatml' "$tmp/err"
check "three answers" [ "$(grep -o 'im_start|>assistant' "$tmp/err" | wc -l)" = 3 ]
check "a line goes on after a backslash" grep -q '^and again' "$tmp/err"
check "/quit ends it" sh -c "! grep -q never '$tmp/err'"
"$run" "$own" -st -p 'Hi' -n 4 --temp 0 --chat-template chatml --verbose-prompt >"$tmp/out" 2>"$tmp/err"
check "a single turn by a named template" grep -q 'im_start|>user' "$tmp/err"
printf '{{ messages[0].content }}+{{ extra }}' >"$tmp/t"
"$run" "$own" -st -p 'Hi' -n 4 --chat-template-file "$tmp/t" --chat-template-kwargs '{"extra": "more"}' --verbose-prompt >"$tmp/out" 2>"$tmp/err"
check "a template from a file, with variables" grep -q 'Hi+more' "$tmp/err"
check "an unknown template" fails 1 "nonesuch" "$run" "$own" -st -p a --chat-template nonesuch
check "variables that are no object, and no conversation" fails 2 "chat-template-kwargs" "$run" "$own" -p a --chat-template-kwargs '[1'
check "variables that are no object" fails 2 "chat-template-kwargs" "$run" "$own" -st -p a --chat-template-kwargs '[]'

# ---- interrupts ----
mkfifo "$tmp/fifo"
"$run" "$own" -p 'Mr. Darcy' --ignore-eos --context-shift >"$tmp/fifo" 2>"$tmp/err" &
pid=$!
exec 5<"$tmp/fifo"
head -c 40 <&5 >"$tmp/out"
kill -INT $pid
cat <&5 >>"$tmp/out"
exec 5<&-
wait $pid
check "Ctrl-C ends a completion with its summary" [ $? = 130 ]
check "the summary is there" grep -q 'tokens/s' "$tmp/err"

# ---- what is refused ----
check "no model" fails 2 "no model" "$run"
check "two models" fails 2 "more than one" "$run" a b
check "a misspelt option" fails 2 "temp is one" "$run" "$own" --tmep 1
check "an option of llama.cpp that has no meaning here" fails 2 "on the CPU: leave it out" "$run" "$own" -ngl 99
check "an override changes what is added" [ "$("$run" "$own" -p a -n 0 --verbose-prompt --override-kv tokenizer.ggml.add_bos_token=bool:false 2>&1 >/dev/null | head -1 | wc -w)" -lt "$("$run" "$own" -p a -n 0 --verbose-prompt 2>&1 >/dev/null | head -1 | wc -w)" ]
check "an override of another type" fails 1 "block_count: its override is not" "$run" "$own" -p a --override-kv llama.block_count=str:four
check "an override that is none" fails 2 "KEY=TYPE:VALUE" "$run" "$own" -p a --override-kv llama.block_count=4
check "another base of the frequencies" [ "$("$run" "$own" --ids "$ids" --print-ids -n 16 --temp 0 --rope-freq-base 50 2>/dev/null)" != "$(cat "$tmp/ids")" ]
check "the same base" same "$("$run" "$own" --ids "$ids" --print-ids -n 16 --temp 0 --override-kv llama.rope.freq_base=float:10000 2>/dev/null)" "$(cat "$tmp/ids")"
check "an unknown option" fails 2 "unknown option" "$run" "$own" --nonsense
check "a value that is missing" fails 2 "needs a value" "$run" "$own" -n
check "a number that is none" fails 2 "not a whole number" "$run" "$own" -n many
check "a cache type that there is not" fails 2 "not one of f16" "$run" "$own" -ctk q9
check "two prompts" fails 2 "only one of" "$run" "$own" -p a --ids 1
check "a sampler that there is not" fails 2 "no sampler" "$run" "$own" -p a --samplers top_k,nope
check "ids that are none" fails 2 "not a list" "$run" "$own" --ids "1 x"
check "ids outside of the vocabulary" fails 2 "none of the 1024" "$run" "$own" --ids "1 1024"
check "a bias outside of the vocabulary" fails 2 "token 5000" "$run" "$own" -p a -l 5000+1
check "a missing file" fails 1 "No such file" "$run" "$tmp/none" -p a
check "a missing prompt file" fails 1 "No such file" "$run" "$own" -f "$tmp/none"
check "a file that is no model" fails 1 "$tmp/prompt: " "$run" "$tmp/prompt" -p a
check "more threads than there are" fails 0 "affinity and cgroup allow" "$run" "$own" -p a -n 1 -t 4000
check "kernels that there are not" fails 1 "GGUF_KERNEL" env GGUF_KERNEL=nope "$run" "$own" -p a -n 1
check "logits that cannot be written" fails 1 "No such file" "$run" "$own" --ids "1" --logits "$tmp/none/x"

# ---- a real model and what it must say ----
if [ ! -d "$stories" ]; then
	skip "stories" "no $stories"
else
	for i in 0 1 2 3; do
		ref=$stories/refs/stories260K-$i.txt
		in=$(sed -n 's/^prompt: //p' "$ref") out=$(sed -n 's/^out: //p' "$ref")
		count=$(echo "$out" | wc -w)
		check "stories $i: ids" same "$("$run" "$stories/stories260K-f32.gguf" --ids "$in" --print-ids -n "$count" --temp 0 -ctk f32 -ctv f32 2>/dev/null)" "$out"
		# the file has no bytes that are tokens of their own
		check "stories $i: text" same "$("$run" "$stories/stories260K-f32.gguf" -f "$stories/refs/stories260K-$i.prompt" -n "$count" --temp 0 -ctk f32 -ctv f32 2>/dev/null | sed 's/日本//; s/🙂//; s/ë//' | tr -d '\n')" "$(sed -n '3,$p' "$ref" | sed '1s/^text: //' | tr -d '\n')"
	done
	in=$(sed -n 's/^prompt: //p' "$stories/refs/stories260K-1.txt") out=$(sed -n 's/^out: //p' "$stories/refs/stories260K-1.txt")
	for form in f32-tied f16 as-qwen2-f32 as-phi3-f32 as-llama-moe-f32 pad256-f32; do
		check "stories as $form: ids" same "$("$run" "$stories/stories260K-$form.gguf" --ids "$in" --print-ids -n 120 --temp 0 -ctk f32 -ctv f32 2>/dev/null)" "$out"
	done
fi

# ---- templates ----
templates=$shared/vectors/templates
py=$(command -v /usr/bin/python3 || command -v python3)
if [ ! -d "$templates" ] || [ -z "$py" ]; then
	skip "templates" "no python3, or no $templates"
else
	cat >"$tmp/render.py" <<'PY'
import json, os, subprocess, sys
run, model, folder, tmp = sys.argv[1:]
os.environ["SOURCE_DATE_EPOCH"] = "1767323045"
expected = json.load(open(folder + "/expected.json"))
cases = {c.pop("name"): c for c in json.load(open(folder + "/cases.json"))}
wrong = n = 0
for name in sorted(expected):
    for case, want in expected[name].items():
        with open(tmp + "/case.json", "w") as f:
            json.dump(dict(cases[case], bos_token="<s>", eos_token="</s>"), f)
        r = subprocess.run([run, model, "--chat-template-file", f"{folder}/{name}.jinja", "--render", tmp + "/case.json"],
                           capture_output=True)
        n += 1
        good = r.stdout == want["text"].encode() and r.returncode == 0 if "text" in want else r.returncode == 1 and r.stderr
        if not good:
            wrong += 1
            print(f"# {name} {case}: status {r.returncode} {r.stderr[:200]}")
print(f"# {n} cases")
sys.exit(wrong > 0 or n < 300)
PY
	check "--render: all published templates" "$py" "$tmp/render.py" "$run" "$own" "$templates" "$tmp"
fi
echo '{"messages": [{"role": "user", "content": "x"}]}' >"$tmp/case"
printf '{{ bos_token }}|{{ eos_token }}|{{ messages[0].content }}' >"$tmp/t"
check "--render has the model's bos and eos" same "$("$run" "$own" --chat-template-file "$tmp/t" --render "$tmp/case")" "<s>|</s>|x"
printf '{{ strftime_now("%%Y-%%m-%%d") }}' >"$tmp/t"
check "SOURCE_DATE_EPOCH fixes the clock" same "$(SOURCE_DATE_EPOCH=1767323045 "$run" "$own" --chat-template-file "$tmp/t" --render "$tmp/case")" "2026-01-02"
printf '{{ raise_exception("not so") }}' >"$tmp/t"
check "a template that refuses" fails 1 "not so" "$run" "$own" --chat-template-file "$tmp/t" --render "$tmp/case"
printf '{{ broken' >"$tmp/t"
check "a template that is broken" fails 1 "" "$run" "$own" --chat-template-file "$tmp/t" --render "$tmp/case"
echo '[1' >"$tmp/case"
check "a case that is no JSON" fails 1 "case: " "$run" "$own" --render "$tmp/case"
echo "1..$n"
exit $bad
