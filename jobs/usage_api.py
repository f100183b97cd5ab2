"""The API of usage, for billing."""

from __future__ import annotations

from datetime import UTC, date, timedelta
from typing import Annotated, ClassVar, Literal, TypedDict

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request

from jobs.usage import Part, Usage, read_usage, total_of
from projects.api.query_params import day_param
from projects.api.typed_responses import TypedResponse
from projects.api.views import ProjectView
from projects.common.api_error import Unprocessable
from projects.common.presenters import Day
from projects.models.key import Scope

# The longest range by interval, in days.
MOST_DAYS = {Part.DAY: 92, Part.MONTH: 1_100}
FIRST_DAY = date(2000, 1, 1)
REFUSED = {422: OpenApiResponse(description="The days are in the wrong order, in the future, or too many.")}


class UsageSumsPayload(TypedDict):
    """Sums of model calls. `unpriced_tokens` are those of calls to models without a price, which have no cost; they are
    input and output together, and part of the other numbers.
    """

    calls: int
    input_tokens: int
    cached_tokens: Annotated[int, "Part of input_tokens."]
    output_tokens: int
    unpriced_tokens: int
    cost: Annotated[float, "USD."]


class UsageRowPayload(UsageSumsPayload):
    period: Annotated[Day, "The day, or the first day of the month."]
    model: str
    purpose: Annotated[str, "The skill, such as reply, detect or observer."]


class UsagePayload(TypedDict):
    """Usage by period, model and purpose: the newest period first, then the highest cost."""

    since: Day
    until: Day
    interval: Annotated[str, Literal["day", "month"]]
    total: UsageSumsPayload
    results: list[UsageRowPayload]


class UsageView(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ}
    queries: ClassVar = {
        "GET": (
            OpenApiParameter(
                "since",
                OpenApiTypes.DATE,
                description="First day, in UTC; by default the first of the month of `until`.",
            ),
            OpenApiParameter("until", OpenApiTypes.DATE, description="Last day, in UTC; by default today."),
            OpenApiParameter(
                "interval", OpenApiTypes.STR, enum=[Part.DAY.value, Part.MONTH.value], description="default day"
            ),
            OpenApiParameter("model", OpenApiTypes.STR, description="Only calls to this model."),
            OpenApiParameter("purpose", OpenApiTypes.STR, description="Only calls of this skill."),
        )
    }

    @extend_schema(operation_id="usage_read", responses=REFUSED)
    def get(self, request: Request) -> TypedResponse[UsagePayload]:
        """Retrieves the project's model calls, tokens and cost by day or month, model and purpose.

        Each stored call counts exactly once, on the day it was stored, also after its content is deleted. A range has at
        most 92 days, or 36 months by month.
        """
        interval = Part(request.query_params.get("interval") or Part.DAY)
        since, until = _days(request, longest=MOST_DAYS[interval])
        rows = read_usage(since, until, interval, Part.MODEL, Part.PURPOSE, project_id=self.project.pk)
        wanted = {name: text for name in ("model", "purpose") if (text := request.query_params.get(name))}
        found = [row for row in rows if all(getattr(row, name) == text for name, text in wanted.items())]
        return TypedResponse(
            {
                "since": since.isoformat(),
                "until": until.isoformat(),
                "interval": interval.value,
                "total": _sums(total_of(found)),
                "results": [_row(row) for row in found],
            }
        )


def _row(row: Usage) -> UsageRowPayload:
    period = row.day or row.month or FIRST_DAY
    return {"period": period.isoformat(), "model": row.model or "", "purpose": row.purpose or "", **_sums(row)}


def _sums(row: Usage) -> UsageSumsPayload:
    return {
        "calls": row.calls,
        "input_tokens": row.input_tokens,
        "cached_tokens": row.cached_tokens,
        "output_tokens": row.output_tokens,
        "unpriced_tokens": row.unpriced_tokens,
        "cost": float(row.cost),
    }


def _days(request: Request, *, longest: int) -> tuple[date, date]:
    """The first and the last day. Raises ApiError."""
    today = timezone.now().astimezone(UTC).date()
    until = min(day_param(request, "until") or today, today)
    since = day_param(request, "since") or until.replace(day=1)
    if until < FIRST_DAY or since > until or until - since >= timedelta(days=longest):
        message = f"since must not be after until or in the future, and at most {longest - 1} days before until."
        raise Unprocessable("invalid_period", message, field="since")
    return since, until
