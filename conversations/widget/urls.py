"""URLs of the widget: its script, its endpoints, and the demo shop."""

from __future__ import annotations

from django.urls import path

from conversations.widget import live, views
from conversations.widget.bundle import widget_script
from conversations.widget.demo.orders import orders
from conversations.widget.demo.page import shop

ENDPOINT = "widget/<str:key>"

urlpatterns = [
    path("widget.js", widget_script, name="widget_script"),
    path(f"{ENDPOINT}/session", views.Session.as_view()),
    path(f"{ENDPOINT}/messages", views.Messages.as_view()),
    path(f"{ENDPOINT}/events", live.events),
    path(f"{ENDPOINT}/person", views.Person.as_view()),
    path("demo/shop", shop, name="demo_shop"),
    path("demo/shop/wp-json/wc/v3/orders", orders),
]
