"""Tool calls and thoughts that a model writes into its text, on servers that don't parse them.

`<tool_call>{…}</tool_call>` and its relatives never become text. A call of an offered tool, given as JSON, is taken as
a tool call, as servers with a parser do; other markup is dropped. So are thoughts (`<think>…</think>`) with all their
content.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from llm.types import ToolCall

FENCE = "```"
THINKING = {"<think>": ("</think>",), "<thinking>": ("</thinking>",), "[think]": ("[/think]",)}
# Each opening, in lowercase, with what may close it. Without an end, a block runs to the end of the answer.
BLOCKS: Mapping[str, tuple[str, ...]] = {
    **{f"<{name}": (f"</{name}>",) for name in ("tool_calls", "tool_call", "function_calls", "function_call")},
    **{f"<{name}": (f"</{name}>",) for name in ("tool_code", "tool_use")},
    "<function=": ("</function>",),
    "<invoke ": ("</invoke>",),
    "<|tool_calls_section_begin|>": ("<|tool_calls_section_end|>",),
    "<|tool_call_begin|>": ("<|tool_call_end|>",),
    "<|tool_call|>": ("<|/tool_call|>", "</|tool_call|>", "<|tool_call_end|>"),
    "<|tool_calls|>": ("<|/tool_calls|>", "</|tool_calls|>"),
    "<|python_tag|>": ("<|eom_id|>", "<|eot_id|>"),
    "<｜tool▁calls▁begin｜>": ("<｜tool▁calls▁end｜>",),
    "[tool_calls]": ("[/tool_calls]",),
    "[tool_call]": ("[/tool_call]",),
    f"{FENCE}tool_code": (FENCE,),
    f"{FENCE}tool_call": (FENCE,),
    **THINKING,
}
# The beginnings and ends of a model's thoughts.
THOUGHTS = frozenset({*THINKING, *(end for ends in THINKING.values() for end in ends)})
THOUGHTS_END = re.compile("|".join(re.escape(end) for ends in THINKING.values() for end in ends), re.IGNORECASE)
LONGEST_THOUGHTS = 100_000
# Ends without a beginning, which some servers swallow.
STRAY = frozenset(end for ends in BLOCKS.values() for end in ends if end != FENCE)
# Code that may be a call or part of the answer.
MAYBE = frozenset({f"{FENCE}json"})
LITERALS = sorted({*BLOCKS, *STRAY, *MAYBE}, key=len, reverse=True)
JSON_START = (
    r'(?:\[\s*)?\{\s*"(?:name|function|type|id|tool|tool_name|tool_calls|function_call|arguments|parameters)"\s*:'
)
OPENING = re.compile(f"(?P<literal>{'|'.join(map(re.escape, LITERALS))})|(?P<json>{JSON_START})", re.IGNORECASE)
# The end of a text that the next piece may complete to the beginning of a JSON call.
PARTIAL_JSON = re.compile(r'(?:\[\s*)?\{\s*(?:"[a-z_]*"?\s*)?\Z|\[\s*\Z')
SUSPECT = re.compile(r"[<\[{`]")
LONGEST_LITERAL = len(LITERALS[0])
# `name>` of `<function=name>`, and `name` or `name[ARGS]` after `[TOOL_CALLS]`.
NAME_BEFORE_ARGUMENTS = re.compile(r"\s*([\w.-]+)(?:>|\[ARGS\])?\s*(?=\{)")
ARGUMENTS = ("arguments", "parameters")


class MarkupFilter:
    """Removes tool calls and thoughts from a streamed text. One filter reads one answer.

    `calls` are those of tools in `offered`. `has_dropped` is True if other calls were removed, or if the answer held
    nothing but thoughts. With `begins_thinking`, the text is held back until its thoughts end; an answer in which they
    don't is text.
    """

    def __init__(self, offered: Collection[str] = (), *, begins_thinking: bool = False) -> None:
        self.calls: list[ToolCall] = []
        self._has_dropped = False
        self._offered = frozenset(offered)
        self._held = ""
        self._has_text = False
        self._has_thoughts = False
        self._is_thinking = begins_thinking

    @property
    def has_dropped(self) -> bool:
        return self._has_dropped or (self._has_thoughts and not self._has_text)

    def feed(self, text: str) -> str:
        """The text that can be shown after the next piece. What may be the beginning of a call is held back."""
        if not self._held and not self._is_thinking and not SUSPECT.search(text):
            return self._shown(text)
        self._held += text
        if self._is_thinking and not self._end_thoughts(len(text)):
            return ""
        return self._shown("".join(self._released(is_end=False)))

    def close(self) -> str:
        """The rest of the text at the end of the answer. A call without its end is a call."""
        self._is_thinking = False
        return self._shown("".join(self._released(is_end=True)))

    def _end_thoughts(self, added: int) -> bool:
        """Drop the thoughts once their end is there, or give them up as text beyond the longest. False until then.

        `added` is the number of characters that were not searched before.
        """
        end = THOUGHTS_END.search(self._held, max(0, len(self._held) - added - LONGEST_LITERAL))
        if end is not None:
            self._held, self._has_thoughts = self._held[end.end() :], True
        self._is_thinking = end is None and len(self._held) < LONGEST_THOUGHTS
        return not self._is_thinking

    def _shown(self, text: str) -> str:
        """The text, without the lines that are left empty before it by thoughts."""
        shown = text if self._has_text or not self._has_thoughts else text.lstrip()
        self._has_text = self._has_text or bool(shown.strip())
        return shown

    def _released(self, *, is_end: bool) -> Iterator[str]:
        while self._held:
            opening = OPENING.search(self._held)
            if opening is None:
                yield self._take(len(self._held) if is_end else _safe_length(self._held))
                return
            yield self._take(opening.start())
            length = _block_length(self._held, is_end=is_end)
            if length is None:
                return
            block = self._take(length)
            yield "" if self._remove(block) else block

    def _take(self, length: int) -> str:
        taken, self._held = self._held[:length], self._held[length:]
        return taken

    def _remove(self, block: str) -> bool:
        """Take or drop the calls of a block. Return False for a block that is part of the answer."""
        if _literal_of(block) in THOUGHTS:
            self._has_thoughts = True
            return True
        calls = list(_calls_in(block))
        if not calls and _is_text(block):
            return False
        for name, arguments in calls:
            if name in self._offered:
                self.calls.append(ToolCall(f"call_text_{len(self.calls)}", name, arguments))
        self._has_dropped = self._has_dropped or not calls or any(name not in self._offered for name, _ in calls)
        return True


def ends_unbegun_thoughts(text: str) -> bool:
    """True for an answer that begins with thoughts without their opening tag."""
    end = THOUGHTS_END.search(text)
    return end is not None and not any(opening in text[: end.start()].lower() for opening in THINKING)


def _literal_of(text: str) -> str:
    """The literal that the text starts with; empty for JSON."""
    found = OPENING.match(text)
    return (found["literal"] or "").lower() if found else ""


def _block_length(text: str, *, is_end: bool) -> int | None:
    """The length of the block at the start of the text, or None until more of it has arrived."""
    literal = _literal_of(text)
    if literal in STRAY:
        return len(literal)
    if not literal:
        return _json_length(text) or (len(text) if is_end else None)
    after = text[len(literal) :].lower()
    ends = [after.find(end) + len(end) for end in BLOCKS.get(literal, (FENCE,)) if end in after]
    if ends:
        return len(literal) + min(ends)
    return len(text) if is_end else None


def _is_text(block: str) -> bool:
    """True for JSON and JSON code that holds no call. JSON that was cut after its arguments began is a call."""
    literal = _literal_of(block)
    is_cut = _json_length(block) is None and any(f'"{name}"' in block for name in ARGUMENTS)
    return literal in MAYBE or (not literal and not is_cut)


def _safe_length(text: str) -> int:
    """The length of the text without an end that may grow into the opening of a block."""
    partial = PARTIAL_JSON.search(text)
    length = partial.start() if partial else len(text)
    tail = text[-LONGEST_LITERAL:].lower()
    starts = (at for at in range(len(tail)) if any(one.startswith(tail[at:]) for one in LITERALS))
    return min(length, len(text) - len(tail) + next(starts, len(tail)))


def _json_length(text: str) -> int | None:
    """The length of the JSON value at the start of the text; None if it isn't complete."""
    depth, is_string, is_escaped = 0, False, False
    for at, character in enumerate(text):
        if is_escaped:
            is_escaped = False
        elif is_string:
            is_escaped, is_string = character == "\\", character != '"'
        elif character == '"':
            is_string = True
        elif character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
            if depth <= 0:
                return at + 1
    return None


