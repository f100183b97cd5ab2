"""The steps of a scenario: what the customer, the models, staff, the outside world and the clock do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal
from uuid import UUID

from django.http import Http404

from conversations.tool_runs.effects import resolution
from conversations.tool_runs.effects.acknowledgment import acknowledge
from conversations.turns.services import post_message
from conversations.voice.tool_calls import LiveCall, handle_tool_call
from jobs.errors import WrongState
from projects.common.api_error import ApiError
from tests.conversations.effects.target import Answers
from tests.laws.world import CALLED_TEXT, CONDITIONS, CREW, KITCHEN, PART, PROMISED, REFUND, TEXT, WISH, World
from todos.approvals.manual_completion import complete_todo, take_todo
from todos.content.lifecycle import Actor
from todos.content.snapshot import content_of, hash_of
from todos.models import Todo, TodoSource, TodoStatus
from todos.services import approve_todo, cancel_todo, make_todo, reject_todo
from tools.engine.execution.callback import callback_token
from tools.engine.function_calling.contexts import read_context
from tools.engine.promise_answers import mark_kept, withdraw_promise
from tools.models import Effect, EffectState, Promise

SENTENCES = {
    CREW: "I'll notify the crew right away.",
    KITCHEN: "I'll tell the kitchen about your allergy.",
    PART: "I'll order the missing part today.",
    REFUND: "I'll pay the deposit back to you.",
    WISH: "I'll pass your wish on to the owner.",
    TEXT: "I'll text you the details in a moment.",
}
UNSERVED = "I'll ask the chef for the recipe."
PLAIN = "We open at noon."
ONCE_MORE = "Please do that once more."
AGAIN = "once more"
INVENTED = "I'll see to all of it for you at once"
Words = Literal["true", "invented", "empty", "customer", "twice", "offer"]
Arguments = dict[str, dict[str, Any]]
# Arguments by the moment that takes them.
CALLED: Arguments = {CALLED_TEXT: {"text": "Your table is booked."}, CREW: {"note": "Two highchairs"}}
FROZEN: Arguments = {TEXT: {"text": "Your table is booked."}, CREW: {"body": {"note": "Two highchairs"}}}
OWNER = Actor("Nello")
# The product may refuse what staff asks for, and then nothing changes.
refused = partial(suppress, ApiError, WrongState, Http404)


class Step:
    """One step of a scenario."""

    def take(self, world: World) -> None:
        """Carry the step out."""
        raise NotImplementedError


@dataclass(frozen=True)
class Reading(Step):
    """The detection's verdict that a tool fires, and where it takes its quote from."""

    tool: str
    words: Words = "true"

    @property
    def is_true(self) -> bool:
        return self.words in ("true", "twice")

    def verdicts(self) -> Iterator[dict[str, Any]]:
        quotes = {"invented": INVENTED, "empty": "", "customer": ONCE_MORE}
        quote = quotes.get(self.words, SENTENCES[self.tool])
        met = [{"name": name, "met": True} for name in CONDITIONS.get(self.tool, PROMISED)]
        for _ in range(2 if self.words == "twice" else 1):
            rule = "offer" if self.words == "offer" else None
            yield {"quote": quote, "tool": self.tool, "conditions": met, "rule": rule}


@dataclass(frozen=True)
class Exchange(Step):
    """The customer writes, the agent calls tools and answers, and its promises are looked for."""

    says: tuple[str, ...] = ()
    readings: tuple[Reading, ...] = ()
    calls: tuple[str, ...] = ()
    unserved: tuple[str, ...] = ()
    is_again: bool = False
    dies_at: str = ""

    def take(self, world: World) -> None:
        world.work("reply", "tool_caller")
        self._script(world)
        talk = world.talk()
        with world.tenant.tx():
            turn = post_message(talk.pk, ONCE_MORE).turn
        said = {reading.tool for reading in self.readings if reading.is_true and reading.tool in self.says}
        world.journal.promised[turn.pk], world.journal.called[turn.pk] = said, set(self.calls)
        world.work("reply", "tool_caller", dies_at=self.dies_at)

    def _script(self, world: World) -> None:
        verdicts = [verdict for reading in self.readings for verdict in reading.verdicts()]
        unserved = [{"quote": quote, "what": "something"} for quote in self.unserved]
        answer = " ".join([PLAIN, *(SENTENCES.get(one, one) for one in self.says)])
        world.model.reset()
        world.model.script_all(
            *(
                {"skill": "reply", "tool_calls": [{"name": tool, "arguments": CALLED.get(tool, {})}], "text": ""}
                for tool in self.calls
            ),
            {"skill": "reply", "times": 0, "text": answer},
            {
                "skill": "detect",
                "times": 0,
                "match": "`unserved` lists",
                "json": {"verdicts": verdicts, "unserved": unserved},
            },
            {"skill": "detect", "times": 0, "json": {"verdicts": verdicts}},
            {
                "skill": "arguments",
                "times": 0,
                "match": "did this already",
                "json": {"quote": AGAIN, "asked_again": self.is_again},
            },
            *(
                {"skill": "arguments", "times": 0, "match": f"The tool {tool} is about to", "json": arguments}
                for tool, arguments in FROZEN.items()
            ),
        )


