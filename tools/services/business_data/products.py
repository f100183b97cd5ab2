"""Products and their availability: `project_attributes_products`.

A list of `{"name", "available", "price"?, "note"?}`; the price is text with its currency, or a number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Annotated, Any

from django.utils.translation import gettext
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from projects.records.attributes import WrongValue

KEY = "project_attributes_products"
MOST, SHOWN = 2_000, 5


class Product(BaseModel):
    """A product or service."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    name: Annotated[str, Field(min_length=1, max_length=200)]
    available: Annotated[bool, Field(strict=True)]
    price: Annotated[str, Field(max_length=60)] = ""
    note: Annotated[str, Field(max_length=500)] = ""

    @field_validator("price", mode="before")
    @classmethod
    def as_text(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value

    @property
    def words(self) -> str:
        """Ravioli with ricotta is available, at € 15 (vegetarian)"""
        price = f", at {self.price}" if self.price and self.available else ""
        note = f" ({self.note})" if self.note else ""
        return f"{self.name} is {'' if self.available else 'not '}available{price}{note}"


_products = TypeAdapter(Annotated[list[Product], Field(max_length=MOST)])


def check_products(value: Any) -> list[dict[str, Any]]:
    """Validate and normalize the list. Raises WrongValue with the path of the error."""
    try:
        products = _products.validate_python(value)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        place = ".".join([KEY, *(str(step) for step in problem["loc"])])
        raise WrongValue(
            gettext("%(place)s: %(value)s. Write a list of {name, available: true or false, price?, note?}.")
            % {"place": place, "value": problem["msg"]}
        ) from error
    return [product.model_dump(exclude_defaults=True) for product in products]


def read_products(value: Any) -> list[Product]:
    """Return the stored products; none if the value predates validation and is invalid."""
    try:
        return _products.validate_python(value)
    except ValidationError:
        return []


def find_products(asked: str, products: Sequence[Product]) -> list[Product]:
    """Return up to five matching products: by exact name, else by all words, else named in the question, else by a
    similar name.
    """
    name = asked.casefold()
    words = _words(name)
    tries = (
        [product for product in products if product.name.casefold() == name],
        [product for product in products if words and set(words) <= set(_words(product.name.casefold()))],
        [product for product in products if words and all(word in product.name.casefold() for word in words)],
        [product for product in products if _is_named(product.name.casefold(), within=name)],
    )
    close = get_close_matches(name, [product.name.casefold() for product in products], n=1, cutoff=0.8)
    return next((found for found in tries if found), [one for one in products if one.name.casefold() in close])[:SHOWN]


def others_like(asked: str, products: Sequence[Product]) -> list[Product]:
    """Return available products that share a word with the question, else the first available ones."""
    words = {_stem(word) for word in asked.casefold().split() if len(word) > 3}
    available = [product for product in products if product.available]
    like = [product for product in available if any(word in product.name.casefold() for word in words)]
    return (like or available)[:SHOWN]


def _words(text: str) -> list[str]:
    return [_stem(word) for word in re.findall(r"\w+", text)]


def _is_named(product: str, *, within: str) -> bool:
    """Return True if the name occurs in the question: as whole words, so that "steak" does not match "tea", in scripts
    that separate words.
    """
    if not any(letter.isascii() or letter.lower() != letter.upper() for letter in product):
        return product in within
    return re.search(rf"(?<!\w){re.escape(product)}(?:e?s)?(?!\w)", within) is not None


def _stem(word: str) -> str:
    """Strip a plural s, so that "vouchers" finds "Gift voucher"."""
    return word[:-1] if len(word) > 3 and word.endswith("s") else word
