"""The last migration of each app in each release, for the check of later migrations."""

from __future__ import annotations

RELEASES: dict[str, dict[str, str]] = {
    "0.1.0": {
        "conversations": "0005_turn_call_said",
        "jobs": "0001_initial",
        "projects": "0003_idempotency_callers",
        "todos": "0001_initial",
        "tools": "0004_promise_by_conversation",
    },
}
LATEST = next(reversed(RELEASES))
