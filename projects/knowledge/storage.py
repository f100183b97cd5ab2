"""The limit of storage, which a room below checks."""

from __future__ import annotations

from collections.abc import Callable

from projects.common.hooks import Hook
from projects.models import Project

# Admit contents of a number of bytes. Raises Conflict if the storage is full.
admit_bytes: Hook[Callable[[Project, int], None]] = Hook("admit_bytes")
