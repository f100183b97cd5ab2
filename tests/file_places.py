"""The places of files of this process, which a test or a forked process sets after Django has read its settings."""

from __future__ import annotations

import os
from typing import Any

from django.conf import settings
from django.core.files.storage import storages

from config.file_places import file_places


def use_file_places(settings: Any = settings) -> None:
    """Set the places as MAKEGOOD_FILES does when a process starts."""
    places = file_places()
    settings.FILE_PLACES = places
    others = {name: one for name, one in settings.STORAGES.items() if "://" not in name}
    settings.STORAGES = {**others, **{name: place for name, place in places.items() if place}}
    storages.__dict__.pop("backends", None)
    storages._backends, storages._storages = None, {}


def set_file_places(monkeypatch: Any, settings: Any, *addresses: str) -> None:
    """Set MAKEGOOD_FILES for a test."""
    monkeypatch.setitem(os.environ, "MAKEGOOD_FILES", ",".join(addresses))
    use_file_places(settings)
