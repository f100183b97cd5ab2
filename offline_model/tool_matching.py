"""Tool classification by name and description."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from offline_model.action_kinds.clause import Clause
from offline_model.action_kinds.kinds import ActionKind
from offline_model.action_kinds.lexicon import EMPTY
from offline_model.grammar.verbs import verb_of
from offline_model.prompt_reader import ToolText
from offline_model.wordlist import words

IDLE = words(
    """
    tool the a an of or and to for with by in on url info information details service services product when if
    that this is are be
    """
)
KINDS: tuple[tuple[ActionKind, frozenset[str], frozenset[str]], ...] = (
    (ActionKind.GOODBYE, words("end close finish hang goodbye"), words("conversation call chat up session")),
    (
        ActionKind.ZIP,
        words("check verify lookup validate"),
        words("zip zipcode code postal postcode served area location coverage service"),
    ),
    (ActionKind.PRODUCT, words("check verify lookup"), words("product products stock item items inventory")),
    (
        ActionKind.AVAILABILITY,
        words("check find lookup search get verify"),
        words("availability table slot slots calendar free times"),
    ),
    (
        ActionKind.SEARCH,
        words("search find lookup look up get retrieve"),
        words("booking bookings reservation reservations appointment appointments"),
    ),
    (ActionKind.CANCEL, words("cancel delete"), words("booking reservation appointment bookings")),
    (ActionKind.BOOKING, words("create book make add reserve new"), words("booking reservation appointment table")),
    (ActionKind.EMAIL, words("send"), words("email mail e caller customer")),
    (ActionKind.SMS, words("send text"), words("sms text message caller customer")),
    (
        ActionKind.TRANSFER,
        words("transfer connect forward hand escalate handoff"),
        words("call human agent over caller operator person customer conversation"),
    ),
    (ActionKind.MEETING, words("create schedule book make add"), words("meeting event calendar")),
)
ACTIONS: tuple[frozenset[str], ...] = (
    words(
        """
    notify tell inform alert know mention pass flag warn relay report update forward aware message
    """
    ),
    words("send text email mail message share forward"),
    words("book reserve hold keep save secure block"),
    words("create open add register log file record submit raise make note enter issue"),
    words("check look verify see find search pull review confirm"),
    words("cancel remove delete void"),
    words("order request place arrange organise organize schedule"),
    words("charge refund pay credit return"),
    words("transfer connect escalate hand"),
    words("change update move modify edit reschedule"),
    words("start activate apply renew enable"),
    words("call ring phone contact dial"),
    words("prepare pack ship deliver dispatch bring"),
    words("print generate write"),
)


@dataclass(frozen=True)
class ToolProfile:
    """`kind` is None for a tool of the tenant's own, which is matched by its verbs and nouns."""

    kind: ActionKind | None
    verbs: frozenset[str]
    nouns: frozenset[str]
    extra_nouns: frozenset[str]


def stem(word: str) -> str:
    for ending in ("ies", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word.removesuffix("e") if len(word) > 4 else word


@lru_cache(maxsize=512)
def profile_of(tool: ToolText) -> ToolProfile:
    name = [part for part in re.split(r"[^a-z0-9]+", tool.name.lower()) if part and part != "tool"]
    kind = _kind(set(name))
    described = re.findall(r"[a-z]+", tool.description.lower())
    verbs = {lemma for word in (*name, *described[:8]) if (lemma := _lemma(word))}
    first = next((at for at, word in enumerate(name) if _is_action(word)), -1)
    nouns = {
        stem(w) for at, w in enumerate(name) if w not in IDLE and at != first and (at > first or not _is_action(w))
    }
    extra = {
        stem(w) for w in described if w not in IDLE | EMPTY and not _is_action(w) and len(w) > 3 and w not in COMMON
    }
    return ToolProfile(kind, frozenset(verbs), frozenset(nouns), frozenset(extra))


# Light verbs, with the action in the noun: "issue a refund", "place an order".
LIGHT = words(
    """
    issue make process do give place submit file create raise request get receive put arrange have
    """
)
COMMON = words(
    """
    agent customer guest caller client user business tells tell says said states state promises promise promised
    them their they will conversation explicitly action perform something anything tenant used uses when once
    """
)


def _kind(name: set[str]) -> ActionKind | None:
    """The known kind whose words cover the whole name."""
    content = name - IDLE
    if "availability" in name and name & {"product", "products", "service", "services"}:
        return ActionKind.PRODUCT
    if name & {"manage", "management"} and name & {"booking", "bookings", "reservation"}:
        return ActionKind.MANAGE_LINK
    if "zip" in name or "postcode" in name:
        return ActionKind.ZIP
    for kind, verbs, nouns in KINDS:
        if content and content & nouns and content <= verbs | nouns and content & verbs:
            return kind
    return None


def _lemma(word: str) -> str | None:
    known = verb_of(word)
    return known[0] if known else None


def _is_action(word: str) -> bool:
    lemma = _lemma(word)
    return lemma is not None and any(lemma in group for group in ACTIONS)


def custom_score(profile: ToolProfile, clause: Clause) -> int:
    """Match score of a clause and a custom tool; 0 for no match."""
    lemma = (
        "notify"
        if clause.lemma in ("let", "keep", "make") and clause.here & words("know posted aware informed")
        else clause.lemma
    )
    if not _same_action(lemma, profile.verbs) and not (lemma in LIGHT and clause.all & profile.verbs):
        return 0
    said = {stem(word) for word in clause.after}
    named, described = len(said & profile.nouns), len(said & profile.extra_nouns)
    if named:
        return 2 * named + described
    return described if described >= 2 or (described and not profile.nouns) else 0


def _same_action(lemma: str, verbs: frozenset[str]) -> bool:
    return lemma in verbs or any(lemma in group and group & verbs for group in ACTIONS)
