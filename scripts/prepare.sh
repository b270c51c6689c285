# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154 # sourced
# Sourced by demo and check: installs what is missing, builds. Needs $top, the source folder.

# What the build cannot do without, what the tests want, and ./check full besides, as Debian names them.
BUILD_PACKAGES='gcc make autoconf automake libtool pkg-config libfuse3-dev fuse3 libjansson-dev libpcre2-dev
	libutf8proc-dev libpng-dev libxxhash-dev libssl-dev libseccomp-dev libedit-dev'
TEST_PACKAGES='attr jq procps python3 python3-numpy util-linux e2fsprogs binutils lcov'
FULL_PACKAGES='clang libclang-rt-14-dev libomp-14-dev qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross'

say() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
}

# missing PACKAGE...: those that are not installed
missing() {
	for p; do
		dpkg-query -W -f='${db:Status-Abbrev}' "$p" 2>/dev/null | grep -q '^ii' || printf '%s ' "$p"
	done
}

# The word that makes a command run as root: empty for root, sudo where it asks no password; fails where neither serves.
as_root() {
	if [ "$(id -u)" = 0 ]; then
		:
	elif sudo -n true 2>/dev/null; then
		echo sudo
	else
		return 1
	fi
}

# install PACKAGE...: brings what is missing; says what it cannot bring
install_packages() {
	command -v dpkg-query >/dev/null || {
		say "no dpkg here: make sure that these (Debian's names) are installed: $*"
		return 0
	}
	want=$(missing "$@")
	[ -n "$want" ] || return 0
	if ! root=$(as_root); then
		say "packages are missing, and only root can install them: apt-get install --no-install-recommends $want"
		return 0
	fi
	say "installing $want"
	# shellcheck disable=SC2086 # words are meant to be split
	$root apt-get -qq update >&2
	# shellcheck disable=SC2086
	$root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $want \
		</dev/null >/dev/null || say "could not install all of: $want"
}

# Whether these are installed; where dpkg cannot tell, the build will.
have_packages() {
	! command -v dpkg-query >/dev/null || [ -z "$(missing "$@")" ]
}

# Makes configure where it is not there, or older than its source; $1 is a file for what that prints.
make_configure() {
	[ -x "$top/configure" ] && [ -z "$(find "$top/configure.ac" -newer "$top/configure")" ] && return
	command -v autoreconf >/dev/null || {
		say 'cannot build: no autoreconf (it comes with autoconf; automake and libtool are needed too)'
		return 1
	}
	(cd "$top" && autoreconf -fi >"$1" 2>&1) || {
		tail -n 20 "$1" >&2
		say 'autoreconf failed'
		return 1
	}
}

# build DIR [CONFIGURE ARGUMENT...]: configures and makes in DIR, where that is not done; $goals: what is made
build() {
	dir=$1
	shift
	mkdir -p "$dir" || return
	make_configure "$dir/autoreconf.log" || return
	[ ! -f "$top/config.status" ] || {
		say "$top is configured itself, which a folder of its own does not go with: run make distclean there first"
		return 1
	}
	[ -f "$dir/Makefile" ] || say "building in $dir: the first time takes minutes"
	(
		cd "$dir" || exit
		[ -f Makefile ] || "$top/configure" -q "$@" >configure.log 2>&1 || {
			tail -n 20 configure.log >&2
			say "configure failed: see $dir/configure.log"
			exit 1
		}
		# shellcheck disable=SC2086 # names
		make -s -j"$(nproc)" ${goals-} >make.log 2>&1 || {
			grep -E 'error|warning' make.log | head -n 20 >&2
			say "make failed: see $dir/make.log"
			exit 1
		}
	)
}
