"""The run log: the executor's steps with their tool calls, results and cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from itertools import groupby
from uuid import UUID

from console.durations import span_of
from console.effects.labels import StateLabel, shortened, state_label
from console.timestamps import Timestamp, format_timestamp
from console.todos.answers import answer_fields, summary_of
from console.todos.arguments import in_order
from console.todos.invisible_characters import Piece, mark_hidden
from console.todos.plan import plain
from projects.common.numbers import dollars
from projects.common.stored_sentences import translated
from todos.approvals.job_keys import next_attempts
from todos.models import Approval, Todo, TodoCall, TodoStatus, TodoStep
from todos.models.step import MOST_STEPS
from tools.engine.catalogue import CompiledTool
from tools.engine.tool_words import argument_label, title_of_tool
from tools.models import EffectState

LONGEST_RESULT = 2_000
DOUBTFUL = (EffectState.UNKNOWN, EffectState.HELD)
TROUBLE = (EffectState.FAILED, EffectState.UNKNOWN, EffectState.HELD)
WORST_FIRST = ("bad", "warn", "act")


@dataclass(frozen=True)
class Call:
    """One tool call. `raw` is the model's text if it wasn't a JSON object. `fields` are those of a result that is JSON, which
    `document` has as it came. `effect` is the state of the effect, if any, and `next_attempt` the time at which it is tried
    again.
    """

    name: str
    title: str
    arguments: list[tuple[str, list[Piece]]]
    raw: list[Piece]
    result: str
    fields: list[tuple[str, list[Piece]]]
    document: str
    tone: str
    effect_id: UUID | None
    effect: StateLabel | None
    next_attempt: Timestamp | None


@dataclass(frozen=True)
class Step:
    """One step. `said` is the text that the model wrote along with its calls."""

    number: int
    tone: str
    said: str
    calls: list[Call]
    length: str
    at: Timestamp


@dataclass(frozen=True)
class Run:
    """The steps under one approval. `bars` holds a tone for each of the MOST_STEPS possible steps."""

    version: int
    steps: list[Step]
    bars: list[str]
    cost: str
    is_frozen: bool

    @property
    def used(self) -> int:
        return len(self.steps)


def runs_of(todo: Todo, *, tools: Mapping[str, CompiledTool], zone: str) -> list[Run]:
    """All runs of a todo, newest first."""
    rows = TodoStep.objects.filter(todo=todo).select_related("approval").order_by("approval_id", "number")
    steps = list(rows)
    calls: dict[UUID, list[TodoCall]] = {}
    for call in TodoCall.objects.filter(step__in=steps).select_related("effect").order_by("step_id", "index"):
        calls.setdefault(call.step_id, []).append(call)
    groups = groupby(steps, key=lambda step: step.approval)
    is_running = todo.status == TodoStatus.IN_PROGRESS
    runs = [
        _run(
            approval,
            list(group),
            calls,
            zone,
            tools,
            is_running=is_running and approval.version == todo.version,
        )
        for approval, group in groups
    ]
    return sorted(runs, key=lambda run: run.version, reverse=True)


def _run(
    approval: Approval,
    rows: Sequence[TodoStep],
    calls: Mapping[UUID, list[TodoCall]],
    zone: str,
    tools: Mapping[str, CompiledTool],
    *,
    is_running: bool,
) -> Run:
    effects = [call.effect for row in rows for call in calls.get(row.pk, []) if call.effect]
    due = (
        {pk: format_timestamp(at, zone=zone) for pk, at in next_attempts(approval, effects).items()}
        if is_running
        else {}
    )
    steps = [_step(row, calls.get(row.pk, []), zone, tools, due=due, is_running=is_running) for row in rows]
    tones = {step.number: step.tone for step in steps}
    return Run(
        version=approval.version,
        steps=steps,
        bars=[tones.get(number, "") for number in range(1, MOST_STEPS + 1)],
        cost=_cost([row.cost for row in rows]),
        is_frozen=bool(rows) and not any(row.model for row in rows),
    )


def _step(
    row: TodoStep,
    rows: Iterable[TodoCall],
    zone: str,
    tools: Mapping[str, CompiledTool],
    *,
    due: Mapping[UUID, Timestamp],
    is_running: bool,
) -> Step:
    calls = [_call(call, tools, due=due, is_running=is_running) for call in rows]
    return Step(
        number=row.number,
        tone=next((tone for tone in WORST_FIRST if any(call.tone == tone for call in calls)), "ok"),
        said=row.content.strip(),
        calls=calls,
        length=span_of(timedelta(milliseconds=row.total_ms)) if row.total_ms is not None and row.model else "",
        at=format_timestamp(row.started_at, zone=zone),
    )


def _call(row: TodoCall, tools: Mapping[str, CompiledTool], *, due: Mapping[UUID, Timestamp], is_running: bool) -> Call:
    effect = state_label(row.effect) if row.effect else None
    next_attempt = due.get(row.effect_id) if row.effect_id else None
    arguments = in_order(row.arguments or {}, tools.get(row.name))
    result = _result(row, effect, is_retried=next_attempt is not None)
    fields = answer_fields(result, row.effect) if result == _written(row) else []
    return Call(
        name=row.name,
        title=title_of_tool(row.name),
        arguments=[(argument_label(name), mark_hidden(plain(value))) for name, value in arguments.items()],
        raw=mark_hidden(row.arguments_text) if row.arguments is None else [],
        result=summary_of(fields) if fields else result,
        fields=[(name, mark_hidden(value)) for name, value in fields],
        document=result if fields else "",
        tone=_tone(row, effect, is_running=is_running),
        effect_id=row.effect_id,
        effect=effect,
        next_attempt=next_attempt,
    )


def _result(row: TodoCall, effect: StateLabel | None, *, is_retried: bool) -> str:
    """The result, which is written for the model, or for people what went wrong, or what an effect in doubt means."""
    if row.effect and is_retried:
        return str(translated(row.effect.error))
    if row.effect and effect and (row.effect.is_in_outbox or row.effect.state in DOUBTFUL):
        return str(effect.meaning)
    return _written(row)


def _written(row: TodoCall) -> str:
    """The result as the model reads it."""
    return shortened(row.result.strip(), longest=LONGEST_RESULT)


def _tone(row: TodoCall, effect: StateLabel | None, *, is_running: bool) -> str:
    """The effect's tone if it is in trouble; otherwise a warning for an error or the outbox, or activity while the call runs."""
    if row.effect and row.effect.state in TROUBLE and effect:
        return effect.tone
    if row.is_error or (row.effect and row.effect.is_in_outbox):
        return "warn"
    return "act" if is_running and not row.result else "ok"


def _cost(costs: Sequence[Decimal | None]) -> str:
    """Cost in US dollars; empty if no model was called or a price is unknown."""
    known = [cost for cost in costs if cost is not None]
    if not known or len(known) < len(costs):
        return ""
    total = sum(known, Decimal(0))
    return dollars(total)
