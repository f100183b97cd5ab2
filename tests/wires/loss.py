"""A router that loses some packets: each passes a program of ours, which forwards it or not."""

from __future__ import annotations

import fcntl
import os
import random
import select
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.wires.hosts import Host, Network

_DEVICE = "lossy"
_TABLE = "213"
_TUNSETIFF = 0x400454CA
_TUN_WITHOUT_HEADER = 0x0001 | 0x1000
_LONGEST_PACKET = 65_536


@dataclass
class Counts:
    """The packets that came to the router."""

    passed: int = 0
    lost: int = 0


@contextmanager
def packet_loss(network: Network, *, share: float) -> Iterator[Counts]:
    """Lose a share of all packets between hosts, in both directions."""
    router = Host("router", "", f"{network._prefix}router")
    device = _open_device(router)
    counts, has_ended = Counts(), threading.Event()
    forwarding = threading.Thread(target=_forward, args=(device, counts, share, random.Random(1), has_ended))
    forwarding.start()
    links = [f"to-{name}"[:15] for name in network.hosts]
    try:
        for link in links:
            _ip(router, "rule", "add", "iif", link, "lookup", _TABLE)
        yield counts
    finally:
        for link in links:
            _ip(router, "rule", "del", "iif", link, "lookup", _TABLE)
        has_ended.set()
        forwarding.join()
        os.close(device)


def _open_device(router: Host) -> int:
    """A network device of the router whose packets this process reads. What it writes is routed as if it had arrived."""
    with router.entered():
        device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH", _DEVICE.encode(), _TUN_WITHOUT_HEADER))
        # Its packets come from elsewhere than their answers go.
        for name in ("all", _DEVICE):
            Path(f"/proc/sys/net/ipv4/conf/{name}/rp_filter").write_text("0")
    _ip(router, "link", "set", _DEVICE, "up")
    _ip(router, "route", "add", "default", "dev", _DEVICE, "table", _TABLE)
    return device


def _forward(device: int, counts: Counts, share: float, chance: random.Random, has_ended: threading.Event) -> None:
    while not has_ended.is_set():
        if not select.select([device], [], [], 0.1)[0]:
            continue
        packet = os.read(device, _LONGEST_PACKET)
        if chance.random() < share:
            counts.lost += 1
        else:
            os.write(device, packet)
            counts.passed += 1


def _ip(router: Host, *words: str) -> None:
    subprocess.run(["ip", "-n", router.namespace, *words], check=True)
