# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154 # sourced
# Sourced by full.sh: which lines of each room the tests reach.

# coverage_of ROOM: percent of its lines, from $work/coverage/all.info
coverage_of() {
	lcov -q -e "$work/coverage/all.info" "*/$1/*" -o "$work/coverage/$1.info" 2>/dev/null &&
		lcov --summary "$work/coverage/$1.info" 2>&1 | sed -n 's/ *lines\.*: //p'
}

run_coverage() {
	run_tests coverage --disable-shared CFLAGS='-O1 -g --coverage -fprofile-update=atomic -Werror'
	lcov -q -c -d "$work/coverage" -o "$work/coverage/all.info" >"$work/coverage/lcov.log" 2>&1 || {
		echo "SKIP: coverage: lcov failed, see $work/coverage/lcov.log"
		return
	}
	for room in src fs compute; do
		echo "coverage of $room/: $(coverage_of "$room")"
	done
}
