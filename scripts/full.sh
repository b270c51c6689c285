# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154 # sourced
# Sourced by check: the proofs that take longer than make check.
# shellcheck source=scripts/aarch64.sh
. "$top/scripts/aarch64.sh"
# shellcheck source=scripts/tsan.sh
. "$top/scripts/tsan.sh"

run_tests clang CC=clang CFLAGS='-g -O2 -Werror'
# what these two write when a program ends, the daemon's sandbox would not let it
export MOUNT_OPTIONS=no_sandbox
# gcc: clang takes minutes for each file of wide vector code with these
run_tests sanitize CFLAGS='-g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined'
run_tsan
unset MOUNT_OPTIONS
run_aarch64
echo "== distcheck"
make -C "$work/gcc" distcheck >"$work/distcheck.log" 2>&1
step "make distcheck: see $work/distcheck.log" $?
