"""What tools are, what was found in a reply, and what became of it."""

from tools.models.book import Booking, BookingState, Resource
from tools.models.custom import CustomTool, CustomToolVersion
from tools.models.effect import AfterAction, AfterActionState, Effect, EffectOrigin, EffectState
from tools.models.promise import Promise, PromiseState
from tools.models.verdict import Verdict

__all__ = [
    "AfterAction",
    "AfterActionState",
    "Booking",
    "BookingState",
    "CustomTool",
    "CustomToolVersion",
    "Effect",
    "EffectOrigin",
    "EffectState",
    "Promise",
    "PromiseState",
    "Resource",
    "Verdict",
]
