"""Everything on one small disk that is full: PostgreSQL panics over its log of transactions, Redis refuses writes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.processes import ROOT, free_port, until

pytestmark = pytest.mark.slow

MEGABYTES = 420
FULL_SECONDS = 25
QUESTION = "Could you text me the opening hours? " + "It is for a large party. " * 100


class SmallDisk:
    """A file system in memory."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._ballast = place / "ballast"

    def fill(self) -> None:
        """Take every byte that is left."""
        file = os.open(self._ballast, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        size = 1 << 20
        while size >= 512:
            try:
                os.write(file, bytes(size))
            except OSError:
                size //= 2
        os.close(file)

    def clear(self) -> None:
        self._ballast.unlink()


@pytest.fixture
def disk() -> Iterator[SmallDisk]:
    place = Path(tempfile.mkdtemp(prefix="makegood-disk-"))
    options = f"size={MEGABYTES}m,mode=711"
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], check=False).returncode:
        place.rmdir()
        pytest.skip("Only root may mount a small disk: run this test as root.")
    yield SmallDisk(place)
    subprocess.run(["umount", "--lazy", place], check=True)
    place.rmdir()


class Site:
    """A running `bin/serve` with its demo."""

    def __init__(self, demo: dict[str, str]) -> None:
        self._demo = demo

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, Any]:
        """The status and the body of a request that has to be answered within five seconds."""
        request = urllib.request.Request(
            f"{self._demo['base_url']}/api/v1{path}",
            data=json.dumps(body).encode() if body else None,
            method=method,
            headers={"Authorization": f"Bearer {self._demo['api_key']}", "Content-Type": "application/json"},
        )
        try:
            answer: Any = urllib.request.urlopen(request, timeout=5)
        except urllib.error.HTTPError as refusal:
            answer = refusal
        with answer:
            return answer.status, json.load(answer)


@pytest.fixture
def site(disk: SmallDisk) -> Iterator[Site]:
    own = ("DATABASE_URL", "MIGRATE_DATABASE_URL", "OPS_DATABASE_URL", "REDIS_URL", "OPENAI_BASE_URL", "OPENAI_API_KEY")
    env = {name: value for name, value in os.environ.items() if name not in own}
    command = [sys.executable, "-m", "config.runner", "serve", "--port", str(free_port())]
    process = subprocess.Popen(
        command, cwd=ROOT, env={**env, "MAKEGOOD_DATA": str(disk.place)}, stdout=subprocess.DEVNULL, process_group=0
    )
    try:
        yield Site(until(lambda: _demo_of(disk), seconds=180, what="the start"))
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def _demo_of(disk: SmallDisk) -> dict[str, str] | None:
    """The demo's access, once the site answers."""
    with suppress(OSError, ValueError):
        demo: dict[str, str] = json.loads((disk.place / "demo.json").read_text())
        with urllib.request.urlopen(f"{demo['base_url']}/healthz", timeout=5):
            return demo
    return None


def test_a_full_disk_loses_nothing_and_work_goes_on_when_it_has_room(site: Site, disk: SmallDisk) -> None:
    conversations = []
    for number in range(6):
        guest = {"channel": "chat", "persona": {"external_id": f"guest {number}"}}
        conversations.append(site.call("POST", "/conversations", guest)[1]["id"])
    accepted, statuses = [], set()
    ends_at = time.monotonic() + FULL_SECONDS
    while time.monotonic() < ends_at:
        for conversation in conversations:
            status, found = site.call("POST", f"/conversations/{conversation}/messages", {"content": QUESTION})
            statuses.add(status)
            if status == 202:
                accepted.append((conversation, found["turn"]["id"]))
        disk.fill()
    disk.clear()
    assert statuses == {202, 503}

    def is_answered(conversation: str, turn: str) -> bool:
        status, found = site.call("GET", f"/conversations/{conversation}/turns/{turn}")
        states = {job["state"] for job in found.get("jobs", ())}
        return status == 200 and found["status"] in ("done", "superseded") and not states & {"queued", "running"}

    until(lambda: all(is_answered(*one) for one in accepted), seconds=30, what="the answers")
    for conversation, turn in accepted:
        jobs = site.call("GET", f"/conversations/{conversation}/turns/{turn}")[1]["jobs"]
        assert not [job for job in jobs if job["state"] == "failed"]