@dataclass(frozen=True)
class Call(Step):
    """The model of a live call calls a tool. The provider may deliver the call twice."""

    tool: str
    number: int = 1
    dies_at: str = ""

    def take(self, world: World) -> None:
        talk, tenant = world.talk("phone"), world.tenant
        context = {
            "channel": "phone",
            "callSid": "CA1",
            "authToken": "canary",
            "callerPhone": "+390655501",
            "interactionId": str(talk.pk),
            "callerVerified": True,
            "callerId": "c-1",
        }
        call = LiveCall(
            organization_id=tenant.organization.pk,
            project_id=tenant.project.pk,
            conversation_id=talk.pk,
            call_id=f"call-{self.number}",
            name=self.tool,
            arguments_json=json.dumps(CALLED.get(self.tool, {})),
            context=read_context(context, business_id=tenant.project.pk, conversation_id=talk.pk, channel="phone"),
        )
        world.journal.live.add(self.tool)
        world.run(handle_tool_call(call), dies_at=self.dies_at)


@dataclass(frozen=True)
class Plan(Step):
    """Staff makes a todo that runs a tool."""

    tool: str

    def take(self, world: World) -> None:
        talk = world.talk()
        with refused(), world.tenant.tx():
            make_todo(
                world.tenant.project,
                description="Do it.",
                source=TodoSource.PERSON,
                actor=OWNER,
                conversation_id=talk.pk,
                persona_id=talk.persona_id,
                tool=self.tool,
                arguments=FROZEN.get(self.tool, {}),
            )
            world.journal.planned_by_hand.add(self.tool)


@dataclass(frozen=True)
class Decide(Step):
    """Staff decides on one of the todos that wait for it."""

    verb: Literal["approve", "reject", "cancel", "by_hand"]
    index: int = 0

    def take(self, world: World) -> None:
        with world.tenant.tx():
            waiting = Todo.objects.exclude(status__in=(TodoStatus.COMPLETED, TodoStatus.REJECTED, TodoStatus.CANCELLED))
            todos = list(waiting.select_related("project", "type", "effect").order_by("created_at", "id"))
        if todos:
            todo = todos[self.index % len(todos)]
            with refused(), world.tenant.tx():
                self._decide(world, todo)

    def _decide(self, world: World, todo: Todo) -> None:
        journal, member = world.journal, world.owner
        actor = Actor("Nello", member.pk)
        seen = {"version": todo.version, "content_hash": hash_of(content_of(todo))}
        match self.verb:
            case "approve":
                approve_todo(todo.pk, **seen, actor=actor, member=member)
                journal.approved.add(todo.pk)
            case "by_hand":
                take_todo(todo.pk, **seen, actor=actor, member=member)
                complete_todo(todo.pk, actor=actor, note="Seen to.")
                journal.by_hand.add(todo.pk)
            case "reject":
                reject_todo(todo.pk, actor=actor, reason="No.")
                journal.approved.discard(todo.pk)
            case "cancel":
                cancel_todo(todo.pk, actor=actor, reason="No longer.")
                journal.approved.discard(todo.pk)


@dataclass(frozen=True)
class Resolve(Step):
    """Staff answers whether an unknown effect happened."""

    happened: bool
    index: int = 0

    def take(self, world: World) -> None:
        if (effect := _pick(world, EffectState.UNKNOWN, self.index)) is None:
            return
        with refused(), world.tenant.tx():
            resolution.resolve(world.tenant.project, effect.pk, happened=self.happened, by=None)
            if self.happened:
                world.journal.confirmed.add(effect.pk)
            else:
                world.journal.sent_again[effect.pk] += 1


@dataclass(frozen=True)
class Release(Step):
    """Staff sends a held repeat after all, or a message of the outbox."""

    of: Literal[EffectState.HELD, EffectState.DONE] = EffectState.HELD
    index: int = 0

    def take(self, world: World) -> None:
        if (effect := _pick(world, self.of, self.index)) is None:
            return
        with refused(), world.tenant.tx():
            resolution.release(world.tenant.project, effect.pk, by=None)
            world.journal.sent_again[effect.pk] += 1


