"""Farewell detection."""

from __future__ import annotations

import re

FAREWELL = re.compile(
    (
        r"\b(?:good ?-?bye|bye(?:[- ]bye| now| for now)?(?!-\w)|so long|farewell|take care(?! of)|good "
        r"?night(?!['’]s)|cheerio|see you(?=\W*$|[,.!;])|see you(?: (?:soon|then|later|again|there|(?:on |this |next )?\w+day(?: "
        r"\w+)?|tomorrow|tonight|around|at \w+))"
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
    r"\b(?:say|says|said|saying|told|for|the|of|with|our|my|her|his|their|word|means?|and for|both) (?:you )?$",
    re.IGNORECASE,
)
BUSINESS = re.compile(r"\b(?:i'm|i am|i'll|i will|we'll|we will|we're|let me)\b", re.IGNORECASE)
HEDGED = re.compile(
    r"\b(?:before (?:you|we|i)|if you|when you|would|could|can i|may i|hope|once|until you|"
    r"you'll|come and|let me|to see you|wait to)\b",
    re.IGNORECASE,
)


def farewell(answer: str) -> tuple[str, bool] | None:
    """Farewell words and a flag for a final farewell without questions; None if there is no farewell."""
    sentences = [m[0] for m in SENTENCE.finditer(answer) if m[0].strip(" \t\"'”)")]
    found = [goodbye for at in range(len(sentences)) if (goodbye := _goodbye_in(sentences, at))]
    return next((goodbye for goodbye in found if goodbye[1]), found[0] if found else None)


def _goodbye_in(sentences: list[str], at: int) -> tuple[str, bool] | None:
    """Farewell of one sentence, and a flag for a final one; a question anywhere clears the flag."""
    sentence = sentences[at]
    found = FAREWELL.search(sentence)
    if not found or SPOKEN_OF.search(sentence[: found.start()]):
        return None
    if at == 0 and len(sentences) > 1 and OPENING.match(sentence) and "ciao" in found[0].lower():
        return None
    later, rest = sentences[at + 1 :], sentence[found.end() :]
    goes_on = bool(BUSINESS.search(rest)) and not FAREWELL.search(rest)
    is_last = not goes_on and all(FAREWELL.search(text) or _is_courtesy(text) for text in later)
    is_clear = not HEDGED.search(sentence[: found.start()]) and not any("?" in text for text in sentences)
    return found[0], is_last and is_clear


def _is_courtesy(text: str) -> bool:
    return bool(
        re.match(
            r"\W*(?:thank|thanks|you're welcome|all the best|we look forward|looking forward|best|warm "
            r"regards|enjoy|grazie|danke|merci|gracias|and thank)",
            text,
            re.IGNORECASE,
        )
    )
