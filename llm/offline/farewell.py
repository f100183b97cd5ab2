"""Goodbyes: formulas, which have no clause to judge."""

from __future__ import annotations

import re

FAREWELL = re.compile(
    (
        r"\b(?:good ?-?bye|bye(?:[- ]bye| now| for now)?|so long|farewell|take care(?! of)|good "
        r"?night|cheerio|see you(?: (?:soon|then|later|again|there|(?:on |this |next )?\w+day(?: "
        r"\w+)?|tomorrow|tonight|around|at \w+))?"
        r"|talk to you (?:soon|later|then)|speak (?:to you )?(?:soon|later)|(?:have|enjoy) (?:a|"
        r"your|the rest of your) (?:\w+ ){0,4}(?:day|evening|night|weekend|afternoon|morning|week|"
        r"time|one)"
        r"|until (?:then|next time|(?:on )?\w+day)|arrivederci|ciao|buona (?:serata|giornata|notte)|"
        r"auf wiedersehen|tsch[uü]ss|sch[oö]nen (?:tag|abend)|au revoir|bonne (?:journ[ée]e|soir[ée]e)|"
        r"adi[oó]s|hasta (?:luego|pronto)|adeus|tot ziens)\b"
    ),
    re.IGNORECASE,
)
OPENING = re.compile(r"^\W*(?:ciao|good evening|good morning|good afternoon|hello|hi)\b", re.IGNORECASE)
SENTENCE = re.compile(r"(?:\b(?:mrs?|ms|dr|st)\.|[^.!?…\n])+[.!?…]*", re.IGNORECASE)
SPOKEN_OF = re.compile(
    r"\b(?:say|says|said|saying|told|for|a|the|of|with|our|my|her|his|their|word|means?|and for|both) (?:you )?$",
    re.IGNORECASE,
)
HEDGED = re.compile(
    r"\b(?:before (?:you|we|i)|if you|when you|would|could|can i|may i|hope|once|until you|"
    r"will see you|you'll|come and|let me|to see you|wait to)\b",
    re.IGNORECASE,
)


def farewell(answer: str) -> tuple[str, bool] | None:
    """The words of a goodbye and whether it stands last with nothing asked; None when there is none."""
    sentences = [m for m in SENTENCE.finditer(answer) if m[0].strip(" \t\"'”)")]
    for at, match in enumerate(sentences):
        found = FAREWELL.search(match[0])
        if not found or SPOKEN_OF.search(match[0][: found.start()]) or (at == 0 and len(sentences) > 1 and OPENING.match(match[0]) and "ciao" in found[0].lower()):
            continue
        later = [m[0] for m in sentences[at + 1 :]]
        is_last = all(FAREWELL.search(text) or _is_courtesy(text) for text in later)
        is_clear = not HEDGED.search(match[0][: found.start()])
        return found[0], is_last and is_clear and "?" not in "".join((match[0], *later)) and not _asks_before(
            sentences, at
        )
    return None


def _is_courtesy(text: str) -> bool:
    return bool(
        re.match(
            r"\W*(?:thank|thanks|you're welcome|all the best|we look forward|looking forward|best|warm "
            r"regards|enjoy|grazie|danke|merci|gracias|and thank)",
            text,
            re.IGNORECASE,
        )
    )


def _asks_before(sentences: list[re.Match[str]], at: int) -> bool:
    return any("?" in match[0] for match in sentences[:at])
