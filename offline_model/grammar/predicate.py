"""Predicates with subject, tense, mood and clause marker."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from offline_model.grammar.verbs import Form


class Subject(StrEnum):
    """Grammatical subject of a predicate."""

    AGENT = "agent"
    """I, we, our team; also the unsaid subject of "Sending it now"."""
    YOU = "you"
    """You; also the unsaid subject of a request ("Tell me…")."""
    OTHER = "other"


class Mood(StrEnum):
    """Mood of a predicate."""

    PLAIN = "plain"
    """No modal verb."""
    COMMIT = "commit"
    """will, going to, about to, let me."""
    OFFER = "offer"
    """can, could, may, might, would, happy to, would like to."""
    NEED = "need"
    """have to, need to, must."""
    REQUEST = "request"
    """An imperative."""


class Marker(StrEnum):
    """Marker that opens a clause."""

    NONE = ""
    IF = "if"
    AFTER = "after"
    """once, after, when, as soon as, until: the clause comes first in time."""
    BEFORE = "before"
    WHILE = "while"
    SO_THAT = "so that"
    TO = "to"
    WITHOUT = "without"
    HOW_ABOUT = "how about"
    REASON = "because"
    RELATIVE = "which"


@dataclass
class Predicate:
    """One clause's verb with its features; `start`, `verb_at` and `end` count words of its sentence."""

    start: int
    verb_at: int
    end: int
    lemma: str
    form: Form
    subject: Subject
    mood: Mood = Mood.PLAIN
    marker: Marker = Marker.NONE
    is_negated: bool = False
    is_perfect: bool = False
    is_past: bool = False
    is_progressive: bool = False
    is_passive: bool = False
    is_question: bool = False
    is_new_clause: bool = True
    """False when it shares the subject of the predicate before it ("…and text you")."""
    flags: set[str] = field(default_factory=set)
    """Adverbs that matter: still, already, then, first, later, maybe, habit, now, conj, comma."""
    governor: int | None = None
    """Index of the predicate this one depends on."""
