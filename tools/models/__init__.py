"""What tools are, what was found in a reply, and what became of it."""

from tools.models.book import Booking, BookingKind, BookingState, Resource, ResourceKind
from tools.models.case import KeptCase
from tools.models.custom import CustomTool, CustomToolVersion
from tools.models.effect import AfterAction, AfterActionState, Effect, EffectOrigin, EffectState
from tools.models.promise import Promise, PromiseState
from tools.models.verdict import Verdict

__all__ = [
    "AfterAction",
    "AfterActionState",
    "Booking",
    "BookingKind",
    "BookingState",
    "CustomTool",
    "CustomToolVersion",
    "Effect",
    "EffectOrigin",
    "EffectState",
    "KeptCase",
    "Promise",
    "PromiseState",
    "Resource",
    "ResourceKind",
    "Verdict",
]
