"""What a flow needs to know of a conversation, read in one transaction and used outside any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conversations.models import Conversation, Message, MessageRole, PersonaField, Turn
from conversations.skills.context import Action, Fact, Line, Procedure, Scenario, Step
from jobs.claimed import ClaimedJob
from projects.agent import AgentConfig
from projects.models import Project
from tools.models import Effect, EffectState

# The newest messages that a prompt carries.
TRANSCRIPT_LENGTH = 40
ROLES = {
    MessageRole.USER: "customer",
    MessageRole.AGENT: "agent",
    MessageRole.OPERATOR: "operator",
    MessageRole.SYSTEM: "system",
}
STATE_WORDS = {
    EffectState.PLANNED: "pending",
    EffectState.SENDING: "pending",
    EffectState.UNKNOWN: "being checked by a colleague, not known to have happened",
}


@dataclass(frozen=True)
class Scene:
    """One turn's surroundings."""

    conversation: Conversation
    turn: Turn
    project: Project
    config: AgentConfig
    messages: Sequence[Message]
    fields: Sequence[PersonaField]
    effects: Sequence[Effect]

    @property
    def lines(self) -> list[Line]:
        return [as_line(message) for message in self.messages]

    @property
    def facts(self) -> list[Fact]:
        return [Fact(field=field.key, value=field.value) for field in self.fields]

    @property
    def actions(self) -> list[Action]:
        return [Action(name=effect.tool, state=_state(effect), note=effect.error) for effect in self.effects]

    @property
    def scenarios(self) -> list[Scenario]:
        return [
            Scenario(
                number=number,
                title=scenario.title,
                steps=[
                    Step(number=f"{number}.{index}", text=step.text, collects=list(step.collects))
                    for index, step in enumerate(scenario.steps, 1)
                ],
            )
            for number, scenario in enumerate(self.config.scenarios, 1)
        ]

    @property
    def procedures(self) -> list[Procedure]:
        return [Procedure(title=procedure.title, text=procedure.text) for procedure in self.config.procedures]

    @property
    def agent_reply(self) -> Message | None:
        """The agent's words of this turn."""
        return next((message for message in reversed(self.messages) if message.pk == self.turn.reply_id), None)


def scene_before(job: ClaimedJob) -> Scene:
    """The surroundings of a reply about to be written: the transcript as it stands."""
    return _load(job, until_reply=False)


def scene_after(job: ClaimedJob) -> Scene:
    """The surroundings of a turn that was replied to: the transcript ends with its own reply (T25)."""
    return _load(job, until_reply=True)


def _load(job: ClaimedJob, *, until_reply: bool) -> Scene:
    turn = Turn.objects.select_related(
        "conversation__project__agent_version", "conversation__directives", "reply", "message"
    ).get(conversation_id=job.subject_id, seq=job.ordinal)
    conversation = turn.conversation
    messages = Message.objects.filter(conversation=conversation).order_by("-seq")
    if until_reply and turn.reply is not None:
        messages = messages.filter(seq__lte=turn.reply.seq)
    effects = Effect.objects.filter(conversation_id=conversation.pk).order_by("-created_at")
    return Scene(
        conversation=conversation,
        turn=turn,
        project=conversation.project,
        config=conversation.project.agent_version.config,
        messages=list(messages[:TRANSCRIPT_LENGTH])[::-1],
        fields=list(PersonaField.objects.filter(persona_id=conversation.persona_id)),
        effects=list(effects[:10])[::-1],
    )


def as_line(message: Message) -> Line:
    return Line(role=ROLES[MessageRole(message.role)], content=message.content)


def _state(effect: Effect) -> str:
    return STATE_WORDS.get(EffectState(effect.state), effect.state)
