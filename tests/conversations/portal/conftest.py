from __future__ import annotations

from tests.conversations.tool_runs.conftest import turns as turns
