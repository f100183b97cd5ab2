"""Chats: the conversation of each, its customer, and the messages that arrive in it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db.models.functions import Now
from django.utils import timezone

from conversations.channels.fetching import PATIENCE, is_fetching
from conversations.channels.items import IncomingMessage
from conversations.channels.keywords import Keyword, answer_to, keyword_of
from conversations.channels.outgoing import KEYWORD
from conversations.channels.placeholders import content_of, says_the_same
from conversations.channels.presses import ask_for_person, open_request_of, queue_acknowledgment, with_choice
from conversations.channels.provider import Provider
from conversations.channels.senders import external_id_of
from conversations.live.event_log import lock_conversation, open_log
from conversations.models import (
    Channel,
    Chat,
    ConsentSource,
    Conversation,
    ConversationStatus,
    Delivery,
    DeliveryResult,
    Message,
    MessageRole,
    Persona,
    Receipt,
)
from conversations.turns.admission import admit_turn
from conversations.turns.services import give_fields, post_message, set_observed_field, start_conversation
from projects.models import Project
from tenancy.prepared_queries import PreparedQuery
from tenancy.write_batch import insert_if_absent, update_row

FLOOD = "So many e-mails came in a day that a person has to answer."
LATE = "A message came more than a day late and wasn’t answered."
OPTED_OUT = "The customer has opted out, so nothing is answered until they write START."
ASKED = "The button asked for a person."
CORRECTED = "[The customer corrected an earlier message:] "
NO_CHANGE = "It adds no word to what is known already."
CONSENTS = {Channel.SMS: "sms_opt_in", Channel.EMAIL: "email_opt_in"}
# A sender of more e-mails in a day may be a robot, even if no header says so.
MOST_MAILS_A_DAY = 20
LOCKED_CHAT = PreparedQuery(
    lambda project, kind, account, external_id: Chat.objects.select_for_update(no_key=True).filter(
        project_id=project, kind=kind, account=account, external_id=external_id
    ),
    kinds=(UUID, str, str, str),
)
CONVERSATION = PreparedQuery(lambda conversation: Conversation.objects.filter(pk=conversation), kinds=(UUID,))
# The message that an earlier delivery of the same one made. It excludes what the index excludes.
EARLIER = PreparedQuery(
    lambda conversation, ref: Message.objects.filter(
        pk__in=Delivery.objects.filter(conversation_id=conversation, message_ref=ref, message__isnull=False)
        .exclude(message_ref="")
        .values("message_id")
    ).order_by("-seq")[:1],
    kinds=(UUID, str),
)


@dataclass(frozen=True)
class Arrival:
    """A message that arrived at an account of a project. One that is stale isn't answered."""

    project: Project
    provider: Provider
    account: str
    item: IncomingMessage
    is_stale: bool

    @property
    def channel(self) -> Channel:
        return self.item.channel or self.provider.channel


@dataclass(frozen=True)
class StoredArrival:
    """The result of an arrival. With `has_files`, the files of the message are to be fetched."""

    conversation_id: UUID
    message_id: UUID | None
    result: DeliveryResult
    detail: str = ""
    has_files: bool = False


def post_to_chat(arrival: Arrival) -> StoredArrival:
    """Store a message in its chat's conversation, in the running transaction, with its turn and jobs.

    Concurrent first messages of a chat make one conversation. Raises ApiError over a limit.
    """
    chat, item = _lock_chat(arrival), arrival.item
    conversation = _conversation_of(chat, arrival)
    heard_at = item.sent_at or timezone.now()
    if chat.heard_at is None or heard_at > chat.heard_at:
        chat.heard_at = heard_at
        update_row(chat, ["heard_at"])
    unanswered = item.unanswered or _flood(conversation, arrival)
    keyword = None if unanswered else keyword_of(item.text, channel=arrival.channel)
    if keyword is Keyword.START and chat.opted_out_at is None:
        # Telegram's button for a first message sends START, too. There is no opt-out to undo, so the agent greets.
        keyword = None
    if keyword is not None:
        return _obey(keyword, chat, conversation, arrival)
    item = with_choice(item, conversation, arrival.provider)
    if item.press:
        queue_acknowledgment(conversation, chat.kind, item.press)
    earlier = _earlier(conversation, item)
    content = _content(item, earlier)
    if content is None:
        return StoredArrival(conversation.pk, None, DeliveryResult.IGNORED, NO_CHANGE)
    escalation = open_request_of(item.choice, conversation) if item.choice else None
    if escalation is not None and chat.opted_out_at is None:
        return _ask_for_person(content, escalation, conversation)
    content = _signed(content, chat, item)
    # A correction shows its message again, whose files are known.
    has_files = earlier is None and any(not file.missing for file in item.files)
    if unanswered:
        return _store(content, conversation, unanswered, has_files=has_files)
    return _post(content, chat, conversation, arrival, has_files=has_files)


