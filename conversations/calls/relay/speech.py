"""The agent's words in a call: the text that Twilio was sent, and how much of it the caller has heard."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from conversations.calls.transcript import CHARACTERS_PER_SECOND
from conversations.models import MessageRole

Message = dict[str, Any]
# Roles whose messages are read to the caller. Staff's messages from the app are spoken, too.
SPOKEN_ROLES = frozenset({MessageRole.AGENT.value, MessageRole.OPERATOR.value})


@dataclass
class Passage:
    """The words of one turn, or of a message without a turn. `is_whole` is true once no more of them follow."""

    turn: UUID | None
    message: UUID | None = None
    text: str = ""
    attempt: int = 0
    is_whole: bool = False


@dataclass(frozen=True)
class Cut:
    """A passage that the caller interrupted. `heard` is what they heard of it, empty if nothing."""

    turn: UUID | None
    message: UUID | None
    heard: str


@dataclass
class Speech:
    """The passages that are being spoken, oldest first. Methods return the messages for Twilio.

    Twilio reports when the agent's voice begins and ends. Until it does, the end is an estimate.
    """

    passages: list[Passage] = field(default_factory=list)
    played: str = ""
    _is_playing: bool = False
    _ends_at: float = 0.0
    _done: set[UUID] = field(default_factory=set)

    @property
    def is_speaking(self) -> bool:
        """True while the caller hears the agent, or soon will."""
        return bool(self.passages) and (self._is_playing or time.monotonic() < self._ends_at)

    def on_token(self, token: Mapping[str, Any]) -> list[Message]:
        """Words of the reply that is being written. A new attempt says its words from the start."""
        turn = UUID(token["turn"])
        if turn in self._done:
            return []
        passage = self._passage(turn)
        if token["attempt"] != passage.attempt:
            passage.attempt, passage.text = token["attempt"], ""
        new = token["text"][max(0, len(passage.text) - token["offset"]) :]
        return self._say(passage, new)

    def on_message(self, message: Mapping[str, Any]) -> list[Message]:
        """A whole message: the rest of the words that were streamed, or all of it."""
        pk = UUID(message["id"])
        turn = UUID(message["turn"]) if message["turn"] else None
        if message["role"] not in SPOKEN_ROLES or pk in self._done or (turn is not None and turn in self._done):
            return []
        self._done |= {pk, turn} if turn else {pk}
        passage = self._passage(turn)
        passage.message, passage.is_whole = pk, True
        said = passage.text.lstrip()
        rest = message["content"][len(said) :] if message["content"].startswith(said) else f" {message['content']}"
        return self._say(passage, rest, is_last=True)

    def interrupt(self, utterance: str) -> list[Cut]:
        """The caller interrupted the agent, after they had heard `utterance`."""
        heard = heard_of("".join(passage.text for passage in self.passages), utterance)
        cuts = []
        for passage in self.passages:
            part = passage.text[: len(heard)]
            heard = heard[len(part) :]
            if len(part) < len(passage.text) or not passage.is_whole:
                cuts.append(Cut(passage.turn, passage.message, part.strip()))
        self._done |= {passage.turn for passage in self.passages if passage.turn}
        self.forget()
        return cuts

    def take_heard(self) -> list[UUID]:
        """The turns whose words were heard to their end."""
        heard = [passage.turn for passage in self.passages if passage.is_whole and passage.turn]
        self.passages = [passage for passage in self.passages if not passage.is_whole]
        if not self.passages:
            self.forget()
        return heard

    def forget(self) -> None:
        """Nothing is being spoken any more."""
        self.passages, self.played, self._is_playing, self._ends_at = [], "", False, 0.0

    def on_info(self, name: str, value: str) -> bool:
        """A report about the agent's voice. Returns True if it has ended."""
        if name == "tokensPlayed":
            self.played = f"{self.played}{value}"
        elif name == "agentSpeaking":
            was_playing, self._is_playing = self._is_playing, value == "on"
            if was_playing and not self._is_playing and all(passage.is_whole for passage in self.passages):
                self._ends_at = 0.0
                return True
        return False

    def _passage(self, turn: UUID | None) -> Passage:
        for passage in self.passages:
            if turn is not None and passage.turn == turn:
                return passage
        self.passages.append(Passage(turn))
        return self.passages[-1]

    def _say(self, passage: Passage, text: str, *, is_last: bool = False) -> list[Message]:
        passage.text += text
        self._ends_at = max(self._ends_at, time.monotonic()) + len(text) / CHARACTERS_PER_SECOND
        return [{"type": "text", "token": text, "last": is_last}] if text or is_last else []


def heard_of(text: str, utterance: str) -> str:
    """The beginning of `text` that ends with what Twilio says was heard; never a word that we didn't send.

    Spaces don't count, because Twilio joins the tokens in its own way.
    """
    wanted = "".join(utterance.split())
    if not wanted:
        return ""
    places = [place for place, letter in enumerate(text) if not letter.isspace()]
    found = "".join(text[place] for place in places).find(wanted)
    last = found + len(wanted) if found >= 0 else min(len(wanted), len(places))
    return text[: places[last - 1] + 1] if last else ""