@dataclass(frozen=True)
class CallBack(Step):
    """The tool of an accepted effect reports its end, maybe with a token that is not its own."""

    error: str = ""
    has_token: bool = True
    index: int = 0

    def take(self, world: World) -> None:
        with world.tenant.tx():
            accepted = list(Effect.objects.exclude(accepted_at=None).order_by("created_at", "id"))
        if not accepted:
            return
        effect = accepted[self.index % len(accepted)]
        token = callback_token(effect.pk if self.has_token else UUID(int=effect.pk.int ^ 1))
        with world.tenant.tx():
            body = json.dumps({"error": self.error}).encode()
            is_taken = resolution.store_callback(effect.pk, token=token, body=body)
        if is_taken and not self.error:
            world.journal.called_back.add(effect.pk)


@dataclass(frozen=True)
class Acknowledge(Step):
    """The subscriber of an event says over the API that it has received it."""

    index: int = 0

    def take(self, world: World) -> None:
        with world.tenant.tx():
            events = list(Effect.objects.filter(tool=WISH).order_by("created_at", "id"))
        if not events:
            return
        event = events[self.index % len(events)]
        with refused(), world.tenant.tx():
            acknowledge(world.tenant.project, event.pk)
            world.journal.called_back.add(event.pk)


@dataclass(frozen=True)
class Answer(Step):
    """Staff says that a promise was kept, or takes it back."""

    is_kept: bool
    index: int = 0

    def take(self, world: World) -> None:
        with world.tenant.tx():
            promises = list(Promise.objects.order_by("created_at", "id"))
        if not promises:
            return
        promise = promises[self.index % len(promises)]
        with refused(), world.tenant.tx():
            if self.is_kept:
                mark_kept(world.tenant.project, promise.pk, by="Nello")
                world.journal.marked_kept.add(promise.pk)
            else:
                withdraw_promise(world.tenant.project, promise.pk, by="Nello")


@dataclass(frozen=True)
class Switch(Step):
    """The business opens or closes a tool."""

    tool: str
    is_open: bool

    def take(self, world: World) -> None:
        world.switch(self.tool, is_open=self.is_open)


@dataclass(frozen=True)
class Consent(Step):
    """The customer allows texts, or no longer."""

    is_given: bool

    def take(self, world: World) -> None:
        world.consent(is_given=self.is_given)


@dataclass(frozen=True)
class RequireApproval(Step):
    """The business requires approval of texts, or no longer."""

    is_required: bool

    def take(self, world: World) -> None:
        world.require_approval(is_required=self.is_required)


@dataclass(frozen=True)
class Connect(Step):
    """The business connects a provider for texts."""

    def take(self, world: World) -> None:
        world.connect()


@dataclass(frozen=True)
class Subscribe(Step):
    """The business subscribes the target to its events."""

    def take(self, world: World) -> None:
        world.subscribe()


@dataclass(frozen=True)
class Weather(Step):
    """The target answers in this way from now on."""

    answer: Literal["ok", "accepted", "bad", "busy", "broken", "dropped"]

    def take(self, world: World) -> None:
        world.weather = {
            "ok": Answers(),
            "accepted": Answers(202, body=""),
            "bad": Answers(400, body='{"error": "no"}'),
            "busy": Answers(503, body=""),
            "broken": Answers(500, body=""),
            "dropped": Answers(drops=True),
        }[self.answer]


@dataclass(frozen=True)
class Work(Step):
    """A worker runs all due jobs, and may die on the way. With `is_hurried`, postponed attempts are due as well."""

    dies_at: str = ""
    is_hurried: bool = False

    def take(self, world: World) -> None:
        if self.is_hurried:
            world.make_due()
        world.work(dies_at=self.dies_at)


@dataclass(frozen=True)
class Pass(Step):
    """Time passes, and a worker runs what is due by then."""

    minutes: int

    def take(self, world: World) -> None:
        world.pass_time(self.minutes)
        world.work()


def settle(world: World) -> None:
    """Let days pass in good weather, until nothing is left to do."""
    world.weather = Answers()
    for minutes in (5, 70, 1_500, 20_000):
        world.pass_time(minutes)
        world.make_due()
        world.work()


def _pick(world: World, state: EffectState, index: int) -> Effect | None:
    with world.tenant.tx():
        effects: Sequence[Effect] = list(Effect.objects.filter(state=state).order_by("created_at", "id"))
    return effects[index % len(effects)] if effects else None


Scenario = Sequence[Step]
