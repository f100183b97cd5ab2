"""Validation of tool names, including look-alikes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any

from django.utils.translation import gettext

from projects.common.translation import lazy
from tools.engine.registry import builtin_tools
from tools.engine.validation.problem import Problem

MAX_NAME_LENGTH = 64
NAME = re.compile(rf"[A-Za-z][A-Za-z0-9_-]{{0,{MAX_NAME_LENGTH - 1}}}")
RULE = lazy("A name is a letter, then letters, digits, _ or -, at most 64 characters: send_quote_tool.")
# Reserved: a tool's event carries the tool's name.
RESERVED_EVENTS = frozenset(
    {
        "broadcast_analyze_conversation",
        "conversation_started",
        "convoagent_activate_waiting_mode",
        "effect_done",
        "effect_failed",
        "effect_planned",
        "todo_changed",
        "todos_extracted",
        "urgent_message",
        "user_message",
    }
)
# Lowercase Cyrillic and Greek letters that look like these Latin ones.
FOREIGN = (
    "\u0430\u0432\u0435\u0451\u0437\u0456\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0455"
    "\u0458\u0501\u04bb\u04cf\u051b\u051d\u03b1\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7"
)
LOOKALIKES = str.maketrans(FOREIGN, "abee3ikmhopctyxsjdhlqwaeikvoptux")
# Sequences that are easily confused.
CONFUSABLE = (("0", "o"), ("1", "l"), ("i", "l"), ("rn", "m"), ("vv", "w"), ("-", "_"))


def name_problems(name: Any, *, others: Iterable[str] = ()) -> Iterator[Problem]:
    """Problems of a name: malformed, reserved, or a look-alike of another tool. `others` are the project's tools."""
    if not isinstance(name, str):
        yield Problem("name", gettext("The name must be text. %(rule)s") % {"rule": RULE}, is_malformed=True)
        return
    if name in builtin_tools() or name in others:
        return
    if lookalike := _lookalike(name, (*builtin_tools(), *others)):
        yield Problem(
            "name",
            gettext(
                "The name '%(name)s' looks like %(other)s. Use that exact name to replace it, or choose a different one."
            )
            % {"name": name[:80], "other": lookalike},
        )
    elif not NAME.fullmatch(name):
        yield Problem(
            "name",
            gettext("The name '%(name)s' can't be used. %(rule)s") % {"name": name[:80], "rule": RULE},
            is_malformed=True,
        )
    elif name in RESERVED_EVENTS:
        yield Problem(
            "name",
            gettext("'%(name)s' is reserved for a system event; choose another, such as %(name)s_tool.")
            % {"name": name},
        )


def _lookalike(name: str, taken: Iterable[str]) -> str | None:
    looks = skeleton(name)
    return next((other for other in taken if skeleton(other) == looks), None)


def skeleton(name: str) -> str:
    """The name reduced to its appearance: equal for names that differ only by case or look-alike letters."""
    plain = unicodedata.normalize("NFKD", name[: 2 * MAX_NAME_LENGTH])
    plain = "".join(letter for letter in plain if unicodedata.category(letter) not in ("Mn", "Cf"))
    plain = plain.casefold().translate(LOOKALIKES)
    for one, other in CONFUSABLE:
        plain = plain.replace(one, other)
    return plain.strip()
