"""Colours that can be read: a business chooses one, and what stands on it or beside it follows (WCAG 2, 1.4.3)."""

from __future__ import annotations

import re

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
