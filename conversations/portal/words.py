"""The page's own words, in the languages that the widget knows (D25). The agent answers in any."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from conversations.common.translations import ENGLISH
from conversations.models import Persona, PersonaField
from projects.models import Widget

WORDS: Mapping[str, Mapping[str, str]] = json.loads(Path(__file__).with_name("words.json").read_text())
RIGHT_TO_LEFT = frozenset({"ar", "he"})
# What the script says by itself.
OF_THE_SCRIPT = ("you", "agent", "one", "named", "orders", "much", "unsent", "long")


@dataclass(frozen=True)
class Wording:
    """The words in one language, with the name of the business in them."""

    language: str = ENGLISH
    business: str = ""

    @property
    def direction(self) -> str:
        return "rtl" if self.language in RIGHT_TO_LEFT else "ltr"

    @property
    def words(self) -> Mapping[str, str]:
        # A name may hold braces, and is no template.
        return {key: text.replace("{business}", self.business) for key, text in WORDS[self.language].items()}

    @property
    def named_before(self) -> str:
        """What stands before a colleague's name."""
        return WORDS[self.language]["named"].partition("{who}")[0]

    @property
    def named_behind(self) -> str:
        return WORDS[self.language]["named"].partition("{who}")[2]

    @property
    def of_script(self) -> Mapping[str, str]:
        return {key: WORDS[self.language][key] for key in OF_THE_SCRIPT}

    def channel(self, channel: str) -> str:
        """What a conversation by the channel is called."""
        return WORDS[self.language].get(channel) or WORDS[self.language]["conversation"]

    def too_long(self, *, count: int, most: int) -> str:
        numbers = {"count": count, "most": most, "over": count - most}
        text = WORDS[self.language]["long"]
        for name, number in numbers.items():
            text = text.replace(f"{{{name}}}", f"{number:,}")
        return text


def language_for(persona: Persona, *, asked: str) -> str:
    """What is known of the customer, else what the business chose for its widget, else what their browser `asked` for, as far as
    there are words for it. Inside the tenant's transaction.
    """
    known = PersonaField.objects.filter(persona=persona, key="language").values_list("value", flat=True).first()
    theme = Widget.objects.filter(project_id=persona.project_id).values_list("theme", flat=True).first() or {}
    return best_of(known or "", str(theme.get("language", "")), asked)


def best_of(*languages: str) -> str:
    """The first of the codes, such as `it-CH`, that there are words for; else English."""
    return next((code for one in languages if (code := one.lower().partition("-")[0]) in WORDS), ENGLISH)
