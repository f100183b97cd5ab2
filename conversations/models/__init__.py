"""Models for conversations: customers, messages, turns, events and what each turn left behind."""

from conversations.models.analysis import Analysis
from conversations.models.consent import ConsentChange, ConsentKind, ConsentSource
from conversations.models.conversation import IS_TEST, Channel, Conversation, ConversationStatus
from conversations.models.directives import Directives
from conversations.models.event import Event
from conversations.models.follow_up import FollowUp, FollowUpState
from conversations.models.message import Message, MessageRole
from conversations.models.persona import Persona, PersonaField
from conversations.models.section import PromptSection
from conversations.models.step import TurnCall, TurnStep
from conversations.models.summary import Summary
from conversations.models.tag import ConversationTag, Tag, TagColor
from conversations.models.turn import Freshness, Origin, Turn, TurnStatus
from conversations.models.voice import VoiceSession
from conversations.models.wait import Wait, WaitOutcome

__all__ = [
    "IS_TEST",
    "Analysis",
    "Channel",
    "ConsentChange",
    "ConsentKind",
    "ConsentSource",
    "Conversation",
    "ConversationStatus",
    "ConversationTag",
    "Directives",
    "Event",
    "FollowUp",
    "FollowUpState",
    "Freshness",
    "Message",
    "MessageRole",
    "Origin",
    "Persona",
    "PersonaField",
    "PromptSection",
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
