"""What an approval covers, field by field, as it stands and as it was approved before."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from console.todos.arguments import in_order
from console.todos.invisible_characters import Piece, hidden_count, revealed
from console.todos.labels import LETTERS
from projects.common import differences
from projects.common.differences import Change, label_of
from todos.content.plans import names_addressee
from tools.engine.catalogue import CompiledTool

Content = Mapping[str, Any]
# The keys under which a tool's arguments may hold whom it writes to.
ADDRESSES = ("to", "recipient", "email", "address")
# It is the title of the todo, so that it is repeated only where it changed, or is too long for one.
TASK = "Task"
NOBODY = "Nobody yet"
NO_ADDRESS = "No address: nothing can be sent"
NO_NUMBER = "No number: nothing can be sent"


@dataclass(frozen=True)
class Line:
    """One field of a content before it is compared. `origin` says where a value comes from that nobody typed."""

    key: str
    label: str
    text: str
    origin: str = ""
    is_missing: bool = False


@dataclass(frozen=True)
class Field:
    """One field for the eye, with what went and what came since the last approval, and every hidden character marked."""

    label: str
    pieces: list[Piece]
    origin: str
    is_missing: bool
    is_changed: bool


@dataclass(frozen=True)
class Plan:
    """Everything that decides what will happen. `heading` says what that is; `has_task`: the whole description stands here."""

    heading: str
    fields: list[Field]
    hidden: int
    is_changed: bool
    has_task: bool


def plan_of(
    content: Content, before: Content | None, *, tools: Mapping[str, CompiledTool], is_titled: bool = True
) -> Plan:
    """The fields of a content, against those of an earlier one. `is_titled`: the description stands above them as it is, and
    has its hidden characters counted there.
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
        return "A person does this"
    if tool is None:
        return "This will run" if content["tool"] else "The agent may do this"
    return "This will be sent" if tool.kind in LETTERS else "This will run"


def _field(new: Line | None, old: Line | None) -> Field | None:
    line = new or old
    if line is None or (new and old and not new.text and not old.text):
        return None
    before, after = old.text if old else "", new.text if new else ""
    if before == after:
        pieces = revealed(after)
    else:
        change = Change(line.label, before, after)
        pieces = [mark for piece in _joined(change.pieces) for mark in revealed(piece.text, kind=piece.kind)]
    return Field(line.label, pieces, line.origin, line.is_missing, is_changed=before != after)


def _joined(pieces: Iterable[differences.Piece]) -> list[differences.Piece]:
    """Changes with only blanks between them as one, so that words are read together."""
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
    """Exactly these arguments: no model is asked."""
    arguments = in_order(content["arguments"] or {}, tools.get(content["tool"]))
    if not any(arguments.get(key) for key in ADDRESSES):
        yield from _to(content, _kinds([content["tool"]], tools))
    for name, value in arguments.items():
        yield Line(f"argument.{name}", label_of(name), plain(value))
    yield Line("tools", "By", _tools(content))


def _open(content: Content, tools: Mapping[str, CompiledTool]) -> Iterator[Line]:
    """A task that the agent carries out in its own words, with these tools and these addresses only."""
    offered = [tools[name] for name in content["tools"] if name in tools]
    yield from _to(content, {tool.kind for tool in offered if not names_addressee(tool)})
    if offered and not content["recipients"] and all(map(names_addressee, offered)):
        yield Line("recipients", "To", NOBODY, is_missing=True)
    yield Line("tools", "With", _tools(content) or "No tool: by hand")
    yield Line("model", "Model", content["model"])


def _to(content: Content, kinds: set[str]) -> Iterator[Line]:
    contact = content["contact"] or {}
    if content["recipients"]:
        yield Line("recipients", "To", "\n".join(content["recipients"]), origin="only these addresses")
    elif "email" in kinds:
        yield _own_address("To", contact.get("email", ""))
    if "sms" in kinds:
        yield _own_address("To the phone", contact.get("phone", ""), nothing=NO_NUMBER)


def _own_address(label: str, address: str, *, nothing: str = NO_ADDRESS) -> Line:
    return Line(label, label, address or nothing, "from the contact" if address else "", is_missing=not address)


def _about(content: Content) -> Iterator[Line]:
    contact = content["contact"]
    if contact:
        known = (contact["name"] or "Unnamed customer", contact["phone"], contact["email"])
        yield Line("contact", "Customer", ", ".join(part for part in known if part))
    yield Line("type", "Type", content["type"] or "")


def _tools(content: Content) -> str:
    """The tools by name, each with its version: a changed tool is another one."""
    return "\n".join(
        f"{name} version {mark.split(':')[0]} ({mark.split(':')[1][:6]})" if mark else f"{name}, not offered"
        for name, mark in content["tools"].items()
    )


def _kinds(names: Any, tools: Mapping[str, CompiledTool]) -> set[str]:
    return {tools[name].kind for name in names if name in tools}


def plain(value: Any) -> str:
    """An argument as a person reads it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False, indent=2) if isinstance(value, dict | list) else str(value)
