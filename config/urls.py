"""All URLs."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from config.views import healthz, livez, no_such_page
from conversations.api.attachments import attachment_file
from conversations.api.call_hooks import openai_calls
from conversations.api.channel_hooks import email, messenger, whatsapp
from conversations.api.twilio_hooks import call_arrived, dial_ended, session_ended
from projects.api import errors

handler400 = errors.bad_request
handler403 = errors.permission_denied
handler404 = errors.not_found
handler500 = errors.server_error

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("livez", livez, name="livez"),
    path("admin/", admin.site.urls),
    # allauth's page would let people claim an unverified address.
    path("account/email/", no_such_page),
    path("account/", include("allauth.account.urls")),
    path("account/2fa/", include("console.people.mfa_urls")),
    path("account/2fa/", include("allauth.mfa.urls")),
    path("api/v1/", include("config.api_urls")),
    path("hooks/email/<uuid:source_id>", email, name="email_webhook"),
    path("hooks/openai/calls", openai_calls, name="openai_calls"),
    path("hooks/telegram/<uuid:source_id>", messenger, {"kind": "telegram"}, name="telegram_webhook"),
    path("hooks/twilio/calls", call_arrived, name="twilio_calls"),
    path("hooks/twilio/calls/next", session_ended, name="twilio_calls_next"),
    path("hooks/twilio/calls/dialed", dial_ended, name="twilio_calls_dialed"),
    path("hooks/twilio/messages", messenger, {"kind": "twilio"}, name="twilio_messages"),
    path("hooks/twilio/status", messenger, {"kind": "twilio"}, name="twilio_status"),
    path("hooks/whatsapp/<uuid:source_id>", whatsapp, name="whatsapp_webhook"),
    path("files/<str:token>", attachment_file, name="attachment"),
    path("", include("conversations.widget.urls")),
    path("", include("conversations.portal.urls")),
    path("", include("console.widget.urls")),
    path("", include("console.urls")),
    # Before the agent's: `reverse("agent")` without a section uses the last URL of that name.
    path("", include("console.integrations.urls")),
    path("", include("console.todos.urls")),
    path("", include("console.knowledge.urls")),
    path("", include("console.agent.urls")),
    path("", include("console.people.urls")),
    path("", include("console.bookings.urls")),
    path("", include("console.customers.urls")),
    path("", include("console.calls.urls")),
    path("", include("console.simulated_phone.urls")),
    path("p/<slug:project_slug>/<path:rest>", no_such_page),
]
