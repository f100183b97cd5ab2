"""Types of integrations: their names, secrets and settings."""

from __future__ import annotations

from dataclasses import dataclass

from projects.connections.integration_settings import (
    CalDavSettings,
    ClientLookupSettings,
    SmtpSettings,
    SourceSettings,
    TwilioSettings,
    WooCommerceSettings,
)


@dataclass(frozen=True)
class SourceKind:
    """A type of integration. `credential` is the label of its secret.

    `carries` names what it sends, or what it reads if it `is_looked_up`: such an integration is only queried, and sends
    nothing to customers. `sample` is the label of the input for a test; empty if a test needs none.
    """

    name: str
    title: str
    carries: str
    lead: str
    icon: str
    settings: type[SourceSettings]
    credential: str
    needs_secret: bool = True
    is_looked_up: bool = False
    sample: str = ""


KINDS: dict[str, SourceKind] = {
    kind.name: kind
    for kind in (
        SourceKind(
            name="twilio",
            title="Text messages (Twilio)",
            carries="text messages",
            lead="Sends texts to customers from your number.",
            icon="message-2",
            settings=TwilioSettings,
            credential="Auth token",
            sample="Your number",
        ),
        SourceKind(
            name="smtp",
            title="E-mail (SMTP)",
            carries="e-mails",
            lead="Sends e-mails to customers through your mail server.",
            icon="mail",
            settings=SmtpSettings,
            credential="Password",
            needs_secret=False,
            sample="Your e-mail address",
        ),
        SourceKind(
            name="woocommerce_products",
            title="Shop (WooCommerce)",
            carries="orders",
            lead="Gives customers signed in to your shop the status of their orders.",
            icon="file-text",
            settings=WooCommerceSettings,
            credential="Consumer secret",
            is_looked_up=True,
        ),
        SourceKind(
            name="client_lookup",
            title="Caller look-up",
            carries="callers",
            lead="Your system tells the agent who is calling.",
            icon="phone",
            settings=ClientLookupSettings,
            credential="Secret",
            needs_secret=False,
            is_looked_up=True,
            sample="A phone number",
        ),
        SourceKind(
            name="caldav",
            title="Calendar (CalDAV)",
            carries="busy times",
            lead="Busy times in your calendar aren’t offered to customers, and bookings appear in it.",
            icon="calendar-time",
            settings=CalDavSettings,
            credential="Password",
            is_looked_up=True,
        ),
    )
}
