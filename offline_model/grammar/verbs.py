"""Verb lexicon and inflection."""

from __future__ import annotations

from enum import StrEnum

from offline_model.wordlist import words


class Form(StrEnum):
    """Verb form; past tense and participle share one, as the auxiliary separates them."""

    BASE = "base"
    THIRD = "third"
    GERUND = "gerund"
    PAST = "past"


IRREGULAR = {
    "send": "sent",
    "resend": "resent",
    "find": "found",
    "make": "made",
    "hold": "held",
    "keep": "kept",
    "get": "got",
    "take": "took taken",
    "give": "gave given",
    "tell": "told",
    "say": "said",
    "bring": "brought",
    "hang": "hung",
    "write": "wrote written",
    "speak": "spoke spoken",
    "see": "saw seen",
    "shoot": "shot",
    "put": "put",
    "set": "set",
    "let": "let",
    "run": "ran",
    "do": "did done",
    "go": "went gone",
    "come": "came",
    "leave": "left",
    "think": "thought",
    "hear": "heard",
    "read": "read",
    "know": "knew known",
    "have": "had",
    "begin": "began begun",
    "forget": "forgot forgotten",
    "pass": "passed",
    "mean": "meant",
    "promise": "promised",
    "understand": "understood",
    "undo": "undid undone",
    "pay": "paid",
    "buy": "bought",
}
REGULAR = words(
    """
    check look verify confirm search pull review text message email mail sms forward share drop ping pop fire
    deliver dispatch whatsapp book reserve pencil place add register create save secure lock block schedule
    arrange organise organize plan cancel remove delete annul call transfer connect hand route patch direct
    redirect switch end close wrap finish notify inform alert update change move issue process open start ask note
    order provide mention warn flag locate retrieve pass request complete handle offer record log inquire enquire
    consult charge refund return print escalate void erase modify reschedule fix prepare pack ship submit raise
    report assign credit apply renew double-check recheck investigate explore browse scan grab fetch link conclude
    proceed finalise finalize rebook dial relay direct contact ring phone attach include postpone repeat wait stay
    bear expect enjoy feel visit click type reply respond choose pick remind remember try continue keep stop need
    want like love prefer wish hope receive arrive follow recommend suggest believe guess claim state explain
    mention promise answer use help allow permit enable ensure guarantee work talk chat drop trust relax worry
    assume imagine consider reach activate assist sign squeeze mark jot plug type lock swap drive slip scrap peek sort strike cross wipe
    """
)
NOUN_LIKE = words(
    """
    text message email mail sms book call transfer note order change place review update request process offer
    look hand block plan end link record report answer reply charge refund return log need wish hope love use help
    work talk chat plan drop contact ring phone like state visit stay wait claim search check credit fix print
    open ship pack direct flag issue share set let run hold say put close start whatsapp complete raise type click
    pop fire scan double-check switch route follow move secure lock clear
    """
)
DOUBLED = words(
    """
    drop ping pop cancel transfer plan get set put let run wrap grab stop ship log flag chat scrap swap slip jot
    """
)
SPEECH = words(
    """
    say tell mention write ask promise claim state read hear explain suggest mean think believe guess report
    """
)


def _spellings(lemma: str) -> dict[str, Form]:
    stem = lemma[:-1] if lemma.endswith("e") and not lemma.endswith("ee") else lemma
    third = lemma + ("es" if lemma.endswith(("s", "sh", "ch", "x", "o")) else "s")
    if lemma.endswith("y") and lemma[-2] not in "aeiou":
        third = lemma[:-1] + "ies"
    forms = {third: Form.THIRD, stem + "ing": Form.GERUND, lemma: Form.BASE}
    if lemma in DOUBLED:
        forms[lemma + lemma[-1] + "ing"] = Form.GERUND
        forms[lemma + lemma[-1] + "ed"] = Form.PAST
    if lemma not in IRREGULAR:
        past = lemma[:-1] + "ied" if lemma.endswith("y") and lemma[-2] not in "aeiou" else stem + "ed"
        forms[past] = Form.PAST
    return forms


def _all_forms() -> dict[str, tuple[str, Form]]:
    table: dict[str, tuple[str, Form]] = {}
    for lemma in [*sorted(REGULAR), *IRREGULAR]:
        for past in IRREGULAR.get(lemma, "").split():
            table.setdefault(past, (lemma, Form.PAST))
        for spelling, form in _spellings(lemma).items():
            table[spelling] = (lemma, form)
    return table


FORMS = _all_forms()


def verb_of(word: str) -> tuple[str, Form] | None:
    """The lemma and form of a known verb; None for any other word."""
    return FORMS.get(word)


def is_third(word: str) -> bool:
    """ "Pays", "costs": a known verb's third person."""
    known = verb_of(word)
    return known is not None and known[1] is Form.THIRD


def guess_verb(word: str) -> tuple[str, Form]:
    """Lemma and form of a word in verb position."""
    known = FORMS.get(word)
    if known:
        return known
    if word.endswith("ing") and len(word) > 4:
        return word[:-3], Form.GERUND
    if word.endswith("ed") and len(word) > 3:
        return word[:-2], Form.PAST
    return word, Form.BASE
