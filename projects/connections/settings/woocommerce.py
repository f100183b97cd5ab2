"""A WooCommerce shop."""

from __future__ import annotations

import re

from django.utils.translation import gettext, gettext_noop
from pydantic import Field, field_validator

from outbound.guard import Guard
from projects.connections.settings.base import Line, SourceSettings, Url, check_private_url


class WooCommerceSettings(SourceSettings):
    """A WooCommerce shop for order look-ups."""

    address_field = "store_url"

    store_url: Url = Field(
        title=gettext_noop("Shop address"),
        description=gettext_noop("The public address, with https."),
        examples=["https://shop.example.com"],
    )
    consumer_key: Line = Field(
        title=gettext_noop("Consumer key"),
        description=gettext_noop("From WooCommerce → Settings → Advanced → REST API. Read permission is enough."),
        examples=["ck_0123456789abcdef0123456789abcdef01234567"],
    )

    @field_validator("store_url")
    @classmethod
    def an_address_of_a_shop(cls, value: str) -> str:
        if "?" in value or "#" in value:
            raise ValueError(gettext("Remove the part of the address after ? or #."))
        return value.rstrip("/").removesuffix("/wp-json").rstrip("/")

    @field_validator("consumer_key")
    @classmethod
    def a_key(cls, value: str) -> str:
        if not re.fullmatch(r"ck_[0-9A-Za-z]{8,120}", value):
            raise ValueError(
                gettext("A consumer key begins with ck_. Copy it from WooCommerce. The secret has its own field.")
            )
        return value

    @property
    def server(self) -> str:
        return self.store_url.lower()

    def check_server(self, guard: Guard) -> None:
        check_private_url(self.store_url, guard)
