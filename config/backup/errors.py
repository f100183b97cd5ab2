"""The error that is shown without a traceback."""

from __future__ import annotations


class BackupError(Exception):
    """The backup or restore was refused or failed. The message says what to do."""
