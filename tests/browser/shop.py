"""A business's page in a server of its own, as strict as a careful business makes it, with the widget on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import parse_qs, quote, urlsplit

from tests.local_server import LocalServer, QuietHandler

PAGE = """<!doctype html>
<html lang="{lang}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Shop</title><link rel="icon" href="data:,">
<script async src="{base}/widget.js" data-key="{key}" data-shopper="{shopper}"></script></head>
<body><main><h1>Shop</h1><a href="#top">Goods</a></main></body></html>"""
# No style, no image, no inline script, no text that becomes script: nothing but the widget's files and its doors.
STRICT = (
    "default-src 'none'; script-src {base}/widget.js {base}/call.js; connect-src {base}/widget/; img-src data:; base-uri 'none';"
    " form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)


@dataclass(frozen=True)
class Shop:
    """The shop's address, and where its widget comes from."""

    origin: str
    base: str

    def address(self, key: str, *, shopper: str = "", lang: str = "en", is_strict: bool = True) -> str:
        said = {"key": key, "shopper": shopper, "lang": lang, "strict": "1" if is_strict else ""}
        return f"{self.origin}/?" + "&".join(f"{name}={quote(value)}" for name, value in said.items())


@contextmanager
def open_shop(base: str) -> Iterator[Shop]:
    """Serve the page until the end; what it says of the widget stands in its address."""

    class Page(QuietHandler):
        def do_GET(self) -> None:
            asked = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
            words = {"key": "", "shopper": "", "lang": "en", **asked, "base": base}
            body = PAGE.format(**words).encode()
            policy = {"Content-Security-Policy": STRICT.format(base=base)} if asked.get("strict") else {}
            self.respond(200, body, {"Content-Type": "text/html; charset=utf-8", **policy})

    with LocalServer(Page) as server:
        yield Shop(server.origin, base)
