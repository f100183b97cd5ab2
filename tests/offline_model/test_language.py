"""The language of a message, guessed from its words."""

from __future__ import annotations

import pytest

from offline_model.language import language_of


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("Il mio ordine non è arrivato", "it"),
        ("Dov’è il mio pacco?", "it"),
        ("Quali sono gli orari?", "it"),
        ("Où est mon colis ?", "fr"),
        ("Quels sont vos horaires ?", "fr"),
        ("Très bien, à demain", "fr"),
        ("Wo ist mein Paket?", "de"),
        ("Quiero hablar con una persona", "es"),
        ("Is this the right number?", "en"),
        ("Giulia Ferri", None),
    ],
)
def test_a_message_tells_its_language(said: str, language: str | None) -> None:
    assert language_of(said) == language
