# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154 # sourced
# Sourced by check: which lines of src/ and fs/ their own tests reach.

COVERAGE_PROGRAMS='mount.gguf fsck.gguf tests/make_file tests/make_model tests/fire tests/eio_fs tests/hostile'
COVERAGE_TESTS='test_parse test_value test_split test_writer test_scan test_quant test_encode test_decode test_floats
	test_name test_number test_text test_node test_options fuzz_parse fuzz_split fuzz_check fuzz_decode fuzz_tree
	test_fsck.sh test_mount.sh test_helper.sh test_user.sh test_kill.sh test_fire.sh test_limits.sh test_floats.sh'

# coverage_of ROOM: percent of its lines, from $work/coverage/all.info
coverage_of() {
	lcov -q -e "$work/coverage/all.info" "*/$1/*" -o "$work/coverage/$1.info" 2>/dev/null &&
		lcov --summary "$work/coverage/$1.info" 2>&1 | sed -n 's/ *lines\.*: //p'
}

# Not by make check, which would build all rooms.
run_covered() (
	export MOUNT_OPTIONS=no_sandbox top_srcdir="$top" top_builddir="$work/coverage" shared="$GGUFS_SHARED" NM=nm CC=gcc
	cd "$work/coverage" || exit
	for t in $COVERAGE_TESTS; do
		case $t in
		*.sh) sh "$top/tests/$t" ;;
		*) "./tests/$t" ;;
		esac
	done
)

# Only what these rooms need is built. The daemon's sandbox would not let it write what it counted when it ends.
run_coverage() {
	echo "== coverage"
	if ! command -v lcov >/dev/null; then
		echo "SKIP: coverage: no lcov"
		skipped=$((skipped + 1))
		return
	fi
	goals=$COVERAGE_PROGRAMS
	for t in $COVERAGE_TESTS; do
		case $t in *.sh) ;; *) goals="$goals tests/$t" ;; esac
	done
	build "$work/coverage" --disable-shared CFLAGS='-O1 -g --coverage -fprofile-update=atomic'
	step 'coverage: build' $?
	unset goals
	find "$work/coverage" -name '*.gcda' -delete
	run_covered >"$work/coverage/check.log" 2>&1
	! grep '^not ok' "$work/coverage/check.log"
	step "coverage: its tests: see $work/coverage/check.log" $?
	lcov -q -c -d "$work/coverage" -o "$work/coverage/all.info" >"$work/coverage/lcov.log" 2>&1
	# without the device the mounting tests skip
	for room in src $([ -c /dev/fuse ] && echo fs); do
		is=$(coverage_of "$room")
		echo "coverage of $room/: $is"
		[ "$(echo "${is:-0}" | cut -d. -f1)" -ge 90 ] 2>/dev/null
		step "coverage of $room/: at least 90 % of its lines" $?
	done
}
