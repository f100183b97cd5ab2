"""Drafts of staff's answers. A draft is never sent by itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID

from conversations.assist.model import CallOwner, ask_model, owner_of
from conversations.claim_check.claim_guard import ClaimGuard, Ledger, read_ledger
from conversations.context.staff_context import context_for_staff
from conversations.context.turn_context import TurnContext
from conversations.models import MessageRole
from conversations.prompts.draft import AnswerDraft, build_request
from jobs.errors import WrongState
from llm.types import ChatRequest
from projects.common.translation import lazy
from projects.knowledge.answers import prompt_passages
from tools.engine.limits.model_budget import refuse_if_spent

NOTHING_SAID = lazy("There is nothing to answer yet. A draft answers what the customer wrote.")


@dataclass(frozen=True)
class DraftInput:
    """Everything that a draft needs once the transaction has ended."""

    owner: CallOwner
    request: ChatRequest
    ledger: Ledger


def prepare_draft(conversation_id: UUID, *, begun: str) -> DraftInput:
    """Read what a draft needs. `begun` is the answer's beginning, as typed.

    Raises WrongState if the customer hasn't written, Conflict if the model budget is spent.
    """
    context = context_for_staff(conversation_id)
    said = [message.content for message in context.messages if message.role == MessageRole.USER]
    if not said:
        raise WrongState(NOTHING_SAID)
    refuse_if_spent(context.project)
    request = build_request(context, knowledge=prompt_passages(context.project.pk, said[-1]), begun=begun)
    return DraftInput(owner_of(context.conversation), request, _ledger(context))


async def write_draft(prepared: DraftInput) -> str:
    """The draft. It claims nothing as done that isn't. No transaction may be open. Raises LlmError."""
    written = await ask_model(prepared.request, output=AnswerDraft, owner=prepared.owner)
    pieces: list[str] = []
    guard = ClaimGuard(pieces.append, prepared.ledger)
    guard.write(written.answer.strip())
    guard.close()
    return "".join(pieces).strip()


def _ledger(context: TurnContext) -> Ledger:
    """The ledger for the draft's claims. The model doesn't know what a colleague has done by hand."""
    return replace(read_ledger(context), by_hand=False)
