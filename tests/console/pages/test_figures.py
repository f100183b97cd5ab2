"""The dashboard's metrics and their cache."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from console.dashboard.charts import Axis, Series, lines, nice_top, stacked
from console.dashboard.metrics import Figures, project_figures
from console.dashboard.stats import stats_of
from conversations.analytics import figure_cache
from conversations.analytics.period import Period, last_days
from conversations.models import Channel, Turn
from jobs.models import ModelCall
from tests.conftest import Tenant
from tests.console.pages.conftest import add_promise, add_turn, playground, talk
from tools.models import PromiseState


def figures_of(tenant: Tenant, *, now: datetime | None = None, days: int = 7) -> Figures:
    with tenant.tx():
        return project_figures(tenant.project, last_days(now or timezone.now(), days=days, timezone="Europe/Rome"))


def days_ago(days: float) -> datetime:
    return timezone.now() - timedelta(days=days)


def test_a_week_is_compared_with_the_same_hours_of_the_week_before(tenant: Tenant) -> None:
    talk(tenant, "Hi", "Still there?", at=days_ago(0.001))
    talk(tenant, "Hello", at=days_ago(7.001))
    talk(tenant, "Too early", at=days_ago(15))
    figures = figures_of(tenant)
    assert (figures.now.conversations, figures.now.messages) == (1, 2)
    assert (figures.before.conversations, figures.before.messages) == (1, 1)


def test_the_previous_week_ends_at_the_same_time_of_day(tenant: Tenant) -> None:
    now = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
    talk(tenant, "In the evening", at=datetime(2026, 11, 13, 19, 0, tzinfo=UTC))
    assert figures_of(tenant, now=now).before.conversations == 0


def test_days_are_in_the_business_time_zone(tenant: Tenant) -> None:
    """23:30 in London is tomorrow in Rome."""
    talk(tenant, "Hi", at=datetime(2026, 11, 19, 23, 30, tzinfo=UTC))
    figures = figures_of(tenant, now=datetime(2026, 11, 20, 12, 0, tzinfo=UTC))
    assert [day.volume and day.volume.all for day in figures.slots] == [0, 0, 0, 0, 0, 0, 1]


def test_today_is_counted_by_the_hour_and_later_hours_have_no_figures(tenant: Tenant) -> None:
    talk(tenant, "Hi", at=datetime(2026, 11, 20, 8, 30, tzinfo=UTC))
    figures = figures_of(tenant, now=datetime(2026, 11, 20, 12, 0, tzinfo=UTC), days=1)
    volumes = [slot.volume and slot.volume.all for slot in figures.slots]
    assert volumes == [0] * 9 + [1] + [0] * 4 + [None] * 10


def test_today_is_compared_with_yesterday_at_this_time(tenant: Tenant) -> None:
    talk(tenant, "Yesterday morning", at=datetime(2026, 11, 19, 8, 0, tzinfo=UTC))
    talk(tenant, "Yesterday evening", at=datetime(2026, 11, 19, 19, 0, tzinfo=UTC))
    figures = figures_of(tenant, now=datetime(2026, 11, 20, 12, 0, tzinfo=UTC), days=1)
    assert (figures.now.conversations, figures.before.conversations) == (0, 1)


def test_time_to_first_token_counts_replies_only(tenant: Tenant) -> None:
    row = talk(tenant, "one", "two", "three")
    with tenant.tx():
        for turn, message in zip(Turn.objects.all(), row.messages.all(), strict=True):
            Turn.objects.filter(pk=turn.pk).update(message=message)
        add_turn(row, seq=4, at=days_ago(0.001), first_token_ms=9_000)
    week = figures_of(tenant).now.replies
    assert week.median_ms == pytest.approx(300)
    assert week.p95_ms == pytest.approx(300)


def test_quality_is_the_mean_over_scored_turns(tenant: Tenant) -> None:
    row = talk(tenant, "Hi", channel=Channel.PHONE)
    with tenant.tx():
        for seq, score in enumerate((4, 9), 2):
            add_turn(row, seq=seq, at=days_ago(0.001), quality_score=score)
    week = figures_of(tenant).now.replies
    assert (week.quality, week.scored) == (6.5, 2)


def test_cost_is_unknown_until_a_model_has_a_price(tenant: Tenant) -> None:
    def call(cost: Decimal | None) -> None:
        with tenant.tx():
            now = timezone.now()
            ModelCall.objects.create(
                project=tenant.project, skill="reply", model="m", messages=[], started_at=now, total_ms=1, cost=cost
            )

    call(None)
    assert figures_of(tenant).now.cost is None
    call(Decimal("0.25"))
    assert figures_of(tenant).now.cost == Decimal("0.25")


def test_metrics_exclude_test_conversations(tenant: Tenant) -> None:
    """Their turns, messages and promises; their cost stands apart."""
    row = playground(tenant, "Hi", "Still there?")
    add_promise(tenant, row, state=PromiseState.KEPT)
    with tenant.tx():
        now = timezone.now()
        ModelCall.objects.create(
            project=tenant.project,
            subject_id=row.pk,
            skill="reply",
            model="m",
            messages=[],
            started_at=now,
            total_ms=1,
            cost=Decimal("0.25"),
        )
    figures = figures_of(tenant)
    assert figures.is_empty
    assert (figures.now.replies.count, figures.now.conversations) == (0, 0)
    assert (figures.now.cost, figures.now.test_cost) == (None, Decimal("0.25"))
    assert figures.promises.now.made == 0


def test_the_home_page_shows_the_share_of_kept_promises_and_those_not_sent_apart(tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    for state in (PromiseState.KEPT, PromiseState.KEPT, PromiseState.KEPT, PromiseState.BROKEN, PromiseState.WITHDRAWN):
        add_promise(tenant, row, state=state)
    add_promise(tenant, row, evidence="outbox", owner="staff")
    stats = stats_of(figures_of(tenant))
    assert (stats.kept_rate, stats.kept, stats.broken, stats.not_sent, stats.unowned) == ("75.0", 3, 1, 1, 0)


def test_metrics_exclude_other_tenants(tenant: Tenant, stranger: Tenant) -> None:
    talk(stranger, "Hi")
    assert figures_of(tenant).is_empty


def period_now() -> Period:
    return last_days(timezone.now(), days=7, timezone="Europe/Rome")


@pytest.fixture
def recent(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int | None]:
    """The number of conversations shown for a busy project; None while counting."""
    monkeypatch.setattr(figure_cache, "BUSY", 1)

    def count() -> int | None:
        with tenant.tx():
            figures = figure_cache.recent_figures(
                "home", tenant.project, period_now(), lambda: project_figures(tenant.project, period_now())
            )
        return figures.now.conversations if figures else None

    return count


def wait_for_counting() -> None:
    for running in list(figure_cache._counting.values()):
        running.result(timeout=60)


def test_a_busy_projects_first_count_runs_in_the_background(tenant: Tenant, recent: Callable[[], int | None]) -> None:
    talk(tenant, "Hi")
    assert recent() is None
    wait_for_counting()
    assert recent() == 1


def test_a_quiet_projects_metrics_are_current(
    tenant: Tenant, recent: Callable[[], int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figure_cache, "BUSY", 3)
    for conversations in (1, 2):
        talk(tenant, "Hi")
        assert recent() == conversations
    assert not figure_cache._counting


def test_a_busy_projects_metrics_are_counted_once_a_minute(tenant: Tenant, recent: Callable[[], int | None]) -> None:
    talk(tenant, "Hi")
    recent()
    wait_for_counting()
    talk(tenant, "Hi")
    assert recent() == 1
    assert not figure_cache._counting


def test_stale_metrics_are_refreshed_in_the_background(
    tenant: Tenant, recent: Callable[[], int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(tenant, "Hi")
    recent()
    wait_for_counting()
    talk(tenant, "Hi")
    monkeypatch.setattr(figure_cache, "FRESH_SECONDS", 0.0)
    assert recent() == 1
    wait_for_counting()
    assert recent() == 2
    wait_for_counting()


def test_outdated_metrics_are_not_shown(
    tenant: Tenant, recent: Callable[[], int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(tenant, "Hi")
    recent()
    wait_for_counting()
    monkeypatch.setattr(figure_cache, "LONGEST_SECONDS", 0.0)
    assert recent() is None
    wait_for_counting()


def test_the_metrics_of_another_day_are_not_shown(
    tenant: Tenant, recent: Callable[[], int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(tenant, "Hi")
    recent()
    wait_for_counting()
    tomorrow = timezone.now() + timedelta(days=1)
    monkeypatch.setattr(timezone, "now", lambda: tomorrow)
    assert recent() is None
    wait_for_counting()


# Charts


@pytest.mark.parametrize(
    ("value", "top"),
    [(0, 2), (3, 4), (5, 6), (10, 10), (11, 20), (22, 40), (96, 100), (100 + 1e-13, 100), (210, 250), (1410, 2000)],
)
def test_an_axis_ends_at_a_round_number(value: float, top: float) -> None:
    assert nice_top(value) == top


def test_bars_are_stacked_within_a_column() -> None:
    series = [Series("Chat", "c-act", [3]), Series("Phone", "c-soft", [2])]
    chart = stacked(series, Axis(["Mon"], ["M"], urls=["?day=1"]), height=190, unit="", summary="")
    [column] = chart.columns
    below, above = column.segments
    assert above.y + above.height < below.y
    assert [(value.name, value.text) for value in column.values] == [("Chat", "3"), ("Phone", "2")]
    assert column.url == "?day=1"


def test_an_empty_column_leads_nowhere() -> None:
    axis = Axis(["Mon", "Tue"], ["M", "T"], urls=["?day=1", "?day=2"])
    chart = stacked([Series("Chat", "c-act", [0, 1])], axis, height=190, unit="", summary="")
    assert [column.url for column in chart.columns] == ["", "?day=2"]


def test_a_chart_has_few_labels_and_the_current_one_is_among_them() -> None:
    days = [str(day) for day in range(30)]
    chart = stacked([Series("Chat", "c-act", [1] * 30)], Axis(days, days, now=29), height=190, unit="", summary="")
    assert len(chart.labels) <= 8
    assert [label.text for label in chart.labels if label.is_now] == ["29"]


@pytest.mark.parametrize(
    ("value", "marks"), [(7, ["0", "5", "10"]), (4e6, ["0", "2 M", "4 M"]), (30_000, ["0", "20 k", "40 k"])]
)
def test_large_marks_of_an_axis_are_short_enough_for_its_margin(value: float, marks: list[str]) -> None:
    chart = stacked([Series("Tokens", "c-act", [value])], Axis(["Mon"], ["M"]), height=190, unit="", summary="")
    assert [line.label.replace("\N{NO-BREAK SPACE}", " ") for line in chart.grid] == marks


def test_a_line_is_interrupted_at_missing_values() -> None:
    axis = Axis(["a", "b", "c"], ["a", "b", "c"])
    chart = lines([Series("median", "l1", [1, None, 2])], axis, height=160, unit=" ms", summary="")
    assert [part[0] for part in chart.lines[0].path.split(" ") if part[0] in "ML"] == ["M", "M"]
    assert [bool(column.values) for column in chart.columns] == [True, False, True]
