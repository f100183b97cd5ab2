"""How much of a request an agent's settings take, part by part, and what to do where too little is left."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from projects.agents.prompt_size import Weight

NAMES = {
    "rules": "How it answers",
    "business_context": "Business context",
    "scenarios": "Scenarios",
    "procedures": "Procedures",
    "intents": "Intents, the longer variant",
    "tools": "Tools that it may call",
}


@dataclass(frozen=True)
class Part:
    """A part that a business can make smaller: the field of the document, and what a sentence calls it."""

    field: str
    name: str
    verb: str = "are"


PARTS = {
    "business_context": Part("business_context", "the business context", "is"),
    "scenarios": Part("scenarios", "the scenarios"),
    "procedures": Part("procedures", "the procedures"),
    "intents": Part("intents", "the intents"),
    "tools": Part("enabled_tools", "the tools"),
}


@dataclass(frozen=True)
class Share:
    """One part of a request, and where its bar begins and how wide it is, in percent of the limit."""

    name: str
    size: str
    x: float
    width: float


@dataclass(frozen=True)
class PromptBudget:
    """What a request for a reply holds before anything is said. Sizes are in kB, as texts."""

    shares: list[Share]
    channel: str
    total: str
    limit: str
    room: str
    too_large: Mapping[str, str]
    """A sentence for the field that takes most, where too little is left for the conversation."""


def prompt_budget(weight: Weight) -> PromptBudget:
    """A weight, ready to be shown."""
    shares: list[Share] = []
    x = 0.0
    for part, size in weight.parts.items():
        width = min(100 * size / weight.limit, 100 - x)
        shares.append(Share(NAMES[part], _kb(size), round(x, 2), round(width, 2)))
        x += width
    return PromptBudget(
        shares=shares,
        channel=weight.channel,
        total=_kb(weight.total),
        limit=_whole_kb(weight.limit),
        room=_kb(max(0, weight.room)),
        too_large=what_is_too_large(weight) if weight.lacking else {},
    )


def what_is_too_large(weight: Weight, *, among: Collection[str] = ()) -> dict[str, str]:
    """What is too large and what would be right, by the field that takes most: of the whole document, or of the fields `among`."""
    parts = sorted(PARTS, key=lambda part: weight.parts[part], reverse=True)
    place = next((at for at, part in enumerate(parts) if PARTS[part].field in among), 0)
    return {PARTS[parts[place]].field: _sentence(weight, list(dict.fromkeys((parts[0], parts[place]))))}


def _sentence(weight: Weight, parts: Sequence[str]) -> str:
    """Names the parts, the largest first."""
    sizes = ", ".join(f"{PARTS[part].name} {PARTS[part].verb} {_kb(weight.parts[part])} kB" for part in parts)
    left = f"{_kb(weight.room)} kB are left" if weight.room > 0 else "nothing is left"
    return (
        f"Of the {_whole_kb(weight.limit)} kB that a request may weigh, {sizes}, and {left} for the conversation. "
        f"{_advice(weight, parts)}, so that {_whole_kb(weight.least)} kB of it fit."
    )


def _advice(weight: Weight, parts: Sequence[str]) -> str:
    # Rounded up, so that who does just this has done enough.
    size = f"{math.ceil(weight.lacking / 100) / 10:.1f} kB"
    if weight.parts[parts[0]] < 2 * weight.lacking:
        return f"Take {size} off all that the agent reads"
    return f"Take {size} off {' or '.join(PARTS[part].name for part in parts)}"


def _kb(size: int) -> str:
    return f"{size / 1000:.1f}"


def _whole_kb(size: int) -> str:
    return f"{size / 1000:g}"
