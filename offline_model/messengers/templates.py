"""The templates of the offline WhatsApp: as Meta lists them, approved but for one."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
_FOOTER: Json = {"type": "FOOTER", "text": "Reply STOP to end."}
_TRACK: Json = {"type": "URL", "text": "Track it", "url": "https://shop.example/track/{{1}}"}


def _template(name: str, *components: Json, status: str = "APPROVED") -> Json:
    return {"name": name, "language": "en", "status": status, "components": [*components, _FOOTER]}


TEMPLATES = (
    _template("order_ready", {"type": "BODY", "text": "Hello {{1}}, your order {{2}} is ready."}),
    _template(
        "order_sent", {"type": "BODY", "text": "Your order is on its way."}, {"type": "BUTTONS", "buttons": [_TRACK]}
    ),
    _template("new_menu", {"type": "HEADER", "format": "IMAGE"}, {"type": "BODY", "text": "Our new menu is here."}),
    _template("summer_sale", {"type": "BODY", "text": "Ten percent off this week."}, status="PAUSED"),
)
BY_NAME: dict[str, Json] = {one["name"]: one for one in TEMPLATES}
