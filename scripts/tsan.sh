# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154 # sourced
# Sourced by full.sh: the mount's tests, and a minute of the fire test, under the thread sanitizer. Needs MOUNT_OPTIONS
# without the sandbox: the daemon writes a report where it finds a race.

run_tsan() {
	rm -f "$work"/tsan-race.*
	export TSAN_OPTIONS="log_path=$work/tsan-race" FIRE_S=60
	TESTS_ONLY='tests/test_node tests/test_mount.sh tests/test_helper.sh'
	TESTS_ONLY="$TESTS_ONLY tests/test_user.sh tests/test_kill.sh tests/test_fire.sh"
	run_tests tsan CFLAGS='-g -O1 -fsanitize=thread'
	unset TSAN_OPTIONS FIRE_S TESTS_ONLY
	for race in "$work"/tsan-race.*; do
		[ ! -e "$race" ]
		step "tsan: no race in the mount: see $race" $?
	done
}
