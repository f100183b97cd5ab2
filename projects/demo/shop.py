"""The demo's web shop: its project, its signed-in shopper, and the connection to its store."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings

from projects.connections.demo_store import PATH, store_url
from projects.connections.integration_types import KINDS
from projects.connections.integrations import SourceEdit, connect_source, find_source
from projects.models import Project, Source

FOLDER = Path(__file__).resolve().parent
KIND = "woocommerce_products"


@dataclass(frozen=True)
class Shopper:
    """A customer with an account at the shop, as the shop's server knows them."""

    wp_user_id: int
    name: str
    email: str


CLARA = Shopper(17, "Clara Conti", "clara@example.com")


@cache
def business(name: str) -> Mapping[str, Any]:
    """A business of the demo, `restaurant` or `shop`, from its JSON file."""
    return dict(json.loads((FOLDER / f"{name}.json").read_text()))


def find_shop() -> Project | None:
    """The shop's project. Must run in the demo organization's transaction."""
    return Project.objects.filter(name=business("shop")["project"]).order_by("created_at").first()


def connect_store(project: Project) -> None:
    """Connect the shop to the demo store, unless it has a connection already."""
    if settings.DEMO_SHOP and find_source(project.pk, KIND) is None:
        _connect(project)


def keep_connected(project: Project) -> None:
    """Update the store connection if the product's address has changed."""
    source = find_source(project.pk, KIND)
    if source is not None and _has_moved(source):
        _connect(project)


def _has_moved(source: Source) -> bool:
    url = str(source.settings["store_url"])
    return settings.DEMO_SHOP and url.endswith(PATH) and url != store_url()


def _connect(project: Project) -> None:
    """Connect with new random credentials, so that none are stored in the repository."""
    key, secret = f"ck_{secrets.token_hex(20)}", f"cs_{secrets.token_hex(20)}"
    edit = SourceEdit({"store_url": store_url(), "consumer_key": key}, secret)
    connect_source(project, KINDS[KIND], edit, by=None)
