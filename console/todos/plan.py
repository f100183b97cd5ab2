"""The content that an approval covers, field by field, with changes since the last approval."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from console.todos.arguments import in_order
from console.todos.invisible_characters import Piece, hidden_count, mark_hidden
from console.todos.labels import LETTERS
from projects.common import differences
from projects.common.differences import Change
from projects.common.phones import readable_phone
from projects.common.translation import lazy
from todos.content.plans import names_addressee
from tools.engine.catalogue import CompiledTool
from tools.engine.tool_words import argument_label, title_of_tool

Content = Mapping[str, Any]
# Argument names that may hold a recipient.
ADDRESSES = ("to", "recipient", "email", "address")
# Shown as a field only if it changed or is not the title.
TASK = lazy("Task")
NOBODY = lazy("No recipient yet")
NO_ADDRESS = lazy("No e-mail address")
NO_NUMBER = lazy("No phone number")


@dataclass(frozen=True)
class Line:
    """One field before comparison. `origin` tells where a derived value comes from."""

    key: str
    label: str
    text: str
    origin: str = ""
    is_missing: bool = False


@dataclass(frozen=True)
class Field:
    """One field for display, with changes since the last approval and hidden characters marked."""

    label: str
    pieces: list[Piece]
    origin: str
    is_missing: bool
    is_changed: bool


@dataclass(frozen=True)
class Plan:
    """The fields to approve. `has_task` is True if the full description is among them."""

    heading: str
    fields: list[Field]
    hidden: int
    is_changed: bool
    has_task: bool


def plan_of(
    content: Content, before: Content | None, *, tools: Mapping[str, CompiledTool], is_titled: bool = True
) -> Plan:
    """The fields of a content, compared with an earlier one. `is_titled` means that the panel's title is the whole task,
    whose hidden characters are counted there.
    """
    new = {line.key: line for line in _lines(content, tools)}
    old = {line.key: line for line in _lines(before, tools)} if before is not None else new
    fields = [_field(new.get(key), old.get(key)) for key in {**new, **old}]
    shown = [
        field for field in fields if field is not None and (field.is_changed or field.label != TASK or not is_titled)
    ]
    return Plan(
        heading=_heading(content, tools),
        fields=shown,
        hidden=sum(hidden_count(field.pieces) for field in shown),
        is_changed=any(field.is_changed for field in shown),
        has_task=any(field.label == TASK for field in shown),
    )


def _heading(content: Content, tools: Mapping[str, CompiledTool]) -> str:
    tool = tools.get(content["tool"] or "")
    if tool is None and not content["tools"]:
        return gettext("To be done by hand")
    if tool is None:
        return gettext("This will run") if content["tool"] else gettext("The agent can do this")
    return gettext("This will be sent") if tool.kind in LETTERS else gettext("This will run")


def _field(new: Line | None, old: Line | None) -> Field | None:
    line = new or old
    if line is None or (new and old and not new.text and not old.text):
        return None
    before, after = old.text if old else "", new.text if new else ""
    if before == after:
        pieces = mark_hidden(after)
    else:
        change = Change(line.label, before, after)
        pieces = [mark for piece in _joined(change.pieces) for mark in mark_hidden(piece.text, kind=piece.kind)]
    return Field(line.label, pieces, line.origin, line.is_missing, is_changed=before != after)


def _joined(pieces: Iterable[differences.Piece]) -> list[differences.Piece]:
    """Merge adjacent changes that are separated only by whitespace, so that phrases stay together."""
    joined: list[differences.Piece] = []
    gone = came = blank = ""
    for piece in pieces:
        if piece.kind == "del":
            gone, came, blank = gone + blank + piece.text, came + blank, ""
        elif piece.kind == "ins":
            gone, came, blank = gone + blank, came + blank + piece.text, ""
        elif (gone or came) and not piece.text.strip():
            blank += piece.text
        else:
            joined += _change(gone, came, blank)
            joined.append(piece)
            gone = came = blank = ""
    return joined + _change(gone, came, blank)


def _change(gone: str, came: str, blank: str) -> list[differences.Piece]:
    pieces = [differences.Piece(kind, text) for kind, text in (("del", gone), ("ins", came), ("same", blank))]
    return [piece for piece in pieces if piece.text]


def _lines(content: Content, tools: Mapping[str, CompiledTool]) -> Iterator[Line]:
    yield Line("description", TASK, content["description"])
    if content["tool"]:
        yield from _frozen(content, tools)
    else:
        yield from _open(content, tools)
    yield from _about(content)


def _frozen(content: Content, tools: Mapping[str, CompiledTool]) -> Iterator[Line]:
    """Fields of a fixed tool call, which runs with exactly these arguments and without a model."""
    arguments = in_order(content["arguments"] or {}, tools.get(content["tool"]))
    if not any(arguments.get(key) for key in ADDRESSES):
        yield from _to(content, _kinds([content["tool"]], tools))
    for name, value in arguments.items():
        yield Line(f"argument.{name}", argument_label(name), plain(value))
    yield Line("tools", gettext("Tool"), _tools(content))


def _open(content: Content, tools: Mapping[str, CompiledTool]) -> Iterator[Line]:
    """Fields of a task that the agent carries out itself, limited to these tools and recipients."""
    offered = [tools[name] for name in content["tools"] if name in tools]
    yield from _to(content, {tool.kind for tool in offered if not names_addressee(tool)})
    if offered and not content["recipients"] and all(map(names_addressee, offered)):
        yield Line("recipients", gettext("To"), NOBODY, is_missing=True)
    yield Line("tools", gettext("Tools"), _tools(content) or gettext("None, by hand"))
    yield Line("model", gettext("Model"), content["model"])


def _to(content: Content, kinds: set[str]) -> Iterator[Line]:
    contact = content["contact"] or {}
    if content["recipients"]:
        yield Line(
            "recipients", gettext("To"), "\n".join(content["recipients"]), origin=gettext("these addresses only")
        )
    elif "email" in kinds:
        yield _own_address(gettext("To"), contact.get("email", ""))
    if "sms" in kinds:
        yield _own_address(gettext("Phone"), readable_phone(contact.get("phone", "")), nothing=NO_NUMBER)


def _own_address(label: str, address: str, *, nothing: str = NO_ADDRESS) -> Line:
    return Line(label, label, address or nothing, gettext("contact details") if address else "", is_missing=not address)


def _about(content: Content) -> Iterator[Line]:
    contact = content["contact"]
    if contact:
        known = (contact["name"] or gettext("Unnamed customer"), readable_phone(contact["phone"]), contact["email"])
        yield Line("contact", gettext("Customer"), ", ".join(part for part in known if part))
    yield Line("type", gettext("Type"), content["type"] or "")


def _tools(content: Content) -> str:
    """Tools with version and fingerprint: an approval covers one version of a tool."""
    return "\n".join(
        f"{title_of_tool(name)}, version {mark.split(':')[0]} ({mark.split(':')[1][:6]})"
        if mark
        else f"{title_of_tool(name)}, unavailable"
        for name, mark in content["tools"].items()
    )


def _kinds(names: Any, tools: Mapping[str, CompiledTool]) -> set[str]:
    return {tools[name].kind for name in names if name in tools}


def plain(value: Any) -> str:
    """An argument's value as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return ""
    if isinstance(value, dict):
        return "\n".join(f"{argument_label(str(name))}: {_inline(one)}" for name, one in value.items())
    return "\n".join(map(_inline, value)) if isinstance(value, list) else str(value)


def _inline(value: Any) -> str:
    """A nested value on one line."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else plain(value)
