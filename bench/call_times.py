"""The times of calls: what the provider saw, without what a tool and a model took in the same turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median
from typing import Any

import psycopg

from bench.product import Product

TOOLS = """
select c.external_id, r.payload ->> 'call', (r.payload ->> 'took_ms')::float8
from conversations_call c
join conversations_event r on r.conversation_id = c.conversation_id and r.idn = 'live_tool_result'
"""
# The agent's spoken turns, in their order, with the job that writes their directives.
TURNS = """
select c.external_id, t.seq, j.created_at, j.started_at, m.started_at, m.total_ms, j.finished_at, d.id is not null
from conversations_call c
join conversations_turn t on t.conversation_id = c.conversation_id
left join jobs_job j on j.key = 'thoughts:' || t.id and j.state = 'done'
left join jobs_modelcall m on m.job_id = j.id and m.skill = 'thoughts'
left join conversations_directives d on d.turn_id = t.id
order by c.external_id, t.seq
"""
DIRECTIVES = "<CurrentTaskAnalysis"


@dataclass
class CallTimes:
    """Milliseconds, of tools and directives that arrived. `stages` are those of the way to the directives."""

    tools: list[float] = field(default_factory=list)
    directives: list[float] = field(default_factory=list)
    stages: dict[str, list[float]] = field(default_factory=dict)

    @property
    def stage_medians(self) -> dict[str, float]:
        return {name: median(times) for name, times in self.stages.items() if times}


def read_times(product: Product, documents: Sequence[Mapping[str, Any]]) -> CallTimes:
    """The times of the provider's calls."""
    with psycopg.connect(product.env["OPS_DATABASE_URL"], autocommit=True) as ops:
        [organization] = ops.execute("select organization_id from jobs_job where lane = 'call' limit 1").fetchone() or [
            None
        ]
    with psycopg.connect(product.env["MIGRATE_DATABASE_URL"], autocommit=True) as connection:
        connection.execute("select set_config('app.organization_id', %s, false)", [str(organization)])
        own = {(call, tool): took for call, tool, took in connection.execute(TOOLS)}
        turns: dict[str, list[tuple[Any, ...]]] = {}
        for call, *turn in connection.execute(TURNS):
            turns.setdefault(call, []).append(tuple(turn))
    times = CallTimes()
    for document in documents:
        call = document["call_id"]
        times.tools += _tools(document, {tool: took for (of, tool), took in own.items() if of == call})
        _add_directives(times, document, turns.get(call, []))
    return times


def _tools(document: Mapping[str, Any], own: Mapping[str, float]) -> list[float]:
    """From each function call's arrival to its result on the wire, without the tool's own time."""
    answered = document["answered_at"]
    called = [(tool, at) for tool, at in document["called_at"].items() if tool in answered and tool in own]
    return [1000 * (answered[tool] - at) - own[tool] for tool, at in called]


def _add_directives(times: CallTimes, document: Mapping[str, Any], turns: Sequence[tuple[Any, ...]]) -> None:
    """From the end of each spoken turn to its directives in the session, without the model's call."""
    told = [at for at, text in zip(document["told_at"], document["told"], strict=True) if DIRECTIVES in text]
    for spoken, (_, created, started, asked, model_ms, finished, has_directives) in zip(
        document["spoken_at"], turns, strict=False
    ):
        arrived = next((at for at in told if at > spoken), None)
        if not has_directives or asked is None or arrived is None or arrived < finished.timestamp():
            continue
        times.directives.append(1000 * (arrived - spoken) - model_ms)
        answered = asked.timestamp() + model_ms / 1000
        stages = {
            "the words on record": created.timestamp() - spoken,
            "the job claimed": _between(created, started),
            "the model asked": _between(started, asked),
            "the directives committed": finished.timestamp() - answered,
            "the directives on the wire": arrived - finished.timestamp(),
        }
        for name, seconds in stages.items():
            times.stages.setdefault(name, []).append(1000 * seconds)


def _between(one: datetime, other: datetime) -> float:
    return (other - one).total_seconds()