def _calls_in(block: str) -> Iterator[tuple[str, str]]:
    """The names and arguments of the calls that a block contains as JSON."""
    body = block[len(_literal_of(block)) :]
    named = NAME_BEFORE_ARGUMENTS.match(body)
    rest = body[named.end() :] if named else body
    while (start := re.search(r"[{\[]", rest)) is not None:
        rest = rest[start.start() :]
        length = _json_length(rest)
        if length is None:
            return
        value, rest = _parsed(rest[:length]), rest[length:]
        if named and isinstance(value, dict):
            yield named[1], json.dumps(value, ensure_ascii=False)
        else:
            yield from _calls_of(value)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _calls_of(value: Any) -> Iterator[tuple[str, str]]:
    """The calls in a JSON value: one object, a list, or wrapped in `function` or `tool_calls`."""
    if isinstance(value, list):
        for one in value:
            yield from _calls_of(one)
    if not isinstance(value, dict):
        return
    for wrapper in ("tool_calls", "function", "function_call"):
        if isinstance(value.get(wrapper), dict | list):
            yield from _calls_of(value[wrapper])
            return
    name = next((value[key] for key in ("name", "tool", "tool_name", "function") if key in value), None)
    arguments = next((value[key] for key in ARGUMENTS if key in value), None)
    if isinstance(name, str) and isinstance(arguments, dict | str):
        yield name, arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
