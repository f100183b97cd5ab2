"""Messages on their way out: each part of one is an effect of the ledger, planned with the message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

from conversations.channels.blocks import ShownBlocks, show_blocks
from conversations.channels.provider import Provider
from conversations.channels.registry import MESSENGERS, PROVIDERS
from conversations.channels.split import split_text, units
from conversations.channels.templates import TEMPLATE
from conversations.common.payloads import StoredAttachment
from conversations.common.place import place_in
from conversations.common.presenters import attachment_payload
from conversations.live.event_log import ConversationLog
from conversations.models import Chat, Message, MessageRole, Receipt
from jobs.enqueue import JobRequest, enqueue
from tools.engine.catalogue import BUILT_IN, CompiledTool
from tools.engine.definition import RetryPolicy, ToolDefinition
from tools.engine.execution.handler import Place
from tools.engine.execution.plan import effect_key, plan_effect
from tools.models import Effect, EffectOrigin, ReceiptState

LANE = "channel"
MOST_PARTS = 20
# The type of the block that marks the answer to a keyword.
KEYWORD = "keyword"
OPTED_OUT = "The customer has opted out of messages on this channel."
# Not in the catalogue: no model calls it and no promise fires it.
TOOL = CompiledTool(
    name="channel_message",
    origin=BUILT_IN,
    why_not="",
    kind="channel_message",
    delivery=RetryPolicy.ONCE,
    definition=ToolDefinition(
        description="Brings a message of the conversation to the customer.", use_conversation_history=False
    ),
)


def plan_delivery(log: ConversationLog, message: Message) -> None:
    """Plan the way of a message to the conversation's chat, in the transaction that stores the message.

    Nothing is planned for a conversation without a chat: a program fetches its messages.
    """
    if message.role == MessageRole.USER or log.conversation.channel not in MESSENGERS:
        return
    chat = Chat.objects.filter(conversation=log.conversation).order_by("-created_at").first()
    if chat is not None and chat.kind in PROVIDERS:
        _plan(log, message, chat)


def _plan(log: ConversationLog, message: Message, chat: Chat) -> None:
    is_confirmation = any(block.get("type") == KEYWORD for block in message.blocks)
    if chat.opted_out_at is not None and not is_confirmation:
        log.writes.insert([_receipt(message, chat, 0, state=ReceiptState.FAILED, reason=OPTED_OUT)])
        return
    provider = PROVIDERS[chat.kind]
    if message.role == MessageRole.SYSTEM and not (is_confirmation or provider.sends_notices):
        return
    place = place_in(log.conversation, config=None, contact=None)
    shown = show_blocks(message.blocks, log.conversation)
    arguments = _arguments(message, chat, provider, shown)
    if is_confirmation:
        arguments = [{**one, "is_confirmation": True} for one in arguments]
    effects = [_effect(place, message, one, number) for number, one in enumerate(arguments)]
    log.writes.insert(effects)
    log.writes.insert([_receipt(message, chat, number, effect=effect) for number, effect in enumerate(effects)])
    if effects:
        enqueue([delivery_job(effect, log.conversation.pk, message.seq, part) for part, effect in enumerate(effects)])


def delivery_job(effect: Effect, conversation_id: UUID, seq: int, part: int, **changes: Any) -> JobRequest:
    """The job of an effect's next attempt. The parts of a conversation's messages are sent one after the other."""
    return JobRequest(
        lane=LANE,
        project_id=effect.project_id,
        subject_id=conversation_id,
        ordinal=ordinal_of(seq, part),
        key=f"{LANE}:{effect.pk}:{effect.attempts}",
        **changes,
    )


def ordinal_of(seq: int, part: int) -> int:
    return seq * MOST_PARTS + part


def is_channel_message(effect: Effect) -> bool:
    return effect.kind == TOOL.kind


def _arguments(message: Message, chat: Chat, provider: Provider, shown: ShownBlocks) -> list[dict[str, Any]]:
    """The arguments of each part: the text, with buttons below its end, then the files."""
    to = {"chat": str(chat.pk), "to": chat.external_id}
    if template := next((block[TEMPLATE] for block in message.blocks if block.get("type") == TEMPLATE), None):
        return [
            {
                **to,
                "text": message.content,
                TEMPLATE: template,
                **({"file": message.attachments[0]} if message.attachments else {}),
            }
        ]
    files = provider.carried(message.attachments, to=chat.external_id)
    texts = _texts(message, provider, shown, files=files)
    if provider.encloses_files:
        if files:
            texts[-1] |= {"files": files}
        return [{**to, **one} for one in texts]
    return [{**to, **one} for one in (*texts, *({"text": "", "file": file} for file in files))]


def _texts(
    message: Message, provider: Provider, shown: ShownBlocks, *, files: Sequence[StoredAttachment]
) -> list[dict[str, Any]]:
    """The parts of the text. A file that the channel doesn't take is a link after it."""
    has_buttons = bool(shown.buttons and provider.longest_with_buttons)
    numbered = shown.numbered if shown.buttons and not has_buttons else ""
    links = [attachment_payload(one, message.organization_id)["url"] for one in message.attachments if one not in files]
    # An answer of files alone has their names as its words.
    is_names = (
        bool(files)
        and not provider.encloses_files
        and message.content == ", ".join(one["name"] for one in message.attachments)
    )
    words = "" if is_names else message.content
    text = "\n".join(part for part in (words, *links, *shown.lines, numbered) if part)
    # Buttons need a text.
    parts = split_text(text or shown.choose, longest=provider.longest_part)[: MOST_PARTS - len(files)]
    if has_buttons and units(parts[-1]) > provider.longest_with_buttons:
        parts[-1:] = split_text(parts[-1], longest=provider.longest_with_buttons)
    texts: list[dict[str, Any]] = [{"text": part} for part in parts]
    if has_buttons:
        texts[-1] |= {"buttons": [asdict(one) for one in shown.buttons], "choose": shown.choose}
    return texts


def _effect(place: Place, message: Message, arguments: dict[str, Any], part: int) -> Effect:
    key = effect_key(origin=message.pk, tool=TOOL.name, step=0, index=part)
    return plan_effect(TOOL, place, origin=EffectOrigin.CHANNEL, key=key, arguments=arguments)


def _receipt(
    message: Message,
    chat: Chat,
    part: int,
    *,
    effect: Effect | None = None,
    state: ReceiptState = ReceiptState.ACCEPTED,
    reason: str = "",
) -> Receipt:
    return Receipt(
        conversation_id=message.conversation_id,
        message_id=message.pk,
        chat=chat,
        part=part,
        effect_id=effect.pk if effect else None,
        state=state,
        reason=reason,
    )
