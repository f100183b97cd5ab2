"""Draft skill: the agent's own reply, as an answer for a colleague to send."""

from __future__ import annotations

from typing import Any

from offline_model import prompt_reader
from offline_model.prompt_reader import Line, section
from offline_model.reply_context import ReplyContext
from offline_model.skills.reply import ReplyComposer
from offline_model.wire import ChatCall


def draft(call: ChatCall) -> dict[str, Any]:
    """The draft, in the shape of the skill's output. It begins with what the colleague has typed."""
    before, now = _split(prompt_reader.transcript(section(call.last_user, "Conversation")))
    context = ReplyContext(call=call, agent_name="", business_name="", channel="chat", before=before, now=now)
    begun = section(call.last_user, "Begun").strip()
    return {"answer": f"{begun} {ReplyComposer(context).speak()}".strip()}


def _split(lines: list[Line]) -> tuple[list[Line], list[Line]]:
    """The messages up to the last answer, and those since. If the customer waits for nothing, their last ones."""
    answered = max((at for at, line in enumerate(lines) if line.role in ("agent", "operator")), default=-1)
    if answered == len(lines) - 1:
        answered = max((at for at, line in enumerate(lines) if line.role == "customer"), default=0) - 1
    return lines[: answered + 1], [line for line in lines[answered + 1 :] if line.role == "customer"]
