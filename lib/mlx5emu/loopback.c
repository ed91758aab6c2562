/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memic authors
 */

#include <string.h>

#include "emu.h"
#include "eswitch.h"

#define ETH_LEN 14
#define VLAN_LEN 4
#define ADDR_LEN 6

/*
 * The switch in front of a function sends back what goes to the function's own address,
 * if local loopback is enabled. The kernel's mlx5_ib enables it while a TIR exists that
 * allows it (create_raw_packet_qp_tir() in hw/mlx5/qp.c), and its self test of the
 * interface does the same (mlx5e_test_loopback() in core/en_selftest.c): no cable is
 * needed, but the interface must be up. In switchdev mode a rule sends all frames of a
 * queue to its port instead (see eswitch.h). The address is the function's own one; those
 * that are added to the interface later are not followed.
 *
 * Nothing of this crosses the port, so it is not counted as traffic of the port.
 */
static bool
stays_inside(const struct emu_dev *dev, const uint8_t *frame)
{
	return dev->self_lb > 0 && !emu_eswitch_on(dev) &&
	       dev->cfg->fault.loopback != EMU_LOOP_OFF &&
	       memcmp(frame, dev->mac, ADDR_LEN) == 0;
}

bool
emu_loopback(struct emu_dev *dev, uint8_t *frame, size_t len)
{
	if (!stays_inside(dev, frame))
		return false;
	dev->stats.looped_frames++;
	emu_vport_count(&dev->tx, frame, len);
	/* what rules on the way out drop does not get to the switch */
	if (!emu_steer_transmit(dev, frame, len))
		return true;
	if (dev->link_down || (dev->mtu != 0 && len > dev->mtu + ETH_LEN + VLAN_LEN)) {
		dev->stats.rx_dropped++;
		return true;
	}
	if (dev->cfg->fault.loopback == EMU_LOOP_CORRUPTS)
		frame[len - 1] ^= 1;
	emu_steer_loopback(dev, frame, len);
	return true;
}
