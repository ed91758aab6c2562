# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors
# shellcheck shell=bash
#
# Completion of dpdk-memic-perf's command line.

_dpdk_memic_perf() {
	local current=${COMP_WORDS[COMP_CWORD]}

	case ${COMP_WORDS[COMP_CWORD - 1]} in
	--test) mapfile -t COMPREPLY < <(compgen -W "get_put pktmbuf create start copy" \
		-- "$current") ;;
	--json | --csv) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
	--rounds | --mbufs) COMPREPLY=() ;;
	*) mapfile -t COMPREPLY < <(compgen -W "--test --json --csv --rounds --mbufs --quick
		--help --version" -- "$current") ;;
	esac
}

complete -F _dpdk_memic_perf dpdk-memic-perf
