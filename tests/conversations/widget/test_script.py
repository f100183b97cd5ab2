"""The widget's script: one small file, bundled without build tools."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.test import Client

from conversations.widget.bundle import CALL, SOURCE, CannotBuild, _in_order, built, widget_source

LIMIT = 25 * 1024
# Ways to turn text into markup or code, or to break a page's policy.
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setTimeout\(\s*[\"'`]"
    r"|createContextualFragment|srcdoc|setAttribute\(\s*[\"']style|DOMParser|<style|\.cssText|import\((?!`\$\{base\}/call\.js`)"
)


def test_the_compressed_script_is_smaller_than_25_kb() -> None:
    """With all of its renderers and translations."""
    answer = Client().get("/widget.js", headers={"Accept-Encoding": "gzip"})
    assert answer["Content-Encoding"] == "gzip"
    assert answer["Content-Type"] == "text/javascript; charset=utf-8"
    assert len(answer.content) < LIMIT


def test_the_script_of_calls_is_loaded_apart() -> None:
    """The widget itself stays small."""
    answer = Client().get("/call.js", headers={"Accept-Encoding": "gzip"})
    assert len(answer.content) < 12 * 1024
    assert b"RTCPeerConnection" not in built().plain


def test_the_script_is_cached_and_revalidated_by_its_etag() -> None:
    client = Client()
    first = client.get("/widget.js")
    assert "max-age" in first["Cache-Control"]
    assert client.get("/widget.js", headers={"If-None-Match": first["ETag"]}).status_code == 304


@pytest.mark.parametrize("first", ["main.js", CALL])
def test_every_module_is_in_the_bundle_once(first: str) -> None:
    text = built(first).plain.decode()
    for module in (SOURCE / name for name in _in_order(first, SOURCE)):
        first = re.search(r"^export (?:const|class|function|async function) (\w+)", module.read_text(), re.MULTILINE)
        if first:
            assert len(re.findall(rf"^(?:const|class|function|async function) {first[1]}\b", text, re.MULTILINE)) == 1
    assert {path.name for path in SOURCE.glob("*.js")} == {*_in_order("main.js", SOURCE), *_in_order(CALL, SOURCE)}
    assert "import " not in re.sub(r'"[^"]*"|`[^`]*`', "", text)


def test_no_module_turns_text_into_markup_or_code() -> None:
    """Text from a server or a person stays text, and nothing is evaluated."""
    found = {path.name: FORBIDDEN.findall(path.read_text()) for path in SOURCE.glob("*.js")}
    assert {name: uses for name, uses in found.items() if uses} == {}


@pytest.mark.parametrize(
    "second",
    ["export const one = 2;\n", 'import two from "./other.js";\n', "export default 3;\n"],
    ids=["a name twice", "a default import", "a default export"],
)
def test_unsupported_syntax_is_refused(tmp_path: Path, second: str) -> None:
    (tmp_path / "main.js").write_text('import { two } from "./other.js";\nconst one = 1;\n')
    (tmp_path / "other.js").write_text(f"export const two = 2;\n{second}")
    with pytest.raises(CannotBuild):
        widget_source(tmp_path)
