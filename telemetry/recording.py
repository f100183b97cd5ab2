"""The beginning and the end of a process's recording, and the files that it records into.

prometheus_client keeps the values of several processes in memory-mapped files, which any of them can read.
"""

from __future__ import annotations

import atexit
import logging
import os
import platform
import time
from dataclasses import dataclass
from pathlib import Path

from prometheus_client import CollectorRegistry, values

from telemetry.families import Family
from telemetry.metrics import INFO, PROCESS_STARTED
from telemetry.slots import FIGURES, Slot, take_slot

log = logging.getLogger(__name__)

# The kinds of files, as prometheus_client names them.
KINDS = ("counter", "histogram", "gauge_livesum")
# Writing to a mapped page that a full file system can't store kills the process, so the space is reserved. An entry
# takes about 300 bytes; with tenants as a label there are many more.
RESERVED_BYTES = 512 * 1024
RESERVED_BYTES_WITH_TENANTS = 8 * 1024 * 1024


@dataclass
class _Recording:
    slot: Slot | None = None


_recording = _Recording()


def begin_recording(role: str, *, directory: Path, names_tenants: bool = False, version: str = "") -> None:
    """Record this process's metrics from now on. Idempotent. Without a usable directory, nothing is recorded.

    Call it after the last fork. A forked child records nothing until it begins itself.
    """
    if _recording.slot is not None:
        return
    try:
        slot = take_slot(directory, role)
        _reserve(slot, RESERVED_BYTES_WITH_TENANTS if names_tenants else RESERVED_BYTES)
    except OSError as error:
        log.warning("There are no metrics: %s can't be used (%s).", directory, error.strerror or error)
        return
    _recording.slot = slot
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(directory)
    # The class of every value that is made from now on.
    values.ValueClass = values.MultiProcessValue(lambda: slot.name)  # type: ignore[no-untyped-call]
    registry = CollectorRegistry()
    for family in Family.all:
        family.begin(registry, names_tenant=names_tenants)
    PROCESS_STARTED.set(time.time())
    INFO.set(1, version, platform.python_version())


def end_recording() -> None:
    """Delete this process's figures. Idempotent."""
    slot, _recording.slot = _recording.slot, None
    if slot is not None:
        _stop()
        slot.release()


def own_slot() -> str:
    """The name of this process, or an empty string while it records nothing."""
    return _recording.slot.name if _recording.slot else ""


def _stop() -> None:
    for family in Family.all:
        family.end()
    values.ValueClass = values.MutexValue


def _reserve(slot: Slot, size: int) -> None:
    for kind in KINDS:
        # Under another name, until a reader can make something of it.
        unready = slot.directory / f"{kind}_{slot.name}.new"
        with unready.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, size)
        unready.rename(unready.with_suffix(FIGURES))


def _forget_in_child() -> None:
    """A forked child holds the parent's lock and files, and gives both up."""
    slot, _recording.slot = _recording.slot, None
    if slot is not None:
        _stop()
        os.close(slot.descriptor)


atexit.register(end_recording)
os.register_at_fork(after_in_child=_forget_in_child)
