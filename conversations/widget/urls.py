"""URLs of the widget: its script, its endpoints, and the demo shop."""

from __future__ import annotations

from django.urls import path

from conversations.widget import calls, live, views
from conversations.widget.bundle import CALL, widget_script
from conversations.widget.demo.orders import orders
from conversations.widget.demo.page import shop

ENDPOINT = "widget/<str:key>"

urlpatterns = [
    path("widget.js", widget_script, name="widget_script"),
    path("call.js", widget_script, {"first": CALL}, name="call_script"),
    path(f"{ENDPOINT}/session", views.Session.as_view()),
    path(f"{ENDPOINT}/messages", views.Messages.as_view()),
    path(f"{ENDPOINT}/attachments", views.Files.as_view()),
    path(f"{ENDPOINT}/events", live.events),
    path(f"{ENDPOINT}/person", views.Person.as_view()),
    path(f"{ENDPOINT}/calls", calls.Calls.as_view()),
    path(f"{ENDPOINT}/calls/<uuid:visitor_call_id>", calls.VisitorCall.as_view()),
    path(f"{ENDPOINT}/rating", views.Rating.as_view()),
    path("demo/shop", shop, name="demo_shop"),
    path("demo/shop/wp-json/wc/v3/orders", orders),
]
