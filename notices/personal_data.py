"""Personal data in the tables of this app (`tenancy.personal_data`)."""

from __future__ import annotations

from django.utils.translation import gettext_noop

from notices.models import Notice, NoticeEmail, NoticeSettings, PushMessage, PushSubscription
from tenancy.personal_data import Fate, TableContents

TABLES = (
    TableContents(
        Notice,
        gettext_noop("Notifications to members"),
        fate=Fate.SEARCHED,
        customer=("subject", "text"),
        other=("kind", "browser", "email", "slack"),
    ),
    TableContents(
        NoticeSettings,
        gettext_noop("How members are notified"),
        secret=("slack_url",),
        other=("ways", "frequency", "timezone", "slack_error"),
    ),
    TableContents(NoticeEmail, gettext_noop("When members were e-mailed")),
    TableContents(
        PushSubscription,
        gettext_noop("Browsers in which members are notified"),
        secret=("secret",),
        other=("browser", "name", "error"),
    ),
    TableContents(PushMessage, gettext_noop("Notifications that wait for a browser")),
)
