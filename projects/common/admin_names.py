"""Names of models and fields in the admin, in the reader's language.

Django names a model after its class and a field after its attribute. Those names, and the help texts of the models, are the
messages of the catalogs: `tests.messages` collects them from `NAMES`. Names that a library translates stay its own.
"""

from __future__ import annotations

import re

from django.db.models import Field, Model
from django.utils.functional import Promise

from projects.common.translation import plazy

MODEL, FIELD = "model", "field"
# The names of every model that the admin shows, with their contexts.
NAMES: set[tuple[str, str]] = set()
# How people write what an attribute's or a class's name can't.
SPELLINGS = {
    "after action": "after-action",
    "api": "API",
    "email": "e-mail",
    "follow up": "follow-up",
    "http": "HTTP",
    "id": "ID",
    "ids": "IDs",
    "idn": "IDN",
    "ref": "reference",
    "reauth": "reauthentication",
    "seq": "sequence number",
    "sha256": "SHA-256",
    "slack": "Slack",
    "sms": "SMS",
    "timezone": "time zone",
    "url": "URL",
}
_MISSPELLED = re.compile(rf"\b({'|'.join(SPELLINGS)})(?=s?\b)")


def translate_names(model: type[Model]) -> None:
    """Make the names of a model and of its fields translations of themselves. Migrations don't contain them."""
    options = model._meta
    own_plural = options.original_attrs.get("verbose_name_plural")
    options.verbose_name_plural = _translated(MODEL, spelled(own_plural or _plural(options.verbose_name)))
    options.verbose_name = _translated(MODEL, spelled(options.verbose_name))
    for field in options.get_fields():
        if isinstance(field, Field):
            field.verbose_name = _translated(FIELD, spelled(field.verbose_name))
            field.help_text = _translated(FIELD, field.help_text)


def reference_name(column: str) -> str:
    """The translated name of what the id in a column refers to: "author" for `author_id`. Some field has it as its own."""
    return plazy(FIELD, str(spelled(column.removesuffix("_id").replace("_", " "))))


def spelled(name: str | Promise | None) -> str | Promise | None:
    """A name with the acronyms and hyphens that Python's names don't have; that of a library as it is."""
    if not isinstance(name, str):
        return name
    return _MISSPELLED.sub(lambda word: SPELLINGS[word[0]], name)


def _plural(name: str | Promise | None) -> str | Promise | None:
    """The regular plural of a class's name; that of a library's model in its own language."""
    if not isinstance(name, str):
        return name
    return f"{name[:-1]}ies" if name.endswith("ry") else f"{name}s"


def _translated(context: str, name: str | Promise | None) -> str:
    if not name or isinstance(name, Promise):
        return name or ""  # type: ignore[return-value]  # a Promise is typed as the text that it becomes
    NAMES.add((context, name))
    return plazy(context, name)
