"""Types of integrations: their names, secrets and settings."""

from __future__ import annotations

from dataclasses import dataclass

from projects.common.translation import lazy
from projects.connections.settings.base import SourceSettings
from projects.connections.settings.caldav import CalDavSettings
from projects.connections.settings.client_lookup import ClientLookupSettings
from projects.connections.settings.email import EmailSettings
from projects.connections.settings.openai_sip import OpenAiSipSettings
from projects.connections.settings.smtp import SmtpSettings
from projects.connections.settings.telegram import TelegramSettings
from projects.connections.settings.twilio import TwilioSettings
from projects.connections.settings.whatsapp import WhatsAppSettings
from projects.connections.settings.woocommerce import WooCommerceSettings


@dataclass(frozen=True)
class SourceKind:
    """A type of integration. `credential` is the label of its secret.

    `carries` names what it sends, or what it reads if it `is_looked_up`: such an integration is only queried, and sends
    nothing to customers. `sample` is the label of the input for a test; empty if a test needs none. One that `has_page` is
    connected there, because its provider is told our webhook.
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
    has_page: bool = False


KINDS: dict[str, SourceKind] = {
    kind.name: kind
    for kind in (
        SourceKind(
            name="twilio",
            title=lazy("Text messages and calls (Twilio)"),
            carries=lazy("text messages"),
            lead=lazy("Sends texts to customers from your number, and answers its calls."),
            icon="message-2",
            settings=TwilioSettings,
            credential=lazy("Auth token"),
            sample=lazy("Your number"),
        ),
        SourceKind(
            name="smtp",
            title=lazy("E-mail (SMTP)"),
            carries="e-mails",
            lead=lazy("Sends e-mails to customers through your mail server."),
            icon="mail",
            settings=SmtpSettings,
            credential=lazy("Password"),
            needs_secret=False,
            sample=lazy("Your e-mail address"),
        ),
        SourceKind(
            name="woocommerce_products",
            title=lazy("Shop (WooCommerce)"),
            carries="orders",
            lead=lazy("Gives customers signed in to your shop the status of their orders."),
            icon="file-text",
            settings=WooCommerceSettings,
            credential=lazy("Consumer secret"),
            is_looked_up=True,
        ),
        SourceKind(
            name="client_lookup",
            title=lazy("Caller lookup"),
            carries="callers",
            lead=lazy("Your system tells the agent who is calling."),
            icon="phone",
            settings=ClientLookupSettings,
            credential=lazy("Secret"),
            needs_secret=False,
            is_looked_up=True,
            sample=lazy("A phone number"),
        ),
        SourceKind(
            name="caldav",
            title=lazy("Calendar (CalDAV)"),
            carries=lazy("busy times"),
            lead=lazy("Busy times in your calendar aren’t offered to customers, and bookings appear in it."),
            icon="calendar-time",
            settings=CalDavSettings,
            credential=lazy("Password"),
            is_looked_up=True,
        ),
        SourceKind(
            name="openai_sip",
            title=lazy("Phone calls (OpenAI SIP)"),
            carries="callers",
            lead=lazy("Your agent answers the calls to your number."),
            icon="phone",
            settings=OpenAiSipSettings,
            credential=lazy("API key and signing secret"),
            is_looked_up=True,
        ),
        SourceKind(
            name="telegram",
            title="Telegram",
            carries=lazy("messages"),
            lead=lazy("Your agent answers the messages to your bot."),
            icon="message-2",
            settings=TelegramSettings,
            credential=lazy("Bot token"),
            is_looked_up=True,
            has_page=True,
        ),
        SourceKind(
            name="whatsapp",
            title="WhatsApp (Meta)",
            carries=lazy("messages"),
            lead=lazy("Your agent answers the messages to your WhatsApp number."),
            icon="message-2",
            settings=WhatsAppSettings,
            credential=lazy("Access token"),
            is_looked_up=True,
            has_page=True,
        ),
        SourceKind(
            name="email",
            title=lazy("E-mail inbox"),
            carries=lazy("messages"),
            lead=lazy("Your agent answers the e-mails to your address."),
            icon="mail",
            settings=EmailSettings,
            credential=lazy("Password or signing key"),
            is_looked_up=True,
            has_page=True,
        ),
    )
}
