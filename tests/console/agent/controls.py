"""Form controls as a browser without JavaScript would post them."""

from __future__ import annotations

from html.parser import HTMLParser

CHOICES = ("checkbox", "radio")


class Controls(HTMLParser):
    """Parses the form `settings` of a page; ignores <template> elements."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.fields: dict[str, str] = {}
        self._open: list[str] = []
        self._area = self._select = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag == "template" or (tag == "form" and found.get("id") == "settings"):
            self._open.append(tag)
        if self._open == ["form"]:
            self._control(tag, found, is_chosen=bool({"checked", "selected"} & set(found)))

    def _control(self, tag: str, found: dict[str, str], *, is_chosen: bool) -> None:
        name, is_choice = found.get("name", ""), found.get("type") in CHOICES
        if tag == "input" and name and (is_chosen or not is_choice):
            self.fields[name] = found.get("value", "on" if is_choice else "")
        elif tag == "textarea":
            self._area, self.fields[name] = name, ""
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select and is_chosen:
            self.fields[self._select] = found.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            self._open.remove(tag)
        self._area = "" if tag == "textarea" else self._area
        self._select = "" if tag == "select" else self._select

    def handle_data(self, data: str) -> None:
        if self._area:
            self.fields[self._area] += data.removeprefix("\n")


def controls_of(page: str) -> dict[str, str]:
    return Controls(page).fields