def _lock_chat(arrival: Arrival) -> Chat:
    values = (arrival.project.pk, arrival.provider.kind, arrival.account, _chat_id(arrival))
    contact = arrival.item.sender.contact[:254]
    # Somebody else who answers in the chat's thread doesn't change whose it is.
    is_own = values[3] == arrival.item.chat_id[:200]
    found = LOCKED_CHAT(*values)
    if not found:
        insert_if_absent(_new_chat(*values, contact=contact if is_own else ""))
        found = LOCKED_CHAT(*values)
    [chat] = found
    if is_own and chat.contact != contact:
        chat.contact = contact
        update_row(chat, ["contact"])
    return chat


def _chat_id(arrival: Arrival) -> str:
    """The chat of the message of ours that this one answers, or the sender's own."""
    item = arrival.item
    if item.thread:
        chats = {"project": arrival.project, "kind": arrival.provider.kind, "account": arrival.account}
        answered = Receipt.objects.filter(
            external_id__in=item.thread, **{f"chat__{name}": value for name, value in chats.items()}
        )
        found = dict(answered.values_list("external_id", "chat__external_id"))
        if ref := next((ref for ref in item.thread if ref in found), None):
            return found[ref]
    return item.chat_id[:200]


def _signed(content: str, chat: Chat, item: IncomingMessage) -> str:
    """The words with their writer's address, if somebody else than the chat's customer wrote them."""
    is_customer = item.chat_id[:200].partition(" ")[0] == chat.external_id.partition(" ")[0]
    return content if is_customer else f"[{item.chat_id} wrote:] {content}"


def _new_chat(project: UUID, kind: str, account: str, external_id: str, *, contact: str) -> Chat:
    return Chat(project_id=project, kind=kind, account=account, external_id=external_id, contact=contact)


def _flood(conversation: Conversation, arrival: Arrival) -> str:
    """Why a chat that a robot may write to isn't answered until staff clears its flag, or ""."""
    if arrival.channel is not Channel.EMAIL or conversation.flag == FLOOD:
        return FLOOD if conversation.flag == FLOOD else ""
    since = timezone.now() - timedelta(days=1)
    answered = Delivery.objects.filter(
        conversation=conversation,
        result__in=(DeliveryResult.ANSWERED, DeliveryResult.KEYWORD),
        received_at__gt=since,
    )
    return FLOOD if answered.count() >= MOST_MAILS_A_DAY else ""


def _conversation_of(chat: Chat, arrival: Arrival) -> Conversation:
    """The chat's conversation, or a new one: the first, or after one that was handed to somebody else."""
    known = next(iter(CONVERSATION(chat.conversation_id)), None) if chat.conversation_id else None
    if known is not None and known.status != ConversationStatus.TRANSFERRED:
        return known
    conversation = _start(chat, arrival)
    Chat.objects.filter(pk=chat.pk).update(conversation=conversation)
    return conversation


def _start(chat: Chat, arrival: Arrival) -> Conversation:
    sender, project = arrival.item.sender, arrival.project
    conversation = start_conversation(
        project,
        channel=arrival.channel,
        external_id=external_id_of(sender, chat, project),
        known={},
        metadata={"chat": {"kind": chat.kind, "account": chat.account, "id": chat.external_id}},
    )
    persona = Persona.objects.get(pk=conversation.persona_id)
    observed = {"name": sender.name, "language": sender.language, "phone": sender.phone, "email": sender.email}
    for key, value in observed.items():
        if value:
            # Observed, never given: what a stranger's account says proves nothing about them.
            set_observed_field(persona, key, value[:500])
    return conversation


