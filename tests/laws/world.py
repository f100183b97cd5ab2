"""The product in this process, between a scripted model and an outside world that logs what reaches it.

A world is one business with its customer. Its rules change only between two steps, so that everything a step starts can
be judged by the rules that held during it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from uuid import UUID

from conversations.live import tokens
from conversations.models import Conversation, ConversationStatus
from conversations.turns.services import give_fields, start_conversation
from jobs import claims
from jobs.attempt import attempt
from jobs.lanes import ClaimedJob, Lane, lane_of
from jobs.model_client import model_client
from jobs.sweep import sweep
from projects.agents.services import save_agent
from projects.common.api_error import ApiError
from projects.models import Member
from projects.models.agent_config import AgentConfig
from projects.records.attributes import set_attribute
from tenancy.threads import in_db
from tests.bypass_rls import bypass_rls
from tests.conftest import Tenant
from tests.conversations.effects.target import Answers, Heard, Target
from tests.dying import dying
from tests.laws.journal import Journal, Request
from tests.leases import end_leases
from tests.processes import ScriptedModel
from tests.storms.world import REFUSES
from tests.tools.messaging.conftest import connect_twilio
from tests.tools.messaging.twilio_server import TwilioServer
from todos.models import Todo, TodoCall
from tools.engine.catalogue import approval_setting
from tools.engine.custom import service as custom_tools
from tools.engine.events.service import SubscriptionEdit, add_subscription
from tools.models import Effect, SubscriptionTarget

CREW, KITCHEN, PART, REFUND, WISH = "notify_crew", "tell_kitchen", "order_part", "pay_refund", "note_wish"
TEXT, CALLED_TEXT = "send_sms_tool", "send_sms"
CUSTOM = (CREW, KITCHEN, PART, REFUND, WISH)
CONDITIONS = {TEXT: ("agentPromised", "notRelatedToExistingBooking")}
PROMISED = ("agentPromised",)
# A tool that answers later has nothing to tell a model that waits, and an event is only promised.
MOMENTS = {PART: ["commitment", "task"], WISH: ["commitment"]}
ANSWER_LATER = (PART, WISH)
SMS_GATE = "project_attributes_setting_sms_send_information_enabled"
# The lanes that a worker runs here, in this order. The others write no promise and no effect.
LANES = ("reply", "tool_caller", "effect", "todo", "todo_news", "make_good")
_DROP = """
update jobs_job j set state = 'done', lease_until = null
where j.state in ('queued', 'running') and (j.lane in ('observer', 'thoughts', 'summary', 'extraction')
  or j.lane = 'reply' and not exists (select from conversations_turn t where t.conversation_id = j.subject_id
                                      and t.seq = j.ordinal and t.message_id is not null))
