# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors
# shellcheck shell=bash
#
# Completion of dpdk-memic-info's command line.

_dpdk_memic_info() {
	local current=${COMP_WORDS[COMP_CWORD]} words

	case ${COMP_WORDS[COMP_CWORD - 1]} in
	--device) words=$(ls /sys/class/infiniband 2>/dev/null) ;;
	--alloc) words="MEMIC: STEERING_SW_ICM: HEADER_MODIFY_SW_ICM:
		HEADER_MODIFY_PATTERN_SW_ICM: ENCAP_SW_ICM:" ;;
	--port | --removal) words= ;;
	*) words="--device --alloc --probe --port --removal --json --help --version" ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
	[[ ${COMPREPLY[0]-} != *: ]] || compopt -o nospace 2>/dev/null
}

complete -F _dpdk_memic_info dpdk-memic-info
