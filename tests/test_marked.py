"""Every text that staff read is marked for translation. A new one that isn't fails here, with its file and line."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Texts of customers, of models, and of developers, whose documentation is in English.
ELSEWHERE = ("allauth/", "api_docs/reference.html", "demo/", "knowledge/public.html", "prompts/")
TEMPLATES = sorted(
    path
    for kind in ("html", "txt")
    for path in (ROOT / "templates").rglob(f"*.{kind}")
    if not str(path.relative_to(ROOT / "templates")).startswith(ELSEWHERE)
)
SCRIPTS = sorted(path for path in (ROOT / "static" / "js").rglob("*.js"))
PAGES = sorted(path for path in (ROOT / "console").rglob("*.py"))

# What a template says without being translated: code, names, and units.
NOT_TRANSLATED = re.compile(
    r"\{%\s*block pane_(?:view|data).*?endblock\s*%\}"
    r"|\{%\s*comment.*?endcomment\s*%\}|\{%\s*blocktranslate.*?endblocktranslate\s*%\}|\{#.*?#\}|<!--.*?-->"
    r"|<(script|style|code|pre|kbd)\b.*?</\1>|\{\{.*?\}\}|\{%.*?%\}",
    re.DOTALL,
)
TAG = re.compile(r"<(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>", re.DOTALL)
READ_ALOUD = re.compile(
    r"(?<=\s)(?:aria-label|title|placeholder|alt|data-(?:instead|confirms|because|does|busy))=\"([^\"]*)\"", re.DOTALL
)
WORD = re.compile(r"[A-Za-z]{2,}")
# Entities, addresses, attributes of a tag that a block writes, and names in code.
NO_WORDS = re.compile(
    r"&\w+;|https?://\S+|\S+@\S+|[\w-]+=\"[^\"]*\"|\w+(?:[_-]\w+)+(?:\.\d+)?|\b(?:amount|true|false)\b"
)
NAMES = frozenset(
    [
        "Makegood",
        "Redis",
        "API",
        "CSV",
        "JSON",
        "OpenAPI",
        "HTTP",
        "SMS",
        "URL",
        "ID",
        "Ctrl",
        "esc",
        "Esc",
        "Chat",
        "Slack",
        "Swagger",
        "WhatsApp",
        "Telegram",
        "p95",
        "ms",
        "kB",
        "UTC",
        "curl",
    ]
)


def unmarked_words(text: str) -> list[str]:
    return [word for word in WORD.findall(NO_WORDS.sub(" ", text)) if word not in NAMES]


def texts_of(template: str) -> Iterator[tuple[int, str]]:
    """The texts of a template outside of its translations, with their lines."""
    bare = NOT_TRANSLATED.sub(lambda found: "\n" * found[0].count("\n"), template)
    for found in READ_ALOUD.finditer(bare):
        yield bare.count("\n", 0, found.start()) + 1, found[1]
    at = 0
    for tag in TAG.finditer(bare):
        yield bare.count("\n", 0, at) + 1, bare[at : tag.start()]
        at = tag.end()
    yield bare.count("\n", 0, at) + 1, bare[at:]


Found = list[tuple[int, str]]


def unmarked_of(paths: list[Path], look: Callable[[str], Found]) -> dict[str, Found]:
    """The files with texts that aren't marked, each with its lines."""
    found = {str(path.relative_to(ROOT)): look(path.read_text()) for path in paths}
    assert found
    return {name: lines for name, lines in found.items() if lines}


def test_the_texts_of_templates_are_marked() -> None:
    def look(template: str) -> Found:
        return [(line, text.strip()) for line, text in texts_of(template) if unmarked_words(text)]

    assert unmarked_of(TEMPLATES, look) == {}


# Calls and properties of a page's script that show a text.
SHOWN = re.compile(
    r"(?:"
    r"\bh\([^()]*?\{[^{}]*\},\s*"  # the first child of an element
    r"|\b(?:toast|toast\.error|say|note|state)\((?:[\"'][\w-]+[\"'],\s*)*"
    r"|\.textContent\s*=\s*|\.placeholder\s*=\s*|\b(?:label|title|hint|placeholder|message|gloss|says):\s*|\"aria-label\":\s*"
    r")([\"`])((?:\\.|(?!\1).)*)\1"
)
SENTENCE = re.compile(r"[A-Z“][\w’]*[a-z](?:\s|$|[.,:…])|[a-z’]+ [a-z]+")


def test_the_texts_of_scripts_are_marked() -> None:
    def look(script: str) -> Found:
        return [
            (script.count("\n", 0, text.start()) + 1, text[2])
            for text in SHOWN.finditer(script)
            if SENTENCE.search(re.sub(r"\$\{[^}]*\}|\w+-\w+", "", text[2])) and text[2] not in NAMES
        ]

    assert unmarked_of(SCRIPTS, look) == {}


# Functions that show their text to people, by the number of the argument.
SAYS = {"success": 1, "error": 1, "warning": 1, "info": 1, "announce_undoable": 2, "Undone": 0}


def shown_literals(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        place = SAYS.get(name)
        if place is not None and len(node.args) > place and isinstance(node.args[place], ast.Constant | ast.JoinedStr):
            yield node.lineno, ast.unparse(node.args[place])


def test_the_messages_of_pages_are_marked() -> None:
    """Not those of a module that logs, whose calls look the same."""

    def look(module: str) -> Found:
        if "getLogger" in module:
            return []
        return [one for one in shown_literals(ast.parse(module)) if not re.fullmatch(r"['\"][\w%\s]*['\"]", one[1])]

    assert unmarked_of(PAGES, look) == {}


@pytest.mark.parametrize(
    "template",
    [
        "<p>Saved</p>",
        '<a title="Go back" href="x"></a>',
        "<p>{% translate 'Saved' %} by {{ name }}</p>",
        "{% if a %}Yes{% else %}{% translate 'No' %}{% endif %}",
    ],
)
def test_an_unmarked_text_of_a_template_is_found(template: str) -> None:
    assert any(unmarked_words(text) for _, text in texts_of(template))


@pytest.mark.parametrize(
    "script",
    ['h("p", { class: "x" }, "Nothing here")', 'toast("Saved.")', 'x.textContent = "Not yet"', "toast(`Kept ${n}`)"],
)
def test_an_unmarked_text_of_a_script_is_found(script: str) -> None:
    assert SHOWN.search(script)


def test_an_unmarked_message_of_a_page_is_found() -> None:
    assert list(shown_literals(ast.parse('messages.success(request, "Saved.")')))
