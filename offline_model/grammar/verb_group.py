"""Verb group parser: auxiliaries, adverbs, negation, catenatives and the main verb."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from offline_model.grammar.lexicon import (
    ADVERB_PHRASES,
    ADVERBS,
    BE,
    CATENATIVES,
    DO,
    HAVE,
    MODALS,
    NEED_MODALS,
    NEGATIONS,
    OFFER_MODALS,
    WILL,
)
from offline_model.grammar.predicate import Mood
from offline_model.grammar.verbs import Form, guess_verb, verb_of
from offline_model.grammar.words import Word
from offline_model.wordlist import words

LONGEST_PHRASE = 4
# After these the next -ing form goes on with the same group: "keep checking", "in the middle of booking".
ONGOING = words("keep keeps keeping continue continuing busy working process middle midst")
GOING_TO_DO = frozenset({"check", "see", "look", "find", "ask", "get", "grab", "fetch", "book", "cancel", "send"})
BRIDGES = {"on", "in", "of", "the", "with"}
NO_VERBS = words("on in at with for the a an your our under from out up off about")


@dataclass
class VerbGroup:
    """Features of a verb group."""

    mood: Mood = Mood.PLAIN
    is_negated: bool = False
    has_be: bool = False
    has_being: bool = False
    has_been: bool = False
    has_have: bool = False
    is_past: bool = False
    has_do: bool = False
    has_would: bool = False
    is_trying: bool = False
    flags: set[str] = field(default_factory=set)
    verb_at: int = -1
    lemma: str = ""
    form: Form = Form.BASE

    @property
    def has_auxiliary(self) -> bool:
        return self.has_be or self.has_have or self.has_do or self.mood is not Mood.PLAIN

    @property
    def is_progressive(self) -> bool:
        return self.is_trying or (self.form is Form.GERUND and (self.has_be or self.has_been))

    @property
    def is_passive(self) -> bool:
        return self.form is Form.PAST and (self.has_be or self.has_been or self.has_being)

    @property
    def is_perfect(self) -> bool:
        had = self.has_would and self.form is Form.PAST
        return ((self.has_have and not self.is_passive) or (self.has_have and self.has_been)) or had

    @property
    def is_past_tense(self) -> bool:
        alone = self.form is Form.PAST and not self.has_be and not self.has_have and self.mood is Mood.PLAIN
        return self.is_past or (alone and not self.has_being)


def adverb_at(words: Sequence[Word], i: int) -> tuple[int, str] | None:
    """The length and flag of an adverb at `i`, or None."""
    for size in range(min(LONGEST_PHRASE, len(words) - i), 1, -1):
        flag = ADVERB_PHRASES.get(tuple(word.text for word in words[i : i + size]))
        if flag is not None:
            return size, flag
    text = words[i].text
    if text in ADVERBS:
        return 1, ADVERBS[text]
    if text.endswith("ly") and text not in ("reply", "only", "apply", "supply", "family", "italy", "july", "rely"):
        return 1, ""
    return None


def read_verb_group(words: Sequence[Word], i: int) -> VerbGroup | None:
    """The verb group that starts at `i`; None when no verb comes."""
    group = VerbGroup()
    while i < len(words):
        if words[i].is_mark:
            after = _after_interjection(words, i)
            if after is None:
                return None
            i = after
            continue
        step = _adverb(words, i, group) or _auxiliary(words, i, group) or _catenative(words, i, group)
        if step:
            i += step
            continue
        return _with_verb(words, i, group)
    return None


def _after_interjection(words: Sequence[Word], i: int) -> int | None:
    """Position after an interjection such as ", of course,"; None if the mark ends the group."""
    if words[i].text != ",":
        return None
    j = i + 1
    while j < len(words) and (found := adverb_at(words, j)):
        j += found[0]
    return j + 1 if i + 1 < j < len(words) and words[j].text == "," else None


def _adverb(words: Sequence[Word], i: int, group: VerbGroup) -> int:
    found = adverb_at(words, i)
    if not found:
        return 0
    size, flag = found
    if flag == "not":
        group.is_negated = True
    elif flag:
        group.flags.add(flag)
    return size


def _auxiliary(words: Sequence[Word], i: int, group: VerbGroup) -> int:
    text = words[i].text
    if text in NEGATIONS:
        group.is_negated = not group.is_negated
    elif text in MODALS:
        _modal(text, group)
    elif text in BE:
        group.has_be = True
        group.has_being |= text == "being"
        group.has_been |= text == "been"
        group.is_past |= text in ("was", "were")
    elif text in DO:
        group.has_do = True
        group.is_past |= text == "did"
    elif text in HAVE and _is_auxiliary_have(words, i):
        group.has_have = True
    else:
        return 0
    return 1


def _modal(text: str, group: VerbGroup) -> None:
    if text in WILL:
        group.mood = Mood.COMMIT
    elif text in OFFER_MODALS:
        group.mood = Mood.OFFER
        group.has_would = text == "would"
    elif text in NEED_MODALS:
        group.mood = Mood.NEED


def _is_auxiliary_have(words: Sequence[Word], i: int) -> bool:
    """True for "have sent", false for "have a look" and "have to"."""
    j = i + 1
    while j < len(words) and not words[j].is_mark:
        found = adverb_at(words, j)
        if found:
            j += found[0]
        elif words[j].text in NEGATIONS:
            j += 1
        else:
            known = verb_of(words[j].text)
            return words[j].text in ("been", "had", "put", "set", "let", "read") or (
                (known is not None and known[1] is Form.PAST) or words[j].text.endswith("ed")
            )
    return False


def _catenative(words: Sequence[Word], i: int, group: VerbGroup) -> int:
    """The length of "able to", "make sure to", "keep", "in the middle of"."""
    text = words[i].text
    if text in ("proceed", "proceeding", "ahead") and (size := _deed_after_with(words, i)):
        return size
    if text in ("go", "going") and (size := _going_size(words, i)):
        return size
    if text in ("make", "making") and i + 2 < len(words) and words[i + 1].text == "sure" and words[i + 2].text == "to":
        return 3
    if text == "in" and i + 3 < len(words) and words[i + 2].text in ONGOING:
        group.flags.add("still")
        return 4
    if text in ONGOING and (size := _ongoing_size(words, i)):
        group.flags.add("still")
        return size
    if i + 1 < len(words) and text in CATENATIVES and words[i + 1].text == "to" and _verb_follows(words, i + 2):
        group.is_trying |= text == "trying" and group.has_be
        _apply(CATENATIVES[text], group)
        return 2
    return 0


def _deed_after_with(words: Sequence[Word], i: int) -> int:
    """ "Proceed with booking": the gerund is the deed."""
    is_deed = i + 2 < len(words) and words[i + 1].text == "with" and guess_verb(words[i + 2].text)[1] is Form.GERUND
    return 2 if is_deed else 0


def _going_size(words: Sequence[Word], i: int) -> int:
    """ "Go check", "go and see": the second verb is the deed."""
    at = i + 2 if i + 1 < len(words) and words[i + 1].text == "and" else i + 1
    is_deed = at < len(words) and words[at].text in GOING_TO_DO
    return at - i if is_deed else 0


def _verb_follows(words: Sequence[Word], i: int) -> bool:
    while i < len(words) and (found := adverb_at(words, i)):
        i += found[0]
    return i < len(words) and not words[i].is_mark


def _ongoing_size(words: Sequence[Word], i: int) -> int:
    j = i + 1
    while j < len(words) and words[j].text in BRIDGES:
        j += 1
    is_gerund = j < len(words) and words[j].text.endswith("ing") and guess_verb(words[j].text)[1] is Form.GERUND
    return j - i if is_gerund else 0


def _apply(effect: str, group: VerbGroup) -> None:
    if effect == "unable":
        group.is_negated = True
    elif effect == "negate":
        group.is_negated = not group.is_negated
    elif effect == "past":
        group.is_past = True
    elif effect == "commit":
        group.mood = Mood.COMMIT if group.mood is Mood.PLAIN else group.mood
    elif effect == "need":
        group.mood = Mood.NEED if group.mood is Mood.PLAIN else group.mood
    elif effect == "offer":
        group.mood = Mood.OFFER
    group.has_be = False


def _with_verb(words: Sequence[Word], i: int, group: VerbGroup) -> VerbGroup | None:
    text = words[i].text
    if text == "to" and group.has_auxiliary:
        return None
    known = verb_of(text)
    if known is None and not group.has_auxiliary:
        return None
    if known is None and group.has_be and text in NO_VERBS:
        group.lemma, group.form, group.verb_at = "be", Form.BASE, i - 1
        return group
    group.lemma, group.form = known or guess_verb(text)
    group.verb_at = i
    return group
