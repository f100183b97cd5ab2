"""`python -m bench.turn_tools DEMO_JSON`: what a hop adds to a reply of a running `bin/serve`, beyond its model calls.

`DEMO_JSON` is the file that `bin/serve` writes into its data directory. The offline model is told to call `search_knowledge`
in every second message, and else to answer at once. What a turn took from its message to its reply, without the model's calls,
is compared: the difference is the hop with its tool.
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

from bench.tool_caller import Demo

TURNS = 60
TOOL = {"name": "search_knowledge", "arguments": {"query": "opening hours"}}
WORDS = "We are open from noon."


def script(model_url: str, step: dict[str, Any]) -> None:
    """Tell the offline model its next answer."""
    body = json.dumps({"skill": "reply", **step}).encode()
    request = urllib.request.Request(f"{model_url}/script", data=body, headers={"Content-Type": "application/json"})  # noqa: S310 - our own model
    urllib.request.urlopen(request, timeout=10).close()  # noqa: S310


def beyond_the_model(turn: dict[str, Any]) -> float:
    """Milliseconds from the beginning of the reply's work to its commit, without its model calls."""
    span = datetime.fromisoformat(turn["replied_at"]) - datetime.fromisoformat(turn["started_at"])
    asked: float = sum(call["total_ms"] for call in turn["model_calls"] if call["skill"] == "reply")
    return span.total_seconds() * 1000 - asked


def main() -> None:
    document = json.loads(Path(sys.argv[1]).read_text())
    demo, model_url = Demo(document), document["model_url"].removesuffix("/v1")
    taken: dict[bool, list[float]] = {True: [], False: []}
    for number in range(TURNS):
        if number % 10 == 0:
            persona = {"external_id": f"bench-{time.time_ns()}"}
            conversation = demo.call("POST", "/conversations", {"channel": "chat", "persona": persona})["id"]
        has_hop = bool(number % 2)
        if has_hop:
            script(model_url, {"tool_calls": [TOOL]})
        script(model_url, {"text": WORDS})
        asked = demo.call("POST", f"/conversations/{conversation}/messages?wait=30", {"content": "Are you open?"})
        turn = demo.finished_turn(conversation, asked["turn"]["id"])
        if bool(turn["steps"]) != has_hop:
            raise SystemExit(f"Turn {turn['id']} has {len(turn['steps'])} hops; is search_knowledge offered?")
        taken[has_hop].append(beyond_the_model(turn))
    without, with_hop = statistics.median(taken[False]), statistics.median(taken[True])
    print(
        f"{TURNS} turns, p50 beyond the model: {without:.1f} ms without a tool, {with_hop:.1f} ms with one hop: "
        f"{with_hop - without:.1f} ms for the hop and its tool"
    )


if __name__ == "__main__":
    main()
