"""Errors of model calls, one class for each cause. The messages contain no API key and may be shown to staff."""

from __future__ import annotations

import inspect
from typing import ClassVar


class LlmError(Exception):
    """The model call failed.

    `partial` is the text that `on_text` had received; `retry_after_s` is the pause that the endpoint asked for.
    """

    code: ClassVar[str] = "llm_error"
    retryable: ClassVar[bool] = False
    # True if the endpoint answers no such request until somebody changes its settings
    permanent: ClassVar[bool] = False
    # True if the endpoint answered nobody at that moment, so that the same request may succeed seconds later
    outage: ClassVar[bool] = False

    def __init__(self, message: str = "", *, partial: str = "", retry_after_s: float | None = None) -> None:
        super().__init__(message or inspect.cleandoc(self.__doc__ or "").partition("\n")[0])
        self.partial = partial
        self.retry_after_s = retry_after_s


class RateLimited(LlmError):
    """The model endpoint is busy (429). Try again in a moment."""

    code = "rate_limited"
    retryable = True
    outage = True


class RateLimitedLong(LlmError):
    """The model endpoint refuses calls for more than 30 seconds, or the account's quota is used up (429)."""

    code = "rate_limited_long"


class QuotaUsedUp(RateLimitedLong):
    """The account's quota at the model endpoint is used up (429)."""

    code = "quota_used_up"
    permanent = True


class Unavailable(LlmError):
    """The model endpoint can't be reached or reports an internal error (5xx)."""

    code = "unavailable"
    retryable = True
    outage = True


class Rejected(LlmError):
    """The model endpoint rejected the request. Check the API key, the base URL and the model's name."""

    code = "rejected"
    permanent = True


class DeadlineExceeded(LlmError):
    """The model took too long."""

    code = "deadline"


class FirstTokenDeadline(DeadlineExceeded):
    """The model did not start to answer in time."""

    code = "deadline_first_token"


class TotalDeadline(DeadlineExceeded):
    """The model did not finish its answer in time."""

    code = "deadline_total"


class StreamCut(LlmError):
    """The answer ended early."""

    code = "stream_cut"
    retryable = True


class TooSlow(StreamCut):
    """The model wrote less than half a word a second, so the answer was cut."""

    code = "too_slow"


class LengthCut(LlmError):
    """The structured answer is longer than the model may write, so it was not used."""

    code = "length"


class BadAnswer(LlmError):
    """The endpoint did not return a valid chat completion."""

    code = "bad_answer"
    retryable = True


class SchemaMismatch(LlmError):
    """The model's answer does not match the schema, even after one repair."""

    code = "schema_mismatch"


class Refused(LlmError):
    """The model or the provider's filter refused to answer."""

    code = "refused"


class BreakerOpen(LlmError):
    """The model endpoint failed several times in a row. Calls are paused for a second or a few."""

    code = "breaker_open"
    retryable = True
    outage = True


class Blocked(LlmError):
    """The model endpoint's address may not be called."""

    code = "blocked_address"
    permanent = True


class NoSuchModelHost(LlmError):
    """The model endpoint's host name has no address."""

    code = "no_such_host"
    permanent = True


PERMANENT_CODES = frozenset(
    error.code for error in (Rejected, QuotaUsedUp, Blocked, NoSuchModelHost) if error.permanent
)
