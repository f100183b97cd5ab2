"""Lexicon of claim openings by language, and the honest replacement sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class ActionKind(StrEnum):
    """The kind of action a claim reports."""

    SENDING = "sending"
    BOOKING = "booking"
    CANCELLING = "cancelling"
    TRANSFERRING = "transferring"
    OTHER = "other"


Openings = frozenset[tuple[str, ...]]


@dataclass(frozen=True)
class ClaimLexicon:
    """Claim patterns of one language.

    An active claim is an `active` opening, optional `fillers` and a participle. A passive claim is a subject of a few
    words that starts with a `passive` opening, followed by an auxiliary and a participle. If the participle comes
    `late`, at the end of the sentence, the whole sentence is held back.

    Phrases a business may say about itself ("We moved last year", "Friday is booked out") are left out: a wrong
    correction is worse than a late one.
    """

    active: Openings
    passive: Openings
    auxiliaries: frozenset[str]
    fillers: frozenset[str]
    participles: Mapping[str, ActionKind]
    late: bool = False


def _openings(text: str) -> Openings:
    return frozenset(tuple(opening.split()) for opening in text.split(", "))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _actions(**words: str) -> dict[str, ActionKind]:
    return {word: ActionKind(action) for action, listed in words.items() for word in listed.split()}


LEXICONS: Mapping[str, ClaimLexicon] = {
    "en": ClaimLexicon(
        active=_openings("i, i've, i have, we've, we have, you're, you are"),
        passive=_openings(
            "your, the sms, the text, the message, the email, the e-mail, the link, the details, the confirmation, "
            "the invitation, the booking, the reservation, a text, an sms, an email, a confirmation"
        ),
        auxiliaries=_words("is are was were has have"),
        fillers=_words("just already now also all gone ahead and been successfully officially"),
        participles=_actions(
            sending="sent texted emailed e-mailed mailed messaged forwarded",
            booking="booked reserved scheduled confirmed secured",
            cancelling="cancelled canceled",
            transferring="transferred connected",
            other="arranged rescheduled submitted notified informed",
        ),
    ),
    "de": ClaimLexicon(
        active=_openings("ich habe, ich hab, wir haben"),
        passive=_openings("ihr, ihre, dein, deine"),
        auxiliaries=_words("ist sind wurde wurden"),
        fillers=_words("bereits schon gerade soeben eben"),
        participles=_actions(
            sending="gesendet geschickt verschickt versendet zugeschickt weitergeleitet",
            booking="gebucht reserviert bestätigt eingetragen",
            cancelling="storniert abgesagt",
            transferring="verbunden",
            other="erledigt geändert verschoben informiert benachrichtigt",
        ),
        late=True,
    ),
    "fr": ClaimLexicon(
        active=_openings("j'ai, nous avons, je vous ai, je t'ai, je l'ai"),
        passive=_openings("votre, vos, ton, ta, tes"),
        auxiliaries=_words("est sont a ont"),
        fillers=_words("bien déjà été maintenant"),
        participles=_actions(
            sending="envoyé envoyée envoyés transmis transmise",
            booking="réservé réservée confirmé confirmée",
            cancelling="annulé annulée",
            transferring="transféré transférée",
            other="modifié modifiée déplacé déplacée prévenu informé",
        ),
    ),
    "es": ClaimLexicon(
        active=_openings("he, hemos, te he, le he, os he, les he"),
        passive=_openings("su, tu"),
        auxiliaries=_words("está están ha han queda"),
        fillers=_words("ya sido"),
        participles=_actions(
            sending="enviado enviada mandado mandada reenviado",
            booking="reservado reservada confirmado confirmada",
            cancelling="cancelado cancelada anulado anulada",
            transferring="transferido transferida",
            other="cambiado cambiada movido movida avisado informado",
        ),
    ),
    "it": ClaimLexicon(
        active=_openings("ho, abbiamo, ti ho, le ho, vi ho, gliel'ho"),
        passive=_openings("il tuo, la tua, il suo, la sua"),
        auxiliaries=_words("è sono"),
        fillers=_words("già appena stato stata"),
        participles=_actions(
            sending="inviato inviata mandato mandata spedito inoltrato",
            booking="prenotato prenotata riservato riservata confermato confermata",
            cancelling="cancellato cancellata annullato annullata",
            transferring="trasferito trasferita",
            other="modificato modificata spostato spostata avvisato informato",
        ),
    ),
}

# By language: replacements for an action that is pending, unknown, failed, or was never started.
HONEST: Mapping[str, tuple[str, str, str, str]] = {
    "en": (
        "I'm still on that.",
        "A colleague is checking whether that went through.",
        "That didn't work.",
        "That isn't done yet.",
    ),
    "de": (
        "Ich bin noch dabei.",
        "Ein Kollege prüft, ob das geklappt hat.",
        "Das hat nicht geklappt.",
        "Das ist noch nicht erledigt.",
    ),
    "fr": (
        "Je m'en occupe encore.",
        "Un collègue vérifie si cela a abouti.",
        "Cela n'a pas fonctionné.",
        "Ce n'est pas encore fait.",
    ),
    "es": (
        "Todavía estoy en ello.",
        "Un compañero está comprobando si se completó.",
        "Eso no ha funcionado.",
        "Eso todavía no está hecho.",
    ),
    "it": (
        "Ci sto ancora lavorando.",
        "Un collega sta verificando se è andato a buon fine.",
        "Non ha funzionato.",
        "Non è ancora fatto.",
    ),
}

# Said of an action that succeeded, where no better words are at hand.
DONE: Mapping[str, str] = {
    "en": "That is done.",
    "de": "Das ist erledigt.",
    "fr": "C'est fait.",
    "es": "Ya está hecho.",
    "it": "È fatto.",
}
