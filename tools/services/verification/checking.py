"""The check of a one-time code that the customer says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.outcome import Outcome
from tools.services.verification.case import final_outcome, open_case, unverified_outcome, verified_outcome
from tools.services.verification.codes import Verdict, compare_code
from tools.services.verification.services import record_verification

EXPIRED = (
    "There is no code that I can still take: a code ends after ten minutes, after five tries, and with a newer one. "
    "Shall I send you a new one?"
)
WRONG = "That isn't the code that I sent you. {left}"


class CodeArguments(BaseModel):
    """The code that the customer says."""

    code: str = Field(
        min_length=1, max_length=40, description="The code of six digits that the customer has just said, and no other."
    )


async def check_code(arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
    """Compare the code, and record the verification if it is correct. Every comparison counts as a try."""
    return await in_db(_check, CodeArguments.model_validate(arguments).code, context)


def _check(typed: str, context: ToolContext) -> Outcome:
    with tenant_tx(context.organization_id):
        case = open_case(context)
        outcome = final_outcome(case)
        if outcome is not None or case is None:
            return outcome or unverified_outcome(EXPIRED)
        comparison = compare_code(case.holder, typed)
        if comparison.verdict is not Verdict.RIGHT:
            return unverified_outcome(EXPIRED if comparison.verdict is Verdict.OVER else _wrong(comparison.tries_left))
        holder = case.holder
        record_verification(
            case.project, persona_id=holder.persona_id, conversation_id=holder.conversation_id, method="code"
        )
        return verified_outcome()


def _wrong(left: int) -> str:
    if left == 0:
        return WRONG.format(left="That was the last try. Shall I send you a new one?")
    return WRONG.format(left=f"{left} {'try is' if left == 1 else 'tries are'} left.")
