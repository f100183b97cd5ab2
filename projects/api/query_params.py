"""What may stand behind the `?` of an address: each view declares it, the OpenAPI document shows it, and a slip of it is refused.

A name that resembles none passes: programs that add something of their own to every address have relied on that. So does a
parameter without a value: it asks for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from django.http import QueryDict
from drf_spectacular.utils import OpenApiParameter

from projects.common.api_error import ApiError

# How a signed-in browser may name its project where it can send no header.
PROJECT = "project"
LONGEST_SHOWN = 100
# How much of two names has to be the same: so that `status` is taken for `state`, and `trace` is not.
ALIKE = 0.7


def check_query(asked: QueryDict, *, declared: Iterable[OpenApiParameter], others: Sequence[str] = ()) -> None:
    """Refuse what would be passed over although it was meant, or find nothing: a misspelt parameter, one sent twice, and a
    value that isn't among those that a parameter declares. `others` are names that any view takes. Raises ApiError.
    """
    choices = {parameter.name: parameter.enum for parameter in declared}
    known = [*choices, *others]
    for name, values in asked.lists():
        if name in known:
            if len(values) > 1:
                raise ApiError("repeated_parameter", f"{name} stands in the address twice; send it once.", field=name)
            _check_choice(name, values[0], choices=choices.get(name))
        elif near := get_close_matches(name[:LONGEST_SHOWN], known, n=1, cutoff=ALIKE):
            raise ApiError("unknown_parameter", _refusal(name, near[0], known=known), field=name[:LONGEST_SHOWN])


def _check_choice(name: str, value: str, *, choices: Sequence[Any] | None) -> None:
    if not choices or not value or value in choices:
        return
    near = get_close_matches(value[:LONGEST_SHOWN].lower(), choices, n=1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    raise ApiError(f"invalid_{name}", f"{name} must be one of: {', '.join(choices)}.{hint}", field=name)


def _refusal(name: str, near: str, *, known: Sequence[str]) -> str:
    return (
        f"Unknown parameter '{name[:LONGEST_SHOWN]}'. Did you mean '{near}'? These are right here: {', '.join(known)}."
    )
