"""WhatsApp's templates, which may be sent after the window has closed: what Meta's and Twilio's have in common."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext, gettext_noop

TEMPLATE = "template"
LONGEST_VALUE = 1_000
GAP = re.compile(r"\{\{\s*([A-Za-z0-9_]+)\s*\}\}")
ADDRESS = re.compile(r"https?://[^\s/]+\S*")
# The types of an uploaded file that a template takes.
FILE_TYPES: Mapping[str, tuple[str, ...]] = {
    "image": ("image/jpeg", "image/png"),
    "video": ("video/mp4",),
    "document": ("application/pdf", "text/plain"),
}
# Why a template of a status can't be sent. Twilio writes Meta's statuses in lower case.
PROBLEMS: Mapping[str, str] = {
    "paused": gettext_noop("Meta has paused it, because customers reported it."),
    "disabled": gettext_noop("Meta has disabled it, because customers reported it too often."),
    "rejected": gettext_noop("Meta has rejected it."),
    "pending": gettext_noop("Meta hasn’t approved it yet."),
    "received": gettext_noop("Meta hasn’t approved it yet."),
    "in_appeal": gettext_noop("Meta hasn’t decided about your appeal yet."),
    "unsubmitted": gettext_noop("It wasn’t submitted to WhatsApp. Submit it in Twilio’s console."),
}
# In a sent template: stands for the address or the id of the message's file.
FILE = "{file}"


class NoTemplates(Exception):
    """The templates can't be listed, for the given reason."""


@dataclass(frozen=True)
class TemplateText:
    """A text of a template, which the customer reads. `keys` are the names of its gaps in the values."""

    text: str
    keys: Mapping[str, str]

    def filled(self, values: Mapping[str, str]) -> str:
        return GAP.sub(lambda gap: values[self.keys[gap[1]]], self.text)


@dataclass(frozen=True)
class Template(ABC):
    """A template in one language. `files` are the gaps that take a file, with its kind; `problem` says why the template
    can't be sent, or "".
    """

    name: str
    language: str
    texts: Sequence[TemplateText]
    files: Mapping[str, str]
    problem: str

    @property
    def variables(self) -> list[str]:
        """The keys of its gaps, each once: the file, then those of the texts in their order."""
        return list(dict.fromkeys([*self.files, *(key for one in self.texts for key in one.keys.values())]))

    @property
    def text(self) -> str:
        return "\n\n".join(one.text for one in self.texts if one.text)

    def filled(self, values: Mapping[str, str]) -> str:
        """The text as the customer reads it. A file that is an address is a link before it."""
        links = [values[key] for key in self.files if not file_id(values[key])]
        return "\n\n".join(filter(None, (*links, *(one.filled(values) for one in self.texts))))

    def file_of(self, values: Mapping[str, str]) -> UUID | None:
        """The uploaded file among the values."""
        return next(filter(None, (file_id(values[key]) for key in self.files)), None)

    @abstractmethod
    def sent_form(self, values: Mapping[str, str]) -> dict[str, Any]:
        """The template of a message, as its provider takes it."""


def status_problem(status: str) -> str:
    """Why a template of this status can't be sent, in a sentence; empty if it is approved."""
    if status.lower() == "approved":
        return ""
    known = PROBLEMS.get(status.lower())
    return gettext(known) if known else gettext("Meta says: %(status)s.") % {"status": status[:40]}


def gaps_of(text: str, *, prefix: str = "") -> TemplateText:
    """A text with its gaps. The prefix tells those of the same name in other texts apart."""
    return TemplateText(text, {name: f"{prefix}{name}" for name in GAP.findall(text)})


def file_id(value: str) -> UUID | None:
    """The id of an uploaded file; None for an address."""
    try:
        return UUID(value.strip())
    except ValueError:
        return None


def find_template(templates: Iterable[Template], name: str, language: str) -> Template | None:
    """The template; of one in several languages the first, if none is named."""
    same = (one for one in templates if one.name == name and language in ("", one.language))
    return next(same, None)


def check_values(template: Template, values: Mapping[str, str]) -> str:
    """Why the template can't be sent with these values, in a sentence; empty if it can."""
    if template.problem:
        return template.problem
    if missing := [key for key in template.variables if not values.get(key, "").strip()]:
        return gettext("Fill in %(names)s.") % {"names": ", ".join(missing)}
    if unknown := [key for key in values if key not in template.variables]:
        return gettext("The template has no %(names)s.") % {"names": ", ".join(unknown)}
    # Meta refuses these.
    if any(re.search(r"[\n\t]| {4}", value) for value in values.values()):
        return gettext("A value is one line, without tabs.")
    strange = [key for key in template.files if not file_id(values[key]) and not ADDRESS.fullmatch(values[key].strip())]
    if strange:
        return gettext("%(names)s: enter the file’s address, or the id of an uploaded file.") % {"names": strange[0]}
    return ""


def check_file(template: Template, content_type: str) -> str:
    """Why the template doesn't take an uploaded file of this type, in a sentence; empty if it does."""
    kind = next(iter(template.files.values()))
    if content_type in FILE_TYPES[kind]:
        return ""
    return gettext("The template begins with a file of the kind %(kind)s: %(types)s.") % {
        "kind": kind,
        "types": ", ".join(FILE_TYPES[kind]),
    }


def with_file(form: Any, stand_in: str) -> Any:
    """A sent template with the address or the id of its file."""
    if isinstance(form, dict):
        return {key: with_file(value, stand_in) for key, value in form.items()}
    if isinstance(form, list):
        return [with_file(value, stand_in) for value in form]
    return stand_in if form == FILE else form
