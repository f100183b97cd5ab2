"""Every limit: the sentence of its amount, the time it counts, its setting and its default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from projects.common.translation import lazy
from projects.models.attribute_catalogue import (
    KIND_LIMITS,
    MODEL_COST_LIMIT,
    MODEL_TOKEN_LIMIT,
    MONTH_COST_LIMIT,
    MONTH_TOKEN_LIMIT,
    OPEN_LIMIT,
    STORAGE_LIMIT,
    TURN_LIMIT,
)
from projects.records.attributes import Resolved
from tools.engine.policy import POLICIES
from tools.models import Limit

# A megabyte of storage.
MB = 1_000_000
# The units of numbers that count neither messages, turns, tokens nor conversations.
UNITS: Mapping[str, str] = {Limit.MODEL_COST: "USD", Limit.MONTH_COST: "USD", Limit.STORAGE: "MB"}


class Window(Enum):
    """The time that a limit counts."""

    MINUTE = "minute"
    TEN_MINUTES = "ten minutes"
    DAY = "day"
    MONTH = "month"
    NOW = "now"


@dataclass(frozen=True)
class LimitRule:
    """A limit. `amount` completes "The limit of …". Without a default, a project without the setting isn't limited."""

    amount: str
    window: Window
    setting: str
    default: int | None = None

    @property
    def can_be_lifted(self) -> bool:
        """True if staff may allow as much again for a day. Other limits are changed where they were set."""
        return self.window in (Window.DAY, Window.TEN_MINUTES)

    def is_near(self, used: int, most: int) -> bool:
        """True if staff is warned: at half of a day's limit, where use may rise within minutes, else at 80 %."""
        if self.window is Window.TEN_MINUTES:
            return False
        return 2 * (used + 1) >= most if self.window is Window.DAY else 10 * used >= 8 * most


def _of_kind(kind: str, amount: str) -> LimitRule:
    return LimitRule(amount, Window.DAY, KIND_LIMITS[kind, "max_per_project"], POLICIES[kind].max_per_project)


def _of_visitors(kind: str, amount: str) -> LimitRule:
    setting = KIND_LIMITS[kind, "max_from_visitors"]
    return LimitRule(amount, Window.TEN_MINUTES, setting, POLICIES[kind].max_from_visitors)


RULES: Mapping[str, LimitRule] = {
    Limit.SMS: _of_kind("sms", lazy("%(most)s text messages per day")),
    Limit.EMAIL: _of_kind("email", lazy("%(most)s e-mails per day")),
    Limit.CODES: _of_kind("verification_code", lazy("%(most)s verification codes per day")),
    Limit.SMS_VISITORS: _of_visitors("sms", lazy("%(most)s text messages to anonymous visitors in ten minutes")),
    Limit.EMAIL_VISITORS: _of_visitors("email", lazy("%(most)s e-mails to anonymous visitors in ten minutes")),
    Limit.MODEL_COST: LimitRule(lazy("%(most)s USD per day for models"), Window.DAY, MODEL_COST_LIMIT, 100),
    Limit.MODEL_TOKENS: LimitRule(lazy("%(most)s model tokens per day"), Window.DAY, MODEL_TOKEN_LIMIT, 50_000_000),
    Limit.MONTH_COST: LimitRule(lazy("%(most)s USD per month for models"), Window.MONTH, MONTH_COST_LIMIT),
    Limit.MONTH_TOKENS: LimitRule(lazy("%(most)s model tokens per month"), Window.MONTH, MONTH_TOKEN_LIMIT),
    Limit.TURNS: LimitRule(lazy("%(most)s turns per minute"), Window.MINUTE, TURN_LIMIT),
    Limit.STORAGE: LimitRule(lazy("%(most)s MB of storage"), Window.NOW, STORAGE_LIMIT),
    Limit.OPEN: LimitRule(lazy("%(most)s open conversations"), Window.NOW, OPEN_LIMIT),
}


def amount_of(limit: str, most: int) -> str:
    """An amount in words, such as "200 text messages a day"."""
    return str(RULES[limit].amount) % {"most": f"{most:,}"}


def limit_of(limit: str, attributes: Mapping[str, Resolved]) -> int | None:
    """The project's limit by its setting, or the default; None if it has none."""
    rule = RULES[limit]
    own = attributes[rule.setting].value if rule.setting in attributes else None
    return own if isinstance(own, int) and not isinstance(own, bool) else rule.default
