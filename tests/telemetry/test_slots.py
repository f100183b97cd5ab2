"""Names of processes: each belongs to one that lives."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

import pytest

from telemetry import recording, slots
from telemetry.exposition import live_metrics
from telemetry.families import record_noted
from telemetry.metrics import TURNS
from telemetry.recording import begin_recording, end_recording, own_slot
from telemetry.slots import live_slots, take_slot


def test_each_process_gets_a_name_of_its_own(tmp_path: Path) -> None:
    held = [take_slot(tmp_path, "web") for _ in range(3)]
    assert [slot.name for slot in held] == ["web-0", "web-1", "web-2"]
    assert live_slots(tmp_path) == ["web-0", "web-1", "web-2"]
    for slot in held:
        slot.release()


def test_a_free_name_is_given_again(tmp_path: Path) -> None:
    first, second = take_slot(tmp_path, "web"), take_slot(tmp_path, "web")
    first.release()
    again = take_slot(tmp_path, "web")
    assert again.name == "web-0"
    again.release()
    second.release()


def test_a_reader_does_not_take_a_name_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It locks a name for a moment, to see whether its process lives."""
    take_slot(tmp_path, "web").release()
    monkeypatch.setattr(slots, "PAUSE_SECONDS", 0.1)
    descriptor = os.open(tmp_path / "web-0.lock", os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    threading.Timer(0.2, os.close, [descriptor]).start()
    slot = take_slot(tmp_path, "web")
    assert slot.name == "web-0"
    slot.release()


def test_figures_of_the_dead_are_deleted(tmp_path: Path) -> None:
    take_slot(tmp_path, "web").release()
    left = tmp_path / "counter_web-0.db"
    left.write_bytes(b"left")
    assert live_slots(tmp_path) == []
    assert not left.exists()


@pytest.fixture
def recorded(tmp_path: Path):
    begin_recording("test", directory=tmp_path)
    yield tmp_path
    end_recording()


def value_of(directory: Path, name: str, **labels: str) -> float | None:
    samples = [sample for metric in live_metrics(directory) for sample in metric.samples if sample.name == name]
    return next((sample.value for sample in samples if labels.items() <= sample.labels.items()), None)


def test_what_is_noted_is_recorded_together(recorded: Path) -> None:
    for _ in range(3):
        TURNS.inc("done", "message")
    assert value_of(recorded, "makegood_turns_total") is None
    record_noted()
    assert value_of(recorded, "makegood_turns_total", status="done", process="test-0") == 3


def test_nothing_is_noted_before_the_beginning() -> None:
    TURNS.inc("done", "message")
    record_noted()
    assert own_slot() == ""


def test_the_end_leaves_no_figures(tmp_path: Path) -> None:
    begin_recording("test", directory=tmp_path)
    assert list(tmp_path.glob("*.db"))
    end_recording()
    assert not list(tmp_path.glob("*.db"))


def test_a_forked_process_records_nothing_of_its_parents(recorded: Path) -> None:
    """And doesn't hold its name."""
    pid = os.fork()
    if pid == 0:
        os._exit(0 if own_slot() == "" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert own_slot() == "test-0"


def test_a_directory_that_cannot_be_used_is_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Metrics must not stop a process from starting."""
    (tmp_path / "file").write_text("")
    begin_recording("test", directory=tmp_path / "file")
    assert "There are no metrics" in caplog.text
    assert own_slot() == ""


def test_space_is_reserved_so_that_a_full_disk_kills_nobody(recorded: Path) -> None:
    for file in recorded.glob("*.db"):
        assert file.stat().st_blocks * 512 >= recording.RESERVED_BYTES


def test_tenants_are_a_label_only_where_the_operator_asks(tmp_path: Path, tenant) -> None:
    begin_recording("test", directory=tmp_path, names_tenants=True)
    try:
        TURNS.inc("done", "message", tenant=tenant.organization.pk)
        record_noted()
        assert value_of(tmp_path, "makegood_turns_total", organization=str(tenant.organization.pk)) == 1
    finally:
        end_recording()
