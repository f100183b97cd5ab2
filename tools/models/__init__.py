"""Models of tools, their verdicts on replies, and their effects."""

from tools.models.book import Booking, BookingKind, BookingState, Resource, ResourceKind
from tools.models.case import KeptCase
from tools.models.custom import CustomTool, CustomToolVersion
from tools.models.desk import (
    Escalation,
    EscalationState,
    OperatorNotice,
    Ticket,
    TicketAnswer,
    TicketChange,
    TicketChannel,
    TicketPriority,
    TicketState,
)
from tools.models.effect import AfterAction, AfterActionState, Effect, EffectOrigin, EffectState
from tools.models.limit import Limit, LimitAlert, LimitNotice
from tools.models.platform import PlatformDefinition
from tools.models.promise import KEEPING, NOT_SENT, Evidence, Promise, PromiseOwner, PromiseState
from tools.models.subscription import DeliveryState, EventSubscription, SubscriptionTarget
from tools.models.verdict import Verdict
from tools.models.verification import Verification, VerificationCode

__all__ = [
    "KEEPING",
    "NOT_SENT",
    "AfterAction",
    "AfterActionState",
    "Booking",
    "BookingKind",
    "BookingState",
    "CustomTool",
    "CustomToolVersion",
    "DeliveryState",
    "Effect",
    "EffectOrigin",
    "EffectState",
    "Escalation",
    "EscalationState",
    "EventSubscription",
    "Evidence",
    "KeptCase",
    "Limit",
    "LimitAlert",
    "LimitNotice",
    "OperatorNotice",
    "PlatformDefinition",
    "Promise",
    "PromiseOwner",
    "PromiseState",
    "Resource",
    "ResourceKind",
    "SubscriptionTarget",
    "Ticket",
    "TicketAnswer",
    "TicketChange",
    "TicketChannel",
    "TicketPriority",
    "TicketState",
    "Verdict",
    "Verification",
    "VerificationCode",
]