def _obey(keyword: Keyword, chat: Chat, conversation: Conversation, arrival: Arrival) -> StoredArrival:
    """Obey a keyword and confirm it. No model reads it. The files that it captions are kept."""
    # Before the customer's fields, as everybody else who changes both.
    lock_conversation(conversation.pk)
    if keyword is not Keyword.HELP:
        is_stop = keyword is Keyword.STOP
        Chat.objects.filter(pk=chat.pk).update(opted_out_at=Now() if is_stop else None)
        _record_consent(conversation, arrival, is_given=not is_stop)
    item = arrival.item
    has_files = bool(item.files) and _earlier(conversation, item) is None
    content = content_of(item) if has_files else item.text
    posted = post_message(conversation.pk, content, is_answered=False, may_refuse=False)
    with open_log(conversation.pk) as log:
        text = answer_to(keyword, log.conversation)
        block = {"type": KEYWORD, "keyword": keyword.value}
        log.add_message(MessageRole.SYSTEM, text, turn=None, idn="keyword_answered", blocks=[block])
    message, done = posted.message.pk, keyword.value.upper()
    return StoredArrival(conversation.pk, message, DeliveryResult.KEYWORD, done, has_files=has_files)


def _record_consent(conversation: Conversation, arrival: Arrival, *, is_given: bool) -> None:
    """STOP and START to a number or an address are the customer's consent to its texts or e-mails."""
    if consent := CONSENTS.get(arrival.channel):
        persona = Persona.objects.get(pk=conversation.persona_id)
        give_fields(persona, {consent: "true" if is_given else "false"}, source=ConsentSource.CUSTOMER)


def _ask_for_person(content: str, escalation: UUID, conversation: Conversation) -> StoredArrival:
    """The button asks for a person, who answers. The agent doesn't."""
    posted = post_message(conversation.pk, content, is_answered=False, may_refuse=False)
    ask_for_person(conversation, escalation)
    return StoredArrival(conversation.pk, posted.message.pk, DeliveryResult.STORED, ASKED)


def _post(content: str, chat: Chat, conversation: Conversation, arrival: Arrival, *, has_files: bool) -> StoredArrival:
    if arrival.is_stale or chat.opted_out_at is not None:
        return _store(content, conversation, LATE if arrival.is_stale else OPTED_OUT, has_files=has_files)
    admit_turn(arrival.project)
    waits = has_files or is_fetching(conversation.pk)
    posted = post_message(conversation.pk, content, may_refuse=False, reply_delay=PATIENCE if waits else None)
    return StoredArrival(conversation.pk, posted.message.pk, DeliveryResult.ANSWERED, has_files=has_files)


def _store(content: str, conversation: Conversation, reason: str, *, has_files: bool) -> StoredArrival:
    """Store a message without an answer. Staff sees why."""
    posted = post_message(conversation.pk, content, is_answered=False, may_refuse=False)
    if reason in (LATE, FLOOD):
        with open_log(conversation.pk) as log:
            log.conversation.flag = reason
    return StoredArrival(conversation.pk, posted.message.pk, DeliveryResult.STORED, reason, has_files=has_files)


def _earlier(conversation: Conversation, item: IncomingMessage) -> Message | None:
    """The newest message that an earlier delivery of the same one made."""
    return next(iter(EARLIER(conversation.pk, item.message_ref)), None)


def _content(item: IncomingMessage, earlier: Message | None) -> str | None:
    """The text to store, or None if an earlier delivery said as much. The text of an edit says that it is one."""
    content = content_of(item)
    if earlier is None:
        return content
    if not item.edits:
        # Its correction came first.
        return None
    if says_the_same(earlier.content.removeprefix(CORRECTED), content):
        return None
    return f"{CORRECTED}{content}"
