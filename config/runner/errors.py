"""The error that is shown without a traceback."""

from __future__ import annotations


class StartError(Exception):
    """Makegood can't start. The message is one sentence that says what to do."""
