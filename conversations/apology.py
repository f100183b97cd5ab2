"""What the customer is told when no reply could be written: honest, short, in their language."""

from __future__ import annotations

APOLOGIES = {
    "en": "Sorry, I can't answer right now. I've let the team know; write again in a moment and I'll try once more.",
    "it": "Mi dispiace, ora non riesco a rispondere. Ho avvisato il team; riscrivimi tra poco e ci riprovo.",
    "de": "Entschuldigung, ich kann gerade nicht antworten. Das Team weiß Bescheid; schreiben Sie gleich noch einmal.",
    "fr": "Désolé, je ne peux pas répondre pour l'instant. L'équipe est prévenue ; réécrivez-moi dans un moment.",
    "es": "Lo siento, ahora no puedo responder. He avisado al equipo; escríbeme otra vez en un momento.",
}


def apology_in(language: str | None) -> str:
    """The sentence in the customer's language, English when it isn't known."""
    return APOLOGIES.get((language or "en")[:2].lower(), APOLOGIES["en"])
