# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154 # sourced
# Sourced by full.sh: builds for aarch64 with the libraries of Debian's arm64, and runs the C tests under qemu-user.

ARM_LIBRARIES='libjansson-dev libjansson4 libpcre2-dev libpcre2-8-0 libutf8proc-dev libutf8proc2 libfuse3-dev libfuse3-3
	zlib1g zlib1g-dev libgomp1 libpng16-16 libpng-dev libxxhash-dev libxxhash0 libssl-dev libssl3'

# sysroot DIR: downloads and unpacks ARM_LIBRARIES below DIR; asks for no root and changes nothing outside
sysroot() {
	[ -d "$1/usr/include" ] && return
	mkdir -p "$1/apt/lists/partial" "$1/apt/cache/archives/partial" "$1/deb" && : >"$1/apt/status" || return
	apt="apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State::lists=$1/apt/lists
		-o Dir::Cache=$1/apt/cache -o Dir::State::status=$1/apt/status -o Debug::NoLocking=1"
	# shellcheck disable=SC2086 # lists of words
	(cd "$1/deb" && $apt update && $apt download $ARM_LIBRARIES) >"$1/apt/log" 2>&1 || return
	for deb in "$1"/deb/*.deb; do
		dpkg -x "$deb" "$1" || return
	done
}

run_aarch64() {
	echo "== aarch64"
	root=$work/aarch64-root
	libs=$root/usr/lib/aarch64-linux-gnu more=$root/lib/aarch64-linux-gnu
	if ! command -v qemu-aarch64 >/dev/null || ! command -v aarch64-linux-gnu-gcc >/dev/null || ! sysroot "$root"; then
		echo "SKIP: aarch64: no cross compiler, no qemu-aarch64 or no arm64 libraries"
		skipped=$((skipped + 1))
		return
	fi
	PKG_CONFIG_LIBDIR=$libs/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root \
		build "$work/aarch64" --host=aarch64-linux-gnu CFLAGS='-g -O2 -Werror' CPPFLAGS="-I$root/usr/include -I$root/usr/include/aarch64-linux-gnu" \
		LDFLAGS="-L$libs -Wl,-rpath-link,$libs:$more"
	step 'aarch64: build without a warning' $?
	[ -f "$work/aarch64/Makefile" ] || return
	make -C "$work/aarch64" -j"$(nproc)" check SH_TESTS= \
		LOG_COMPILER="./libtool --silent --mode=execute qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=$libs:$more:$work/aarch64/.libs" >"$work/aarch64/check.log" 2>&1
	count "$work/aarch64/check.log"
}
