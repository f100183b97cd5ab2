"""Prints the model calls of a month, of all organizations, as CSV for billing."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Sum

from console.csv_export import cell_text, csv_lines
from console.usage.month import Month, this_month
from jobs.models import ModelUsage
from tenancy.scope import platform_scope

KEYS = ("organization_id", "organization__name", "project_id", "project__name", "model", "skill")
SUMS = ("calls", "input_tokens", "cached_tokens", "output_tokens", "unpriced_tokens", "cost")
HEAD = (
    *("Organization ID", "Organization", "Project ID", "Project", "Model", "Purpose", "Calls", "Input tokens"),
    *("Cached tokens", "Output tokens", "Tokens without a price", "Cost (USD)"),
)


class Command(BaseCommand):
    help = (
        "Print the model calls, tokens and cost of a month (UTC) by organization, project, model and purpose, as CSV."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("month", nargs="?", default="", help="such as 2026-07; by default the current one")

    def handle(self, *args: Any, **options: Any) -> None:
        month = _month(options["month"])
        with platform_scope():
            rows = _rows(month)
        self.stdout.write(csv_lines([HEAD, *(_cells(row) for row in rows)]), ending="")


def _month(text: str) -> Month:
    try:
        return Month(date.fromisoformat(f"{text}-01")) if text else this_month()
    except ValueError as error:
        raise CommandError(f"{text} is not a month. Write it like {this_month().key}.") from error


def _rows(month: Month) -> Iterable[dict[str, Any]]:
    rows = ModelUsage.objects.filter(day__gte=month.first_day, day__lte=month.last_day)
    sums = {f"sum_{name}": Sum(name) for name in SUMS}
    return list(rows.order_by(*KEYS).values(*KEYS).annotate(**sums))


def _cells(row: dict[str, Any]) -> list[str]:
    values = [row[name] for name in KEYS] + [row[f"sum_{name}"] for name in SUMS]
    plain = [str(value) if isinstance(value, Decimal) else value for value in values]
    return [cell_text(value, zone=ZoneInfo("UTC")) for value in plain]
