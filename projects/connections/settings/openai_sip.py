"""Phone calls over OpenAI’s SIP address."""

from __future__ import annotations

from django.utils.translation import gettext_noop
from pydantic import Field

from outbound.guard import Guard
from projects.connections.settings.base import Line, OutsideHours, OwnNumber, SourceSettings, check_private_url

OPENAI_URL = "https://api.openai.com/v1"


class OpenAiSipSettings(SourceSettings):
    """Phone calls over OpenAI's SIP address, for one number of the business."""

    address_field = "base_url"

    number: OwnNumber = Field(
        "",
        title=gettext_noop("Your number"),
        description=gettext_noop(
            "The number that callers dial, with its country code. Empty: every call of your OpenAI project."
        ),
        examples=["+14155550100"],
    )
    openai_project: Line = Field(
        "",
        title=gettext_noop("OpenAI project"),
        description=gettext_noop("Your trunk sends calls to sip:proj_…@sip.openai.com;transport=tls."),
        examples=["proj_0123456789abcdef"],
    )
    outside_hours: OutsideHours = Field("answer", title=gettext_noop("Outside of opening hours"))
    base_url: Line = Field(
        OPENAI_URL, title=gettext_noop("API address"), description=gettext_noop("Change it for a proxy.")
    )

    @property
    def server(self) -> str:
        return self.base_url.rstrip("/")

    def check_server(self, guard: Guard) -> None:
        check_private_url(self.base_url, guard)
