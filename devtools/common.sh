# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors
# shellcheck shell=bash
#
# Shared by the scripts in this folder, which source it. Works in the tree's top folder.

set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# An absolute path may be given; a relative one is relative to the tree.
# shellcheck disable=SC2034 # for those who source this
BUILD=$(realpath -m "${MEMIC_BUILD:-build}")

say() {
	printf '== %s\n' "$*"
}

die() {
	printf '%s: %s\n' "$(basename "$0")" "$*" >&2
	exit 1
}

# Run a command; its output is shown only if it fails.
quietly() {
	local log status=0

	log=$(mktemp)
	"$@" >"$log" 2>&1 || status=$?
	if [ "$status" -ne 0 ]; then
		cat "$log" >&2
		printf '%s: "%s" failed with status %d\n' "$(basename "$0")" "$*" "$status" >&2
	fi
	rm -f "$log"
	return "$status"
}

# Files of the tree as git knows them, or as they lie in a tarball.
tree_files() {
	local file

	{
		git ls-files --cached --others --exclude-standard 2>/dev/null ||
			find . -type f -not -path './build*' -not -path './.git/*' \
				-not -path '*/__pycache__/*' -printf '%P\n'
	} | while read -r file; do
		[ ! -f "$file" ] || echo "$file"
	done
}

# Names in a list of packages.
listed_packages() {
	grep -v '^#' "$1"
}

# Those of them that are not installed.
missing_packages() {
	local -a names

	mapfile -t names < <(listed_packages "$1" | sort)
	# one question for all, as each costs what it takes to read dpkg's database
	comm -23 <(printf '%s\n' "${names[@]}") \
		<(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${names[@]}" 2>/dev/null |
			sed -n 's/^installed //p' | sort -u)
}

# Those of devtools/packages or of another list.
install_packages() {
	local list=${1:-devtools/packages}
	local -a missing

	command -v dpkg-query >/dev/null ||
		die "not a Debian: install what $list names by hand"
	mapfile -t missing < <(missing_packages "$list")
	[ "${#missing[@]}" -gt 0 ] || return 0
	[ "$(id -u)" -eq 0 ] || die "not root, cannot install: ${missing[*]}"
	say "installing ${#missing[@]} packages: ${missing[*]}"
	export DEBIAN_FRONTEND=noninteractive
	# one broken source among others need not be ours
	quietly apt-get -q update || say "going on with the package lists there are"
	quietly apt-get -q install -y --no-install-recommends "${missing[@]}"
}

# What runs testpmd on the software card, as ninja names it.
# shellcheck disable=SC2034
RUNTIME=(app/mlx5emu/mlx5emu lib/mlx5emu/libmlx5emu.so
	drivers/mempool/mlx5_memic/librte_mempool_mlx5_memic.so."$(<ABI_VERSION)")

# Folder, compiler and what to build (default: all). Configured once, later runs build
# what has changed.
build() {
	local folder=$1 compiler=$2
	shift 2

	say "building with $compiler in $folder"
	if [ ! -f "$folder/build.ninja" ]; then
		CC=$compiler quietly meson setup --werror "$folder"
	fi
	quietly ninja -C "$folder" "$@"
}

# Primary and secondary processes share memory in huge pages only: their tests are skipped
# without. Others may reserve some meanwhile, so what counts is how many more there are.
HUGE_PAGES=${HUGE_PAGES:-/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages}

# Prints how many were added.
add_huge_pages() {
	local before after

	before=$(<"$HUGE_PAGES")
	echo $((before + $1)) >"$HUGE_PAGES"
	after=$(<"$HUGE_PAGES")
	echo $((after - before))
}

# Reserve some until the script and all that it has started have ended, however they end:
# then nobody writes any more to the pipe that a process apart reads. A trap would not do,
# as bash may die of a signal without it when a command is just being started.
reserve_huge_pages() {
	local added

	if [ "$(id -u)" -ne 0 ] || [ ! -w "$HUGE_PAGES" ]; then
		say "cannot reserve huge pages: tests of secondary processes will be skipped"
		return 0
	fi
	added=$(add_huge_pages "$1")
	# shellcheck disable=SC2034 # it is enough that it is open
	exec {huge_pages_held}> >(
		trap '' INT TERM HUP
		exec >/dev/null 2>&1
		cat
		add_huge_pages "-$added"
	)
	say "$added huge pages of 2 MiB are reserved until the end"
}
