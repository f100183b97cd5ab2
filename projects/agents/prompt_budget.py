"""The share of a request that each part of an agent's settings takes, and advice if too little is left."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from projects.agents.prompt_size import PromptSize
from projects.common.translation import lazy

NAMES = {
    "rules": lazy("How it answers"),
    "business_context": lazy("Business context"),
    "scenarios": lazy("Scenarios"),
    "procedures": lazy("Procedures"),
    "intents": lazy("Intents, the longer variant"),
    "tools": lazy("Tools it can call"),
}


@dataclass(frozen=True)
class Part:
    """A part that a business can shorten: the field of the document, and its name in a sentence."""

    field: str
    name: str


PARTS = {
    "business_context": Part("business_context", lazy("the business context")),
    "scenarios": Part("scenarios", lazy("the scenarios")),
    "procedures": Part("procedures", lazy("the procedures")),
    "intents": Part("intents", lazy("the intents")),
    "tools": Part("enabled_tools", lazy("the tools")),
}


@dataclass(frozen=True)
class Share:
    """One part's bar: its name, its size as text, and its offset and width in percent of the limit."""

    name: str
    size: str
    x: float
    width: float


@dataclass(frozen=True)
class PromptBudget:
    """The contents of a reply request before the conversation. Sizes are texts in kB."""

    shares: list[Share]
    channel: str
    total: str
    limit: str
    room: str
    too_large: Mapping[str, str]
    """Advice for the largest field, if too little is left for the conversation."""


def prompt_budget(prompt: PromptSize) -> PromptBudget:
    """A prompt's weight, formatted for display."""
    shares: list[Share] = []
    x = 0.0
    for part, size in prompt.parts.items():
        width = min(100 * size / prompt.limit, 100 - x)
        shares.append(Share(NAMES[part], _kb(size), round(x, 2), round(width, 2)))
        x += width
    return PromptBudget(
        shares=shares,
        channel=prompt.channel,
        total=_kb(prompt.total),
        limit=_whole_kb(prompt.limit),
        room=_kb(max(0, prompt.room)),
        too_large=size_advice(prompt) if prompt.shortfall else {},
    )


def size_advice(prompt: PromptSize, *, among: Collection[str] = ()) -> dict[str, str]:
    """Advice on what to shorten, keyed by the largest field of the document, or of the fields `among`."""
    parts = sorted(PARTS, key=lambda part: prompt.parts[part], reverse=True)
    chosen = next((index for index, part in enumerate(parts) if PARTS[part].field in among), 0)
    return {PARTS[parts[chosen]].field: _sentence(prompt, list(dict.fromkeys((parts[0], parts[chosen]))))}


def _sentence(prompt: PromptSize, parts: Sequence[str]) -> str:
    """The advice, naming the parts with the largest first."""
    sizes = ", ".join(f"{PARTS[part].name} {_kb(prompt.parts[part])} kB" for part in parts)
    limit = gettext("Requests are limited to %(limit)s kB: %(sizes)s, leaving %(left)s kB for the conversation.") % {
        "limit": _whole_kb(prompt.limit),
        "sizes": sizes,
        "left": _kb(max(0, prompt.room)),
    }
    needs = gettext("The conversation needs %(reserve)s kB.") % {"reserve": _whole_kb(prompt.reserve)}
    return f"{limit} {needs} {_advice(prompt, parts)}"


def _advice(prompt: PromptSize, parts: Sequence[str]) -> str:
    # Rounded up, so that following the advice is enough.
    size = f"{math.ceil(prompt.shortfall / 100) / 10:.1f} kB"
    if prompt.parts[parts[0]] < 2 * prompt.shortfall:
        return gettext("Shorten the settings by %(size)s.") % {"size": size}
    names = [str(PARTS[part].name) for part in parts]
    if len(names) == 1:
        return gettext("Shorten %(part)s by %(size)s.") % {"part": names[0], "size": size}
    return gettext("Shorten %(first)s or %(second)s by %(size)s.") % {
        "first": names[0],
        "second": names[1],
        "size": size,
    }


def _kb(size: int) -> str:
    return f"{size / 1000:.1f}"


def _whole_kb(size: int) -> str:
    return f"{size / 1000:g}"