"""
_TIMES = """
select table_name, array_agg(column_name::text) from information_schema.columns
where table_schema = 'public' and data_type = 'timestamp with time zone' and table_name ~ '^(tools|todos|jobs|conversations)_'
group by table_name
"""


@dataclass
class World:
    """One business with its customer, in a chat and on the phone."""

    tenant: Tenant
    model: ScriptedModel
    target: Target
    twilio: TwilioServer
    loop: asyncio.Runner
    journal: Journal = field(default_factory=Journal)
    weather: Answers = field(default_factory=Answers)

    def __post_init__(self) -> None:
        self.target.log.clear()
        self.target.answers_by(self._answer)
        self.twilio.script.calls.clear()
        self._talks: dict[str, UUID] = {}
        self._is_dead = False
        with self.tenant.tx():
            self.owner = Member.objects.select_related("user").get(user=self.tenant.owner)
            for name in CUSTOM:
                custom_tools.save(self.tenant.project, name=name, document=_definition(name, self.target.url))
            self.tenant.project.refresh_from_db()
            config = self.tenant.project.agent_version.document
            rules = {"escalation_rules": [{"when": "in writing", "action": "message"}]}
            save_agent(self.tenant.project, config=AgentConfig(**{**config, **rules}), author=self.tenant.owner)

    def talk(self, channel: str = "chat") -> Conversation:
        """The open conversation of this channel."""
        with self.tenant.tx():
            found = Conversation.objects.select_related("persona").filter(pk=self._talks.get(channel)).first()
            if found is None or found.status != ConversationStatus.OPEN:
                found = start_conversation(
                    self.tenant.project,
                    channel=channel,
                    external_id="ada",
                    known={"phone": "+393331234567", "name": "Ada"},
                    metadata={},
                )
                self._talks[channel] = found.pk
        return found

    # Rules

    def switch(self, tool: str, *, is_open: bool) -> None:
        """Open or close a tool. The text message that the agent calls has a gate of its own, which stays open."""
        with self.tenant.tx():
            if tool in CUSTOM:
                (custom_tools.enable if is_open else custom_tools.disable)(self.tenant.project, tool)
            else:
                set_attribute(self.tenant.project, SMS_GATE, is_open)
        (self.journal.closed.discard if is_open else self.journal.closed.add)(tool)

    def consent(self, *, is_given: bool) -> None:
        with self.tenant.tx():
            give_fields(self.talk().persona, {"sms_opt_in": str(is_given).lower()})
        self.journal.is_refused = not is_given

    def require_approval(self, *, is_required: bool) -> None:
        """Require a person's approval of text messages, or no longer."""
        with self.tenant.tx():
            set_attribute(self.tenant.project, approval_setting(TEXT), is_required)
        self.journal.is_approval_required = is_required

    def connect(self) -> None:
        connect_twilio(self.tenant, self.twilio.url)

    def subscribe(self) -> None:
        """Subscribe the target to the wishes, unless it is."""
        edit = SubscriptionEdit(target=SubscriptionTarget.ENDPOINT, url=f"{self.target.url}/{WISH}", events=(WISH,))
        with suppress(ApiError), self.tenant.tx():
            add_subscription(self.tenant.project, edit)

    # Work

    def work(self, *lanes: str, dies_at: str = "") -> None:
        """Run all due jobs, after another worker has taken over from a dead one. This one may die on the way."""
        if self._is_dead or not lanes:
            end_leases()
            sweep()
        self.run(_drain(lanes or LANES), dies_at=dies_at)

    def run(self, work: Coroutine[Any, Any, object], *, dies_at: str = "") -> None:
        with dying(dies_at) as deaths:
            self.loop.run(work)
        self._is_dead = bool(deaths)

    def make_due(self) -> None:
        """Make the next attempts due, except the checks for callbacks."""
        bypass_rls(
            "update jobs_job set run_after = clock_timestamp() where state = 'queued' and key not like '%%:callback:%%'"
        )

    def pass_time(self, minutes: int) -> None:
        """Make everything older."""
        bypass_rls(_aging(), minutes)

    def observe(self) -> None:
        """Note what the last step started, with the rules that held during it."""
        with self.tenant.tx():
            effects = list(Effect.objects.all())
            todos = list(Todo.objects.exclude(effect=None).values_list("effect_id", "pk"))
            todos += TodoCall.objects.exclude(effect=None).values_list("effect_id", "step__todo_id")
        for effect in effects:
            mine = {todo for of, todo in todos if of == effect.pk}
            self.journal.note(effect, todos=mine)
        self.journal.note_texts(len(self.twilio.script.calls))

    def _answer(self, heard: Heard) -> Answers:
        answer, tool = self.weather, heard.path.strip("/")
        if tool == PART and answer == Answers():
            answer = Answers(202, body="")
        has_acted = answer.status not in {*REFUSES, 400}
        is_put_off = answer.status == 202 and tool in ANSWER_LATER
        is_clear = 200 <= answer.status < 300 and not answer.drops and not is_put_off
        self.journal.requests.append(Request(heard.key, tool, has_acted=has_acted, is_clear=is_clear))
        return answer


async def _drain(names: Sequence[str]) -> None:
    """Run one job after the other, so that an example runs the same way each time."""
    lanes = [lane_of(name) for name in names]
    while jobs := await in_db(_claim, lanes):
        for job in jobs:
            await attempt(job, lane_of(job.lane))


async def hang_up() -> None:
    """Close the connections of the loop, which ends."""
    await model_client().aclose()
    await tokens._redis().aclose()


@cache
def _aging() -> str:
    """The statement that makes every row older by some minutes."""
    updates = [
        f"{table}_aged as (update {table} set {', '.join(f'{one} = {one} - said.age' for one in columns)} from said)"
        for table, columns in bypass_rls(_TIMES)
    ]
    return f"with said as (select make_interval(mins => %s) as age), {', '.join(updates)} select"


def _claim(lanes: Sequence[Lane]) -> list[ClaimedJob]:
    """One due job of each lane. Replies that the agent starts by itself are dropped, and so is what writes no promise."""
    bypass_rls(_DROP)
    return claims.claim(lanes, limit=1)


def _definition(name: str, url: str) -> dict[str, Any]:
    """A custom tool that may run at every moment. Its webhook's path is its name; the wish is an event."""
    note = {"type": "object", "properties": {"note": {"type": "string", "description": "What they are told"}}}
    options: dict[str, Any] = {"url": f"{url}/{name}", "timeout_seconds": 1}
    options |= {"body": note} if name == CREW else {}
    options |= {"delivery": "idempotent"} if name == KITCHEN else {}
    options |= {"callback": True} if name == PART else {}
    action = {"type": "send_event"} if name == WISH else {"type": "send_webhook", "options": options}
    promised = {"type": "boolean", "description": f"The agent commits to {name} now."}
    return {
        "description": f"Does it: {name}.",
        "conditions": {"agentPromised": promised},
        "useConversationHistory": name == KITCHEN,
        "moments": MOMENTS.get(name, ["commitment", "task", "turn", "live"]),
        "requires_approval": name == REFUND,
        "action": action,
        "after_actions": [],
    }
