"""The context fields that a skill's templates read, compared with its dataclass by test_prompts.py."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from django.template.base import FilterExpression, TextNode, Variable, VariableNode
from django.template.defaulttags import ForNode, IfNode, TemplateLiteral

from llm.prompts import PARTS, part_template

# Names that the template language defines
OWN_NAMES = frozenset({"forloop", "True", "False", "None"})


def template_fields(skill: str) -> set[str]:
    """The dotted paths that both templates read, with loops resolved: {"tools", "tools.name"}.

    Raises TypeError for tags other than `for` and `if`, so that prompts stay simple.
    """
    reader = _Reader()
    for part in PARTS:
        reader.walk(part_template(skill, part).nodelist, loops={})
    return reader.found


class _Reader:
    """Walks a template. `loops` maps a loop variable to the path it iterates over."""

    def __init__(self) -> None:
        self.found: set[str] = set()

    def walk(self, nodes: Iterable[Any], *, loops: dict[str, str]) -> None:
        for node in nodes:
            match node:
                case TextNode():
                    pass
                case VariableNode():
                    self._note(node.filter_expression, loops=loops)
                case ForNode():
                    path = self._note(cast(FilterExpression, node.sequence), loops=loops)
                    self.walk(node.nodelist_loop, loops={**loops, **dict.fromkeys(node.loopvars, path)})
                    self.walk(node.nodelist_empty, loops=loops)
                case IfNode():
                    for condition, branch in node.conditions_nodelists:
                        self._note_condition(condition, loops=loops)
                        self.walk(branch, loops=loops)
                case _:
                    raise TypeError(f"{type(node).__name__} is not allowed in a prompt")

    def _note_condition(self, condition: Any, *, loops: dict[str, str]) -> None:
        if isinstance(condition, TemplateLiteral):
            self._note(cast(FilterExpression, condition.value), loops=loops)
        for side in ("first", "second"):
            if getattr(condition, side, None) is not None:
                self._note_condition(getattr(condition, side), loops=loops)

    def _note(self, expression: FilterExpression, *, loops: dict[str, str]) -> str:
        for _, arguments in expression.filters:
            for is_variable, argument in arguments:
                if is_variable:
                    self._note_variable(argument, loops=loops)
        return self._note_variable(expression.var, loops=loops) if expression.is_var else ""

    def _note_variable(self, variable: Variable, *, loops: dict[str, str]) -> str:
        if not variable.lookups or variable.lookups[0] in OWN_NAMES:
            return ""
        first, *rest = variable.lookups
        path = ".".join([loops.get(first, first), *rest])
        self.found.add(path)
        return path
