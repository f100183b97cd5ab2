"""Answers about the conversation itself, from its transcript and actions."""

from __future__ import annotations

import re

from offline_model.action_kinds.classifier import classify_clause
from offline_model.action_kinds.clause import clause_of
from offline_model.action_kinds.kinds import ActionKind
from offline_model.grammar.rules import read_answer
from offline_model.grammar.words import quoted_spans
from offline_model.phrases import DAYTIMES, day_word, phrase, wordings
from offline_model.prompt_reader import Action
from offline_model.reply_context import ReplyContext
from offline_model.slots import clock_time, spoken_day, spoken_time
from offline_model.translated_promises import find_translated_promises

BY_PEOPLE = re.compile(r"\b(?:colleagues?|team|kitchen|chef|manager|owner|staff)\b", re.IGNORECASE)
AT_MOST = 3
# The tool that a question about a deed asks after, by a part of its name.
DEEDS = (
    ("human", re.compile(r"\b(?:tell|told|call|pass)", re.IGNORECASE)),
    ("cancel", re.compile(r"cancel|disdett|storn|annul", re.IGNORECASE)),
    ("book", re.compile(r"book|reserv|prenot|gebucht|réserv", re.IGNORECASE)),
    ("send", re.compile(r"sen[dt]|text|mail|mandat|inviat|geschickt|gesendet|envoy|enviad|mandad", re.IGNORECASE)),
)


def last_statement(turn: ReplyContext) -> str:
    """The agent's last message without a greeting, or the message that it repeated in that one."""
    said = turn.last_agent.strip()
    for hello in DAYTIMES.get(turn.language, DAYTIMES["en"]):
        said = said.removeprefix(phrase("greet", turn.language, daytime=hello, business=turn.business_name)).strip()
    return _quoted_after("again", said, turn.language) or said


def is_recital(turn: ReplyContext, said: str) -> bool:
    """True for a message that lists promises, which is told again as it is."""
    return bool(_quoted_after("promised", said, turn.language))


def promises_made(turn: ReplyContext) -> list[str]:
    """The agent's latest promises in its own words, without those that it only repeated."""
    found = dict.fromkeys(words for line in turn.before if line.role == "agent" for words in _promises_in(line.content))
    return list(found)[-AT_MOST:]


def _promises_in(text: str) -> list[str]:
    readings = [one for one in read_answer(text) if one.rule is None]
    own = []
    for reading in readings:
        words = reading.sentence.words
        sentence = text[words[0].start : words[-1].end].rstrip(" ,;:")
        kinds = classify_clause(clause_of(reading, reach=reading.predicate.end)) - {ActionKind.GOODBYE}
        if kinds or BY_PEOPLE.search(sentence):
            own.append(sentence if sentence.endswith((".", "!", "?")) else f"{sentence}.")
    return own or [f"{words}." for _, words in find_translated_promises(text)]


def _quoted_after(key: str, said: str, language: str) -> str:
    """The quotation in a message that begins as the phrase does."""
    opening = wordings(key, language)[0].split("{said}")[0]
    if not said.startswith(opening.rstrip("“«„ ")):
        return ""
    spans = quoted_spans(said)
    return said[spans[0][0] + 1 : spans[0][1] - 1].strip() if spans else ""


def known_facts(turn: ReplyContext) -> str:
    """The customer's own details, as one list; empty if there are none."""
    slots, language = turn.slots, turn.language
    time, party = slots.get("time"), slots.get("party_size")
    clock = (spoken_time(time) if language == "en" else clock_time(time)) if time else ""
    found = [
        slots.get("name"),
        slots.get("phone"),
        slots.get("email"),
        day_word(spoken_day(slots.get("date")), language) if slots.get("date") else "",
        clock,
        phrase("people", language, party=party) if party else "",
    ]
    return ", ".join(one for one in found if one)


def deed_state(turn: ReplyContext) -> str:
    """The phrase that says how the deed stands which the customer asks after."""
    wanted = next((name for name, pattern in DEEDS if pattern.search(turn.said)), "")
    asked = [action for action in turn.actions if wanted in action.name] if wanted else turn.actions
    return _phrase_of(asked[-1]) if asked else "not_done"


def _phrase_of(action: Action) -> str:
    if action.is_done or action.state == "not repeated":
        return "done"
    if action.is_pending:
        return "uncertain" if "checked by a colleague" in action.state else "pending_other"
    return "failed" if action.state.startswith("failed") else "not_done"
