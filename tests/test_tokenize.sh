#!/bin/sh
# gguf-tokenize: its options, outputs and exit statuses, on the model that comes with the source.
m=$top_srcdir/data/austen-2.6m-Q4_K_M.gguf
run() { "$top_builddir/gguf-tokenize" "$@"; }
n=0 bad=0
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
is() { # is WHAT GOT WANT
	n=$((n + 1))
	[ "$2" = "$3" ] && echo "ok $n - $1" && return
	bad=1
	echo "not ok $n - $1"
	printf '%s\n' "got: $2" "expected: $3" | sed 's/^/# /'
}
text() { run -m "$m" "$@" | sed -n "s/^ *[0-9]* -> '\(.*\)'\$/\1/p" | tr -d '\n'; } # its pieces in a row
count() { run -m "$m" --show-count --ids "$@" | sed -n 's/^Total number of tokens: //p'; }

is "a piece for each token, bos first" "$(text -p 'It is a truth')" "<s> It is a truth"
is "no bos" "$(text --no-bos -p 'It is a truth')" " It is a truth"
is "ids are a list" "$(run -m "$m" --ids --no-bos -p '</s>')" "[2]"
is "a control token as text" "$(text --no-bos --no-parse-special -p '</s>')" " </s>"
is "nothing" "$(run -m "$m" --ids -p '')" "[1]"
is "nothing, and no bos" "$(run -m "$m" --ids --no-bos -p '')" "[]"
printf 'one\ntwo\\n' >"$tmp/t"
is "a file is taken as it is" "$(run -m "$m" --ids -f "$tmp/t")" "$(run -m "$m" --ids --stdin <"$tmp/t")"
is "escapes of -p" "$(run -m "$m" --ids -p 'one\ntwo\\n')" "$(run -m "$m" --ids -f "$tmp/t")"
is "and hexadecimal ones" "$(run -m "$m" --ids -p 'o\x6ee')" "$(run -m "$m" --ids -p one)"
is "escapes left alone" "$(text --no-bos --no-escape -p 'a\tb')" ' a\tb'
is "the count" "$(count -p 'a b')" "$(run -m "$m" -p 'a b' | wc -l)"
is "--name=value" "$(run --model="$m" --ids --prompt=one)" "$(run -m "$m" --ids -p one)"
printf '\377a' >"$tmp/t"
run -m "$m" --no-bos -f "$tmp/t" >"$tmp/out"
is "a byte that is no text" "$(head -2 "$tmp/out" | tail -1 | od -An -c | tr -d ' \n')" "$(printf " 258 -> '\377'\n" | od -An -c | tr -d ' \n')"

status() { # status WHAT WANT ARGS...: exit status, and the lines on stderr, of which the first names the program
	what=$1 want=$2
	shift 2
	run "$@" >"$tmp/out" 2>"$tmp/err"
	is "$what" "$? $(wc -l <"$tmp/err") $(sed 's/:.*//; q' "$tmp/err")" "$want"
}
status "no arguments" "2 2 gguf-tokenize"
status "no text" "2 2 gguf-tokenize" -m "$m"
status "two texts" "2 2 gguf-tokenize" -m "$m" -p a --stdin
status "an unknown option" "2 2 gguf-tokenize" -m "$m" -p a --nope
status "an option without its value" "2 2 gguf-tokenize" -m
is "where to read more" "$(sed 1d "$tmp/err")" "Try 'gguf-tokenize --help'."
status "a model that is not there" "1 1 gguf-tokenize" -m "$tmp/none" -p a
status "a file that is no model" "1 1 gguf-tokenize" -m "$tmp/t" -p a
status "a text that is not there" "1 1 gguf-tokenize" -m "$m" -f "$tmp/none"
run -m "$m" -p a >/dev/full 2>"$tmp/err"
is "no room for the output" "$? $(cut -d: -f1,2 "$tmp/err")" "1 gguf-tokenize: standard output"
is "help is printed" "$(run --help | head -1 | cut -c1-20)" "usage: gguf-tokenize"
echo "1..$n"
exit $bad
