"""`python -m bench.tool_caller DEMO_JSON`: what the tool caller of a running `bin/serve` takes beyond its model calls.

`DEMO_JSON` is the file that `bin/serve` writes into its data directory. Six conversations of six questions each are held, one
message at a time, none of which any tool serves. The two detections run side by side, so the longer one is taken off.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
import urllib.request
from datetime import datetime
from pathlib import Path
from typing import Any

QUESTIONS = (
    "Are you open on Sunday?",
    "What is on the menu?",
    "Is there parking nearby?",
    "Do you have vegan dishes?",
    "How do I get there?",
    "Do you take cards?",
)
CONVERSATIONS = 6
PATIENCE_SECONDS = 30.0
OVER = ("done", "failed", "skipped")


class Demo:
    """The demo's API."""

    def __init__(self, document: dict[str, str]) -> None:
        self._base = f"{document['base_url']}/api/v1"
        self._headers = {"Authorization": f"Bearer {document['api_key']}", "Content-Type": "application/json"}

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self._base}{path}", data=data, headers=self._headers, method=method)  # noqa: S310 - the demo's own address
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            return json.load(answer)

    def finished_turn(self, conversation: str, turn: str) -> dict[str, Any]:
        """The turn, once its jobs are over."""
        ends_at = time.monotonic() + PATIENCE_SECONDS
        while True:
            found: dict[str, Any] = self.call("GET", f"/conversations/{conversation}/turns/{turn}")
            if all(job["state"] in OVER for job in found["jobs"]):
                return found
            if time.monotonic() > ends_at:
                raise SystemExit(f"Turn {turn} was not over within {PATIENCE_SECONDS:.0f} s.")
            time.sleep(0.1)


def beyond_its_calls(turn: dict[str, Any]) -> float:
    """Milliseconds from the beginning of the tool caller's work to its end, without the longer detection."""
    [job] = [job for job in turn["jobs"] if job["lane"] == "tool_caller"]
    span = datetime.fromisoformat(job["finished_at"]) - datetime.fromisoformat(job["started_at"])
    detections = [call["total_ms"] for call in turn["model_calls"] if call["skill"] == "detect"]
    return span.total_seconds() * 1000 - max(detections, default=0)


def main() -> None:
    demo, taken = Demo(json.loads(Path(sys.argv[1]).read_text())), []
    for number in range(CONVERSATIONS):
        persona = {"external_id": f"bench-{time.time_ns()}-{number}"}
        begun = demo.call("POST", "/conversations", {"channel": "chat", "persona": persona})["id"]
        for question in QUESTIONS:
            turn = demo.call("POST", f"/conversations/{begun}/messages?wait=30", {"content": question})["turn"]["id"]
            taken.append(beyond_its_calls(demo.finished_turn(begun, turn)))
    p95 = statistics.quantiles(taken, n=20)[-1]
    print(
        f"{len(taken)} turns: {statistics.median(taken):.1f} ms p50, {p95:.1f} ms p95 beyond the tool caller's model calls"
    )


if __name__ == "__main__":
    main()
