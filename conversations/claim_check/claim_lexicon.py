"""Lexicon of claim openings by language, and the honest replacement sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from conversations.claim_check.claim_transit import TRANSITS, TransitLexicon


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

    An impersonal claim ("All done!", "It's booked") is an optional `impersonal` opening and a participle or one of
    `finished`. Nothing else may follow but `tails`, because "It's done with flour" is none, and it may not be
    `ambiguous`: "It's booked" may say that a table isn't free. The verbs of `objects` claim something only together with
    one of their words ("I've told the kitchen").

    `transit` has the claims that a message is under way.

    Phrases a business may say about itself ("We moved last year", "Friday is booked out") are left out: a wrong
    correction is worse than a late one.
    """

    active: Openings
    passive: Openings
    auxiliaries: frozenset[str]
    fillers: frozenset[str]
    participles: Mapping[str, ActionKind]
    impersonal: Openings
    finished: frozenset[str]
    transit: TransitLexicon
    tails: str = r""
    ambiguous: str = r"(?!)"
    objects: Mapping[str, frozenset[str]] = field(default_factory=dict)
    late: bool = False

    @cached_property
    def personal_ends(self) -> frozenset[str]:
        """The words that make a claim of an active or passive opening."""
        return frozenset([*self.participles, *self.objects])

    @cached_property
    def impersonal_ends(self) -> frozenset[str]:
        """The words that make a claim of an impersonal opening."""
        return self.finished.union(self.participles)

    @cached_property
    def whole(self) -> re.Pattern[str]:
        """The end of an impersonal claim."""
        return re.compile(rf"(?:{'|'.join(sorted(self.impersonal_ends))}){self.tails}$")


def _openings(text: str) -> Openings:
    return frozenset(tuple(opening.split()) for opening in text.split(", "))


def _objects(**words: str) -> dict[str, frozenset[str]]:
    """Verbs by name, each with its words. Verbs that share their words are joined by `_or_`."""
    return {verb: _words(listed) for verbs, listed in words.items() for verb in verbs.split("_or_")}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _actions(**words: str) -> dict[str, ActionKind]:
    return {word: ActionKind(action) for action, listed in words.items() for word in listed.split()}


LEXICONS: Mapping[str, ClaimLexicon] = {
    "en": ClaimLexicon(
        transit=TRANSITS["en"],
        active=_openings("i, i've, i have, we've, we have, you're, you are, you've been, you have been"),
        passive=_openings(
            "your, the sms, the text, the message, the email, the e-mail, the link, the details, the confirmation, "
            "the invitation, the booking, the reservation, a text, an sms, an email, a confirmation, the kitchen, "
            "the chef, the team, the manager, the owner, my colleague, my colleagues, the refund, the ticket"
        ),
        auxiliaries=_words("is are was were has have"),
        fillers=_words("just already now also all gone went ahead and been successfully officially"),
        participles=_actions(
            sending="sent texted emailed e-mailed mailed messaged forwarded",
            booking="booked reserved scheduled confirmed secured",
            cancelling="cancelled canceled",
            transferring="transferred connected",
            other="arranged rescheduled submitted notified informed refunded",
        ),
        impersonal=_openings(
            "it's, it is, it has been, that's, that is, that has been, everything is, everything's, everything has been, "
            "they have been, they've been, you're, you are, consider it, consider that"
        ),
        finished=_words("done set sorted handled settled taken"),
        tails=(r"(?:(?<=taken) care of|(?<!taken))(?: and dusted| for you| now| already| then| in| too| as well)*"),
        ambiguous=r"^(?:it|that|everything)(?:'s| is)(?: \w+)? (?:booked|reserved)(?! for you)",
        objects=_objects(
            told_or_called="kitchen chef team colleague colleagues manager owner staff them",
            let="know",
            passed="on along",
            taken_or_took="care",
            made="booking reservation appointment order change changes transfer",
            got_or_put="down",
            opened_or_created_or_raised="ticket case request",
            updated_or_changed_or_moved="booking reservation appointment order table it",
            added="it that booking reservation order",
            processed_or_issued="refund payment",
        ),
    ),
    "de": ClaimLexicon(
        transit=TRANSITS["de"],
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
        impersonal=_openings("das ist, es ist, alles ist, alles"),
        finished=frozenset(),
        tails=r"(?: für sie| für dich)?",
        late=True,
    ),
    "fr": ClaimLexicon(
        transit=TRANSITS["fr"],
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
        impersonal=_openings("c'est, tout est"),
        finished=_words("fait réglé"),
    ),
    "es": ClaimLexicon(
        transit=TRANSITS["es"],
        active=_openings(
            "he, hemos, te he, le he, os he, les he, te hemos, le hemos, os hemos, les hemos, ya he, ya hemos, ya te he, "
            "ya le he, ya os he, ya les he, ya te hemos, ya le hemos"
        ),
        passive=_openings("su, tu, el sms, el mensaje, el correo, el enlace, la reserva, la confirmación"),
        auxiliaries=_words("está están ha han queda"),
        fillers=_words("ya sido"),
        participles=_actions(
            sending="enviado enviada mandado mandada reenviado",
            booking="reservado reservada confirmado confirmada",
            cancelling="cancelado cancelada anulado anulada",
            transferring="transferido transferida",
            other="cambiado cambiada movido movida avisado informado",
        ),
        impersonal=_openings("está, ya está, todo está"),
        finished=_words("hecho listo"),
    ),
    "it": ClaimLexicon(
        transit=TRANSITS["it"],
        active=_openings("ho, abbiamo, ti ho, le ho, vi ho, gliel'ho, ti abbiamo, le abbiamo, vi abbiamo"),
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
        impersonal=_openings("è, tutto, è tutto"),
        finished=_words("fatto sistemato"),
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
