from __future__ import annotations

from tests.calls.conftest import turns as turns
