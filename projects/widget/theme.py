"""The widget's theme and greeting, and its accessible color palette."""

from __future__ import annotations

import re
from typing import Annotated, Literal, get_args

from django.utils.translation import gettext
from pydantic import Field, field_validator

from projects.models.agent_config import Part

Position = Literal["right", "left"]
Scheme = Literal["auto", "light", "dark"]
CallButton = Literal["off", "on"]
# The widget's translations; "auto" uses the page's language. The agent answers in any language.
Language = Literal["auto", "en", "it", "de", "fr", "es", "pt", "nl", "ar", "he"]

POSITIONS: tuple[str, ...] = get_args(Position)
SCHEMES: tuple[str, ...] = get_args(Scheme)
CALL_BUTTONS: tuple[str, ...] = get_args(CallButton)
LANGUAGES: tuple[str, ...] = get_args(Language)
DEFAULT_BRAND = "#2b4acb"
HEX = re.compile(r"#[0-9a-f]{6}")
WHITE, INK = "#ffffff", "#1d1b17"
# The widget's backgrounds (static/widget/style.js), on which the brand color must be readable.
LIGHT_GROUND, DARK_GROUND = "#f5f3ee", "#24221f"
# The WCAG AA contrast for normal text.
READABLE = 4.5
_STEPS = 40


class WidgetTheme(Part):
    """A business's theme. The palette derived from `brand` is always readable.

    `call_button` lets customers call from the widget.
    """

    brand: str = DEFAULT_BRAND
    greeting: Annotated[str, Field(max_length=300)] = ""
    position: Position = "right"
    scheme: Scheme = "auto"
    language: Language = "auto"
    call_button: CallButton = "off"

    @field_validator("brand")
    @classmethod
    def is_color(cls, value: str) -> str:
        color = value.lower()
        if not HEX.fullmatch(color):
            raise ValueError(
                gettext("%(value)s is not a color. Use # and six hexadecimal digits, like #2b4acb.")
                % {"value": repr(value)}
            )
        return color

    def palette(self) -> dict[str, str]:
        """The colors of the widget."""
        return {
            "brand": self.brand,
            "on": text_on(self.brand),
            "link_light": readable(self.brand, on=LIGHT_GROUND),
            "link_dark": readable(self.brand, on=DARK_GROUND),
        }


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two `#rrggbb` colors, from 1 (equal) to 21 (black on white)."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def text_on(ground: str) -> str:
    """White or ink, whichever has more contrast on a background; black if neither has enough."""
    best = max((WHITE, INK), key=lambda text: contrast(text, ground))
    return best if contrast(best, ground) >= READABLE else "#000000"


def readable(color: str, *, on: str) -> str:
    """The color, blended toward the text color until it is readable on a background."""
    towards = text_on(on)
    mixed = (_mixed(color, towards, step / _STEPS) for step in range(_STEPS + 1))
    return next((one for one in mixed if contrast(one, on) >= READABLE), towards)


def _luminance(color: str) -> float:
    red, green, blue = (_linear(part / 255) for part in bytes.fromhex(color[1:]))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def _mixed(color: str, other: str, share: float) -> str:
    pairs = zip(bytes.fromhex(color[1:]), bytes.fromhex(other[1:]), strict=True)
    return "#" + bytes(round(one + (two - one) * share) for one, two in pairs).hex()
