"""Schemathesis's command line, with a hook for what OpenAPI can't say.

Free-form values have no integers beyond 64 bits; `test_json_body.py` tests that they are refused.
"""

from __future__ import annotations

from typing import Any

import schemathesis
from schemathesis.cli import schemathesis as command_line


@schemathesis.hook
def filter_body(context: Any, body: Any) -> bool:
    return all(-(2**63) <= number < 2**63 for number in _integers(body))


def _integers(value: Any) -> list[int]:
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return [number for one in inner for number in _integers(one)]
    return [value] if isinstance(value, int) else []


if __name__ == "__main__":
    command_line()
