# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Which manual pages there are: document, then section, and names with descriptions."""

PAGES = {
    "mlx5emu": (1, {"mlx5emu": "run a command on a software ConnectX"}),
    "dpdk-memic-info": (1, {"dpdk-memic-info": "show and probe device memory of cards"}),
    "dpdk-memic-perf": (1, {"dpdk-memic-perf": "benchmark of the mempool driver mlx5_memic"}),
    "memic": (7, {"memic": "on-chip device memory of ConnectX NICs over verbs"}),
    "memic_device_open": (3, {
        "memic_device_open": "open a device",
        "memic_device_adopt": "take a context of one's own on an open device",
        "memic_device_close": "close a device",
        "memic_device_context": "verbs context of a device",
        "memic_device_caps": "capabilities of a device",
        "memic_bus_address": "bus address of a device",
    }),
    "memic_dm_alloc": (3, {
        "memic_dm_alloc": "allocate device memory",
        "memic_dm_alloc_most": "allocate as much device memory as can be had",
        "memic_dm_available": "how much device memory can be had now",
        "memic_dm_free": "free device memory",
    }),
    "memic_dm_addr": (3, {
        "memic_dm_addr": "the CPU's mapping of device memory",
        "memic_dm_length": "usable bytes of an allocation",
        "memic_dm_type": "type of an allocation",
        "memic_dm_verbs": "verbs object of an allocation",
        "memic_dm_map_identity": "map device memory where address and offset are the same",
    }),
    "memic_dm_share": (3, {
        "memic_dm_share": "what another process needs to map device memory",
        "memic_map_share": "map device memory once more",
        "memic_dm_map_at": "have device memory at an address of one's choice",
    }),
    "memic_dm_type_name": (3, {
        "memic_dm_type_name": "name of a type of device memory",
        "memic_dm_type_is_packet_memory": "whether packets can be in a type of device memory",
    }),
    "memic_mkey_create": (3, {
        "memic_mkey_create": "make a key to device memory",
        "memic_mkey_destroy": "destroy a key to device memory",
        "memic_mkey_lkey": "the key that work queue entries carry",
        "memic_mkey_mode": "which way a key works",
        "memic_mkey_base": "first address that queues may post",
        "memic_mkey_mode_name": "name of a way to a key",
    }),
    "memic_probe": (3, {
        "memic_probe": "put what is assumed of device memory to the test",
        "memic_probe_mkey": "find out whether frames pass through a kind of key",
        "memic_answer_name": "name of an answer",
    }),
    "memic_copy_to": (3, {
        "memic_copy_to": "copy into device memory",
        "memic_copy_from": "copy out of device memory",
        "memic_fill": "fill device memory with a byte",
    }),
    "memic_last_error": (3, {
        "memic_last_error": "what failed, in words",
        "memic_errno_name": "name of an errno",
    }),
}

if __name__ == "__main__":
    for section, names in PAGES.values():
        for name in names:
            print(f"{name}.{section}")
