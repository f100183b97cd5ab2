"""How a project's widget looks and greets."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field, field_validator

from projects.common.contrast import HEX, readable, text_on
from projects.models.agent_config import Part

Position = Literal["right", "left"]
Scheme = Literal["auto", "light", "dark"]
# "auto" is the page's own language. The widget's few words are there in these; the agent answers in any.
Language = Literal["auto", "en", "it", "de", "fr", "es", "pt", "nl", "ar", "he"]

POSITIONS: tuple[str, ...] = get_args(Position)
SCHEMES: tuple[str, ...] = get_args(Scheme)
LANGUAGES: tuple[str, ...] = get_args(Language)
# The widget's own grounds (static/widget/style.js): links and lines in the brand's colour are read on these.
LIGHT_GROUND, DARK_GROUND = "#f5f3ee", "#24221f"
DEFAULT_BRAND = "#2b4acb"


class WidgetTheme(Part):
    """What a business chooses. Every colour that follows from `brand` can be read, whatever it is."""

    brand: str = DEFAULT_BRAND
    greeting: Annotated[str, Field(max_length=300)] = ""
    position: Position = "right"
    scheme: Scheme = "auto"
    language: Language = "auto"

    @field_validator("brand")
    @classmethod
    def is_a_colour(cls, value: str) -> str:
        colour = value.lower()
        if not HEX.fullmatch(colour):
            raise ValueError(f"{value!r} is no colour; write # and six digits or letters a to f, like #2b4acb.")
        return colour

    def palette(self) -> dict[str, str]:
        """The colours that the widget paints with."""
        return {
            "brand": self.brand,
            "on": text_on(self.brand),
            "link_light": readable(self.brand, on=LIGHT_GROUND),
            "link_dark": readable(self.brand, on=DARK_GROUND),
        }
