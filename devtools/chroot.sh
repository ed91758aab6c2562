# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors
# shellcheck shell=bash
#
# Other releases of Debian in folders, made by debootstrap and entered without leaving
# anything mounted. To be sourced after common.sh.

# What is tested; how the last one fares decides nothing, as it changes by the day.
RELEASES=(bookworm trixie testing)
# shellcheck disable=SC2034 # for those who source this
ADVISORY=testing

# Where they are kept from one run to the next.
# shellcheck disable=SC2034 # for those who source this
CHROOT_CACHE=$(realpath -m "${MEMIC_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/dpdk-memic}")

# After so many days a release that still changes is brought up to date.
CHROOT_DAYS=7

# One of RELEASES, or the end.
chroot_known() {
	local release

	for release in "${RELEASES[@]}"; do
		[ "$release" != "$1" ] || return 0
	done
	die "'$1' is none of the releases ${RELEASES[*]}"
}

# Where this machine's apt gets its release of Debian from, and thus others are to be had.
debian_source() {
	# shellcheck disable=SC2016 # apt fills these in
	apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' \
		"Created-By: Packages" "Origin: Debian" 2>/dev/null |
		awk '$1 !~ /-/ && $2 == "main" && $3 ~ /^https?:/ { print $3; exit }'
}

# The same, also where no lists of packages were fetched so far.
chroot_mirror() {
	local uri

	uri=$(debian_source) || true
	if [ -z "$uri" ]; then
		quietly apt-get -q update || true
		uri=$(debian_source) || true
	fi
	[ -n "$uri" ] || {
		echo "apt of this machine has no source of Debian by http" >&2
		return 1
	}
	echo "$uri"
}

# Version of a package as its authors count, out of the distribution's.
upstream_version() {
	local version=${1#*:}

	version=${version%-*}
	echo "${version%%[+~]*}"
}

# What stands in the way of making and entering one here; nothing if nothing does.
chroot_obstacle() {
	if [ "$(id -u)" -ne 0 ]; then
		echo "not root"
	elif ! unshare --mount --pid --fork --propagation private true 2>/dev/null; then
		echo "no mount and process namespaces can be made here"
	elif ! command -v debootstrap >/dev/null; then
		echo "no debootstrap"
	fi
}

# Proxies as NAME=VALUE, by which commands reach the mirror.
chroot_proxies() {
	local name value

	for name in http https no; do
		value=${name}_proxy
		value=${!value:-}
		if [ -z "$value" ] && [ "$name" != no ]; then
			value=$(apt-config shell V "Acquire::$name::Proxy" |
				sed "s/^V='\(.*\)'$/\1/")
			[ "$value" != DIRECT ] || value=
		fi
		[ -z "$value" ] || printf '%s_proxy=%s\n' "$name" "$value"
	done
}

# The way of this machine to the network: names, certificates, settings of apt.
chroot_network() {
	local folder=$1 file

	for file in /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt; do
		[ -f "$file" ] || continue
		mkdir -p "$folder${file%/*}"
		cp --remove-destination -L "$file" "$folder$file"
	done
	mkdir -p "$folder/etc/apt/trusted.gpg.d" "$folder/etc/apt/apt.conf.d"
	for file in /etc/apt/trusted.gpg.d/*; do
		[ ! -f "$file" ] || cp -L "$file" "$folder/etc/apt/trusted.gpg.d/"
	done
	apt-config dump | grep '^Acquire::' | grep -v '^Acquire::IndexTargets' \
		>"$folder/etc/apt/apt.conf.d/99host"
}

# RELEASE FOLDER: the base of a release, unless it is there already.
chroot_make() {
	local release=$1 folder=$2 mirror
	local -a proxies

	if [ -f "$folder/etc/debian_version" ]; then
		chroot_network "$folder"
		return 0
	fi
	mirror=$(chroot_mirror) || return 1
	mapfile -t proxies < <(chroot_proxies)
	say "making a Debian $release in $folder"
	# half a one must not be taken for a whole one by the next run
	rm -rf --one-file-system "$folder.part"
	mkdir -p "$folder.part"
	quietly unshare --mount --propagation private env "${proxies[@]}" debootstrap \
		--variant=minbase "$release" "$folder.part" "$mirror" || return 1
	chroot_network "$folder.part"
	# what a power failure spoils is made again
	echo force-unsafe-io >"$folder.part/etc/dpkg/dpkg.cfg.d/dpdk-memic"
	mv "$folder.part" "$folder"
}

# Runs as first process of its namespaces: mounts, and makes the folder the root. By
# pivot_root, as the kernel gives no user namespace to whoever is in a chroot
# (kernel/user_namespace.c, create_user_ns).
# shellcheck disable=SC2016
CHROOT_ENTER='set -euo pipefail
root=$1
shift
mount --rbind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
cd "$root"
pivot_root . .
umount -l .
cd /
status=0
"$@" || status=$?
exit $status'

# FOLDER COMMAND...: run it there, as root, with a clean environment. What it mounts and
# starts ends with it.
chroot_run() {
	local folder=$1
	local -a proxies
	shift

	mapfile -t proxies < <(chroot_proxies)
	env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
		LC_ALL=C.UTF-8 "${proxies[@]}" \
		unshare --mount --pid --fork --kill-child --propagation private \
		bash -c "$CHROOT_ENTER" chroot "$(realpath "$folder")" "$@"
}

# FOLDER PACKAGE...: those that are not installed there yet.
chroot_missing() {
	local folder=$1 installed
	shift

	# shellcheck disable=SC2016 # dpkg fills these in
	installed=$(chroot_run "$folder" dpkg-query -W \
		-f '${db:Status-Status} ${Package} ${Package}:${Architecture}\n' |
		sed -n 's/^installed //p')
	printf '%s\n' "$@" | grep -vxF -f <(tr ' ' '\n' <<<"$installed") || true
}

# FOLDER PACKAGE...: install them, and now and then bring all up to date.
chroot_install() {
	local folder=$1 stamp=$1/var/lib/dpdk-memic
	local -a missing apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q)
	shift

	mapfile -t missing < <(chroot_missing "$folder" "$@")
	if [ -n "$(find "$stamp" -mtime "-$CHROOT_DAYS" 2>/dev/null)" ]; then
		[ "${#missing[@]}" -gt 0 ] || return 0
	fi
	quietly chroot_run "$folder" "${apt[@]}" update ||
		say "going on with the package lists there are"
	quietly chroot_run "$folder" "${apt[@]}" -y dist-upgrade || return 1
	if [ "${#missing[@]}" -gt 0 ]; then
		say "installing ${#missing[@]} packages in $folder"
		quietly chroot_run "$folder" "${apt[@]}" install -y --no-install-recommends \
			"${missing[@]}" || return 1
		chroot_run "$folder" apt-get clean
	fi
	touch "$stamp"
}

# FOLDER: the tree as it is now, and nothing else.
copy_tree() {
	mkdir -p "$1"
	tree_files | /usr/bin/python3 devtools/copy_tree.py "$1"
}
