"""Shopper sign-in: a JWT that the shop signs with the widget's secret.

The signature proves who wrote the claims, and nothing about them: each is checked like any input.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import jwt
from django.core.exceptions import ValidationError as InvalidEmail
from django.core.validators import validate_email
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from projects.common.characters import has_control_characters
from projects.common.crypto import WrongSecret
from projects.models import Widget
from projects.widget.widgets import shopper_secret

# Fixed, so that a token cannot choose its own algorithm.
ALGORITHM = "HS256"
LONGEST = 4_000
# Allows for clock skew between the shop and us.
LEEWAY_SECONDS = 10


class ShopperRefused(ValueError):
    """The shop's token was refused; `code` is for programs, the message for the shop's developer."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


def _one_line(text: str) -> str:
    if has_control_characters(text):
        raise ValueError("contains control characters")
    return text


def _one_address(text: str) -> str:
    """A single e-mail address in lower case, or nothing."""
    try:
        if text:
            validate_email(text)
    except InvalidEmail as error:
        raise ValueError("is not an e-mail address") from error
    return text.lower()


class Claims(BaseModel):
    """A shopper's claims; additional ones are ignored."""

    model_config = ConfigDict(str_strip_whitespace=True)

    wp_user_id: (
        Annotated[int, Field(strict=True, gt=0, lt=2**53)]
        | Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,15}$")]
    )
    name: Annotated[str, Field(max_length=80), AfterValidator(_one_line)] = ""
    email: Annotated[str, Field(max_length=254), AfterValidator(_one_address)] = ""

    def kept(self) -> dict[str, Any]:
        return {"wp_user_id": int(self.wp_user_id), "name": self.name, "email": self.email}


class Token(BaseModel):
    exp: Annotated[int, Field(strict=True, lt=2**53)]
    shopper: Claims


@dataclass(frozen=True)
class Shopper:
    """A signed-in shopper; `until` is a Unix time in seconds."""

    claims: dict[str, Any]
    until: int


def read_shopper(token: str, widget: Widget) -> Shopper:
    """The shopper in a shop's token. Raises ShopperRefused."""
    try:
        secret = shopper_secret(widget)
    except WrongSecret:
        sentence = "The shopper secret can't be decrypted. Create a new one under Widget."
        raise ShopperRefused("shopper_not_set_up", sentence) from None
    if not secret:
        raise ShopperRefused("shopper_not_set_up", "This widget has no shopper secret. Create one under Widget.")
    if len(token) > LONGEST:
        raise ShopperRefused("shopper_invalid", f"The shopper token is longer than {LONGEST:,} characters.")
    payload = _verified(token, secret)
    try:
        parsed = Token.model_validate(payload)
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors()[0]["loc"][:2])
        raise ShopperRefused("shopper_claims", f"The shopper token's {place} is missing or invalid.") from error
    return Shopper(parsed.shopper.kept(), parsed.exp)


def _verified(token: str, secret: str) -> dict[str, Any]:
    options: Any = {"require": ["exp"], "verify_aud": False}
    try:
        return jwt.decode(token, secret, algorithms=[ALGORITHM], leeway=LEEWAY_SECONDS, options=options)
    except jwt.ExpiredSignatureError as error:
        raise ShopperRefused("shopper_expired", "The shopper token has expired. Sign a new one.") from error
    except jwt.MissingRequiredClaimError as error:
        raise ShopperRefused("shopper_claims", "The shopper token has no expiry. Add the exp claim.") from error
    except jwt.InvalidTokenError as error:
        sentence = "The shopper token isn't signed with this widget's secret (HS256)."
        raise ShopperRefused("shopper_forged", sentence) from error
