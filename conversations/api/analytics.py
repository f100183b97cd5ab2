"""The analytics API."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, ClassVar, TypedDict
from zoneinfo import ZoneInfo

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request

from conversations.analytics.breakdown import Breakdown, Row, break_down
from conversations.analytics.definitions import DEFINITIONS
from conversations.analytics.figure_cache import fresh_figures
from conversations.analytics.period import FIRST_DAY, LONGEST_DAYS, Period, days_until
from conversations.models import Channel
from projects.api.query_params import day_param
from projects.api.typed_responses import TypedResponse
from projects.api.views import ProjectView
from projects.common.api_error import Unprocessable
from projects.common.presenters import Day, Stamp, stamp
from projects.models import Project
from projects.models.key import Scope

USUAL_DAYS = 30
REFUSED = {422: OpenApiResponse(description="The days are in the wrong order, in the future, or too many.")}


class PromisesPayload(TypedDict):
    """Promises made in the period, by what became of them."""

    kept: Annotated[int, DEFINITIONS["promises_kept"].sentence]
    open: Annotated[int, DEFINITIONS["promises_open"].sentence]
    broken: Annotated[int, DEFINITIONS["promises_broken"].sentence]
    not_sent: Annotated[int, DEFINITIONS["promises_not_sent"].sentence]
    withdrawn: Annotated[int, DEFINITIONS["promises_withdrawn"].sentence]
    kept_rate: Annotated[float | None, DEFINITIONS["kept"].sentence]


class FiguresPayload(TypedDict):
    conversations: Annotated[int, DEFINITIONS["conversations"].sentence]
    resolved: Annotated[int, DEFINITIONS["resolved"].sentence]
    handed_over: Annotated[int, DEFINITIONS["handed_over"].sentence]
    unanswered: Annotated[int, DEFINITIONS["unanswered"].sentence]
    rated: Annotated[int, DEFINITIONS["rated"].sentence]
    satisfied: Annotated[int, "Conversations that the customer rated with four or five stars."]
    promises: PromisesPayload


class CostedPayload(FiguresPayload):
    cost: Annotated[float | None, DEFINITIONS["cost"].sentence]


class ChannelFiguresPayload(CostedPayload):
    channel: Annotated[str, Channel]


class TopicFiguresPayload(CostedPayload):
    topic: Annotated[str | None, "The scenario that the newest directives name; null for conversations without one."]


class ToolFiguresPayload(FiguresPayload):
    tool: str
    actions: Annotated[int, DEFINITIONS["actions"].sentence]


class HourFiguresPayload(CostedPayload):
    hour: Annotated[int, "0 to 23, in the business's time zone."]


class AnalyticsPayload(TypedDict):
    """Figures of a period. The channels and the hours add up to the total, except for costs of no conversation. The lists of
    topics and tools end after 20.
    """

    since: Day
    until: Day
    timezone: str
    counted_until: Stamp
    total: CostedPayload
    by_channel: list[ChannelFiguresPayload]
    by_topic: list[TopicFiguresPayload]
    by_tool: list[ToolFiguresPayload]
    by_hour: list[HourFiguresPayload]


class Analytics(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ}
    queries: ClassVar = {
        "GET": (
            OpenApiParameter("since", OpenApiTypes.DATE, description="First day; by default 30 days up to `until`."),
            OpenApiParameter("until", OpenApiTypes.DATE, description="Last day; by default today."),
        )
    }

    @extend_schema(operation_id="analytics_read", responses=REFUSED)
    def get(self, request: Request) -> TypedResponse[AnalyticsPayload]:
        """Retrieves figures of a period by channel, topic, tool and hour of the day.

        Days are those of the business's time zone. Figures of a busy project may be a minute old.
        """
        period = self._period(request)
        figures = fresh_figures("api", self.project, period, partial(break_down, self.project, period))
        return TypedResponse(analytics_payload(figures))

    def _period(self, request: Request) -> Period:
        zone, now = _zone_of(self.project), timezone.now()
        today = now.astimezone(ZoneInfo(zone)).date()
        last = min(day_param(request, "until") or today, today)
        if last < FIRST_DAY:
            raise Unprocessable("invalid_period", f"until must not be before {FIRST_DAY}.", field="until")
        first = day_param(request, "since") or last - timedelta(days=USUAL_DAYS - 1)
        if first > last or (last - first).days >= LONGEST_DAYS:
            message = f"since must be at most {LONGEST_DAYS - 1} days before until, and not after it or in the future."
            raise Unprocessable("invalid_period", message, field="since")
        return days_until(now, first, last, timezone=zone)


def analytics_payload(figures: Breakdown) -> AnalyticsPayload:
    return {
        "since": figures.period.first_day.isoformat(),
        "until": figures.period.last_day.isoformat(),
        "timezone": figures.period.timezone,
        "counted_until": stamp(_in_utc(figures.period.until)),
        "total": _costed(figures.total),
        "by_channel": [{"channel": row.key, **_costed(row)} for row in figures.channels],
        "by_topic": [{"topic": None if row.key == "none" else row.label, **_costed(row)} for row in figures.topics],
        "by_tool": [{"tool": row.key, "actions": row.actions, **_figures(row)} for row in figures.tools],
        "by_hour": [{"hour": int(row.key), **_costed(row)} for row in figures.hours],
    }


def _figures(row: Row) -> FiguresPayload:
    rate = row.kept_rate
    return {
        "conversations": row.conversations,
        "resolved": row.resolved,
        "handed_over": row.handed_over,
        "unanswered": row.unanswered,
        "rated": row.rated,
        "satisfied": row.satisfied,
        "promises": {
            "kept": row.promises["kept"],
            "open": row.promises["open"],
            "broken": row.promises["broken"],
            "not_sent": row.promises["not_sent"],
            "withdrawn": row.promises["withdrawn"],
            "kept_rate": None if rate is None else round(rate, 1),
        },
    }


def _costed(row: Row) -> CostedPayload:
    return {**_figures(row), "cost": None if row.cost is None else float(row.cost)}


def _in_utc(moment: datetime) -> datetime:
    return moment.astimezone(ZoneInfo("UTC"))


def _zone_of(project: Project) -> str:
    version = project.agent_version
    return version.config.timezone if version else "UTC"
