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
from tools.models.effect import AfterAction, AfterActionState, Effect, EffectOrigin, EffectState, ReceiptState
from tools.models.evaluation import CaseResult, EvaluationRun, ResultState, RunState
from tools.models.limit import OF_ORGANIZATIONS, Limit, LimitAlert, LimitNotice, OperatorLimit, OrganizationLimit
from tools.models.platform import PlatformDefinition
from tools.models.promise import KEEPING, NOT_SENT, PENDING, Evidence, Promise, PromiseOwner, PromiseState
from tools.models.subscription import DeliveryState, EventSubscription, SubscriptionTarget
from tools.models.verdict import Verdict
from tools.models.verification import Verification, VerificationCode

__all__ = [
    "KEEPING",
    "NOT_SENT",
    "OF_ORGANIZATIONS",
    "PENDING",
    "AfterAction",
    "AfterActionState",
    "Booking",
    "BookingKind",
    "BookingState",
    "CaseResult",
    "CustomTool",
    "CustomToolVersion",
    "DeliveryState",
    "Effect",
    "EffectOrigin",
    "EffectState",
    "Escalation",
    "EscalationState",
    "EvaluationRun",
    "EventSubscription",
    "Evidence",
    "KeptCase",
    "Limit",
    "LimitAlert",
    "LimitNotice",
    "OperatorLimit",
    "OperatorNotice",
    "OrganizationLimit",
    "PlatformDefinition",
    "Promise",
    "PromiseOwner",
    "PromiseState",
    "ReceiptState",
    "Resource",
    "ResourceKind",
    "ResultState",
    "RunState",
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
