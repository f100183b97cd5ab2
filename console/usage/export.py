"""The CSV of a month's usage, by day, model and purpose."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict

from console.csv_export import PAGE, Batch, CsvList
from console.usage.month import parse_month
from jobs.usage import Part, Usage, read_usage
from projects.models.permissions import Entry


def read_rows(entry: Entry, parameters: QueryDict, after: Any) -> Batch[Usage]:
    """The rows of the month, the newest day first. The cursor is the last row's key, because sums go on growing."""
    month = parse_month(parameters)
    rows = read_usage(month.first_day, month.last_day, Part.DAY, Part.MODEL, Part.PURPOSE, project_id=entry.project.pk)
    rest = sorted((row for row in rows if after is None or _key(row) > after), key=_key)
    found = rest[:PAGE]
    return Batch(found, next=_key(found[-1]) if len(rest) > PAGE else None)


def _key(row: Usage) -> tuple[int, str, str]:
    return -(row.day.toordinal() if row.day else 0), row.model or "", row.purpose or ""


USAGE: CsvList[Usage] = CsvList(
    name="usage",
    columns={
        "Day (UTC)": lambda row: row.day.isoformat() if row.day else "",
        "Model": lambda row: row.model,
        "Purpose": lambda row: row.purpose,
        "Calls": lambda row: row.calls,
        "Input tokens": lambda row: row.input_tokens,
        "Cached tokens": lambda row: row.cached_tokens,
        "Output tokens": lambda row: row.output_tokens,
        "Tokens without a price": lambda row: row.unpriced_tokens,
        "Cost (USD)": lambda row: f"{row.cost:.6f}",
    },
    read=read_rows,
)
