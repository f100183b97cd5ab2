"""How a project's widget looks and greets."""

from __future__ import annotations

import re
from typing import Annotated, Literal, get_args

from pydantic import Field, field_validator

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


HEX = re.compile(r"#[0-9a-f]{6}")
WHITE, INK = "#ffffff", "#1d1b17"
# What small text needs against its ground.
READABLE = 4.5
_STEPS = 40


def contrast(one: str, other: str) -> float:
    """From 1, the same colour, to 21, black on white. Both as `#rrggbb`."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def text_on(ground: str) -> str:
    """White or ink, whichever is read better on this ground; black, where neither is read well enough."""
    best = max((WHITE, INK), key=lambda text: contrast(text, ground))
    return best if contrast(best, ground) >= READABLE else "#000000"


def readable(colour: str, *, on: str) -> str:
    """The colour itself, or as near to it as can be read on this ground."""
    towards = text_on(on)
    mixed = (_mixed(colour, towards, step / _STEPS) for step in range(_STEPS + 1))
    return next((one for one in mixed if contrast(one, on) >= READABLE), towards)


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(part / 255) for part in bytes.fromhex(colour[1:]))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def _mixed(colour: str, other: str, share: float) -> str:
    pairs = zip(bytes.fromhex(colour[1:]), bytes.fromhex(other[1:]), strict=True)
    return "#" + bytes(round(one + (two - one) * share) for one, two in pairs).hex()
