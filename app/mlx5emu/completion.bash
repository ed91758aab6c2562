# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors
# shellcheck shell=bash
#
# Completion of mlx5emu's command line.

# Options, and what a value of $1 may be, for words that begin with $2.
_mlx5emu_words() {
	case $1 in
	--preset) compgen -W "cx5 cx6dx cx7 nomemic" -- "$2" ;;
	--wire) compgen -W "loop pair tap pcap: check:" -- "$2" ;;
	--fault) compgen -W "help $(mlx5emu --fault help 2>/dev/null |
		grep -oE '^  [a-z][a-z-]*=?' | tr -d ' ')" -- "$2" ;;
	--stats | --trace) compgen -f -- "$2" ;;
	--ports | --memic) ;;
	*) compgen -W "--ports --one-device --preset --memic --wire --fault --stats --trace
		--root --help --version --" -- "$2" ;;
	esac
}

_mlx5emu() {
	local i current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}

	COMPREPLY=()
	# bash makes a word of its own of each ':' and '='
	[ "$current" != = ] || current=
	[ "$before" != = ] || before=${COMP_WORDS[COMP_CWORD - 2]}
	for ((i = 1; i < COMP_CWORD; i++)); do
		[ "${COMP_WORDS[i]}" = -- ] || continue
		if ((i + 1 == COMP_CWORD)); then
			mapfile -t COMPREPLY < <(compgen -c -- "$current")
		else
			mapfile -t COMPREPLY < <(compgen -f -- "$current")
		fi
		return
	done
	mapfile -t COMPREPLY < <(_mlx5emu_words "$before" "$current")
	[[ ${COMPREPLY[0]-} != *[=:] ]] || compopt -o nospace 2>/dev/null
}

complete -F _mlx5emu mlx5emu
