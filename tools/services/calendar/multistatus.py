"""Parser for WebDAV multistatus responses from untrusted servers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

# Nesting limit, well above multistatus/response/propstat/prop and a property's content.
DEEPEST = 24
# A thousand events have seven thousand elements.
MOST_ELEMENTS = 20_000
DAV, CALDAV = "DAV:", "urn:ietf:params:xml:ns:caldav"


class InvalidMultistatus(ValueError):
    """The response is not a WebDAV multistatus document."""


@dataclass
class Resource:
    """One resource: its href, the text of each property, and the names of all elements nested in each property.

    Names are `namespace name`, as in "DAV: href". Properties that the server lacks are left out.
    """

    href: str = ""
    texts: dict[str, str] = field(default_factory=dict)
    inside: dict[str, set[str]] = field(default_factory=dict)


def qualified_name(namespace: str, name: str) -> str:
    return f"{namespace} {name}"


HREF, STATUS = qualified_name(DAV, "href"), qualified_name(DAV, "status")
RESPONSE, PROPSTAT, PROP = qualified_name(DAV, "response"), qualified_name(DAV, "propstat"), qualified_name(DAV, "prop")


def read_multistatus(body: bytes) -> list[Resource]:
    """Return the resources of a response. Raises InvalidMultistatus, also for a document type, because entities could expand
    to gigabytes.
    """
    reader = _Reader()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = reader.refuse
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    try:
        parser.Parse(body, True)
    except expat.ExpatError as error:
        raise InvalidMultistatus("The response is not XML.") from error
    if not reader.is_multistatus:
        raise InvalidMultistatus(InvalidMultistatus.__doc__)
    return reader.found


class _Reader:
    """Collects resources from parser events."""

    def __init__(self) -> None:
        self.found: list[Resource] = []
        self.is_multistatus = False
        self._elements = 0
        self._path: list[str] = []
        self._text: list[str] = []
        self._resource = Resource()
        self._properties = Resource()
        self._is_there = True

    def refuse(self, *about: Any) -> None:
        raise InvalidMultistatus("The response declares a document type.")

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if not self._path:
            self.is_multistatus = name == qualified_name(DAV, "multistatus")
        if len(self._path) >= DEEPEST:
            raise InvalidMultistatus("The response is nested too deeply.")
        self._elements += 1
        if self._elements > MOST_ELEMENTS:
            raise InvalidMultistatus(f"The response has more than {MOST_ELEMENTS:,} elements.")
        self._path.append(name)
        self._text = []
        if name == RESPONSE:
            self._resource = Resource()
        elif name == PROPSTAT:
            self._properties, self._is_there = Resource(), True
        elif (held := self._property) is not None:
            self._properties.inside.setdefault(held, set()).add(name)

    def text(self, data: str) -> None:
        self._text.append(data)

    def end(self, name: str) -> None:
        text = "".join(self._text)
        self._text = []
        if name == HREF and self._path[-2:-1] == [RESPONSE]:
            self._resource.href = text.strip()
        elif name == STATUS and self._path[-2:-1] == [PROPSTAT]:
            self._is_there = " 200" in text
        elif self._path[-2:-1] == [PROP]:
            self._properties.texts[name] = text
        elif name == PROPSTAT and self._is_there:
            self._resource.texts |= self._properties.texts
            self._resource.inside |= self._properties.inside
        elif name == RESPONSE:
            self.found.append(self._resource)
        self._path.pop()

    @property
    def _property(self) -> str | None:
        """The property that contains the current element, or is it."""
        depth = self._path.index(PROP) + 1 if PROP in self._path else len(self._path)
        return self._path[depth] if depth < len(self._path) else None
