"""Sentences of a todo's history."""

from __future__ import annotations

from django.utils import timezone, translation

from console.timestamps import format_timestamp
from console.todos.history import HistoryEntry


def test_a_sentence_of_the_history_is_in_the_readers_language() -> None:
    with translation.override("de"):
        entry = HistoryEntry("act", "pencil", "Bearbeitet", "Lucia", "", version=2, at=format_timestamp(timezone.now()))
        assert entry.sentence == "Bearbeitet von Lucia gerade eben."
