"""Models for conversations: customers, messages, turns, events and what each turn left behind."""

from conversations.models.analysis import Analysis
from conversations.models.archive import ArchivedTranscript
from conversations.models.attachment import Attachment
from conversations.models.call import OPEN_STATES, Call, CallState
from conversations.models.canned_reply import CannedReply
from conversations.models.chat import ChannelLink, Chat, DeliveredFile, Delivery, DeliveryResult, Receipt
from conversations.models.consent import ConsentChange, ConsentKind, ConsentSource
from conversations.models.conversation import IS_TEST, Channel, Conversation, ConversationStatus
from conversations.models.directives import Directives
from conversations.models.event import Event
from conversations.models.follow_up import FollowUp, FollowUpState
from conversations.models.message import Message, MessageRole
from conversations.models.note import Mention, Note
from conversations.models.persona import Persona, PersonaField
from conversations.models.section import PromptSection
from conversations.models.step import TurnCall, TurnStep
from conversations.models.stored_object import ObjectState, StoredObject
from conversations.models.summary import Summary
from conversations.models.tag import ConversationTag, Tag, TagColor
from conversations.models.translation import MessageTranslation
from conversations.models.turn import Freshness, Origin, Turn, TurnStatus
from conversations.models.voice import VoiceSession
from conversations.models.wait import Wait, WaitOutcome

__all__ = [
    "IS_TEST",
    "OPEN_STATES",
    "Analysis",
    "ArchivedTranscript",
    "Attachment",
    "Call",
    "CallState",
    "CannedReply",
    "Channel",
    "ChannelLink",
    "Chat",
    "ConsentChange",
    "ConsentKind",
    "ConsentSource",
    "Conversation",
    "ConversationStatus",
    "ConversationTag",
    "DeliveredFile",
    "Delivery",
    "DeliveryResult",
    "Directives",
    "Event",
    "FollowUp",
    "FollowUpState",
    "Freshness",
    "Mention",
    "Message",
    "MessageRole",
    "MessageTranslation",
    "Note",
    "ObjectState",
    "Origin",
    "Persona",
    "PersonaField",
    "PromptSection",
    "Receipt",
    "StoredObject",
    "Summary",
    "Tag",
    "TagColor",
    "Turn",
    "TurnCall",
    "TurnStatus",
    "TurnStep",
    "VoiceSession",
    "Wait",
    "WaitOutcome",
]
