"""URLs of the integrations page."""

from __future__ import annotations

from django.urls import path

from console.integrations import events
from console.integrations.channels import STEPS, channel_action, channel_page
from console.integrations.views import TAB, disconnect, integrations_page, test

INTEGRATIONS = f"p/<slug:project_slug>/agent/{TAB}"

EVENTS = f"{INTEGRATIONS}/events"

ACTIONS = ("check", "send", "end")

urlpatterns = [
    *(path(f"{INTEGRATIONS}/channels/{kind}", channel_page, {"kind": kind}, name="channel") for kind in STEPS),
    *(
        path(
            f"{INTEGRATIONS}/channels/{kind}/{action}",
            channel_action,
            {"kind": kind, "action": action},
            name=f"channel_{action}",
        )
        for kind in STEPS
        for action in ACTIONS
    ),
    path(EVENTS, events.add, name="event_subscription_add"),
    path(f"{EVENTS}/<uuid:subscription_id>", events.change, name="event_subscription"),
    path(f"{EVENTS}/<uuid:subscription_id>/remove", events.remove, name="event_subscription_remove"),
    path(f"{EVENTS}/<uuid:subscription_id>/secret", events.new_secret, name="event_subscription_secret"),
    path(f"{EVENTS}/<uuid:subscription_id>/test", events.test, name="event_subscription_test"),
    path(f"{INTEGRATIONS}/<slug:kind>/disconnect", disconnect, name="integration_disconnect"),
    path(f"{INTEGRATIONS}/<slug:kind>/test", test, name="integration_test"),
    path(INTEGRATIONS, integrations_page, {"section": TAB}, name="agent"),
]
