"""The offline provider of calls, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.processes import ROOT, until


@dataclass
class Provider:
    """The offline provider of calls in its own process."""

    url: str

    def answers(self) -> bool:
        try:
            return bool(self.door("health"))
        except OSError:
            return False

    def door(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/doors/{path}", data=data)
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=10) as answer:
            return dict(json.load(answer))


@contextmanager
def offline_calls(port: int) -> Iterator[Provider]:
    """Serve the provider until the end."""
    process = subprocess.Popen([sys.executable, "-m", "offline_model.realtime", "--port", str(port)], cwd=ROOT)
    provider = Provider(f"http://127.0.0.1:{port}")
    try:
        until(provider.answers, what="the provider")
        yield provider
    finally:
        process.kill()
        process.wait()
