"""Versions of a custom tool: their authors, and the differences between two of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.utils.translation import gettext

from projects.common.text_diff import Line, line_differences
from projects.models import Member
from tools.engine.custom.definition_text import as_text
from tools.engine.custom.service import Saved
from tools.models import CustomToolVersion


@dataclass(frozen=True)
class Comparison:
    """The differences between two versions. `lines` is empty if they are equal."""

    old: int
    new: int
    lines: Sequence[Line]


def restored_words(saved: Saved, number: int) -> str:
    """The result of restoring a version, as a sentence."""
    told = {"number": number, "version": saved.tool.version}
    if not saved.is_changed:
        return gettext("Nothing changed: version %(version)s is the same as version %(number)s.") % told
    return gettext("Version %(number)s restored as version %(version)s.") % told


def compare_versions(versions: Iterable[CustomToolVersion], *, asked: Mapping[str, str]) -> Comparison | None:
    """Compare the versions asked for as `from` and `to`, by default the newest and the one before.

    None if there is only one version.
    """
    by_number = {version.number: version for version in versions}
    numbers = sorted(by_number, reverse=True)
    if len(numbers) < 2:
        return None
    chosen = [read_number(asked.get(side, "")) for side in ("from", "to")]
    old, new = chosen if all(number in by_number for number in chosen) else (numbers[1], numbers[0])
    texts = [as_text(by_number[number or 0].definition) for number in (old, new)]
    return Comparison(old or 0, new or 0, line_differences(*texts))


def read_number(text: str) -> int | None:
    """A version number as typed, or None."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def author_names(versions: Iterable[CustomToolVersion]) -> dict[UUID | None, str]:
    """Author names by member id; the name under None is for an API key."""
    wanted = {version.author_id for version in versions if version.author_id}
    found = {row.pk: row.user.name for row in Member.objects.select_related("user").filter(pk__in=wanted)}
    return {
        None: gettext("an API key"),
        **{member_id: found.get(member_id, gettext("a former member")) for member_id in wanted},
    }
