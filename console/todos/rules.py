"""The form that turns a todo into a standing rule, with a preview of past todos it would have approved."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from console.access import enter, zone_of
from console.agent.page import tab_url
from console.layout import shell_context
from console.todos.cards import cards_of
from console.todos.plan import plain
from projects.common.api_error import ApiError
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.scope import tenant_tx
from todos.approvals.standing_rules import create_rule, draft_rule, preview_rule
from todos.content.snapshot import compiled_tools
from todos.models import Todo
from todos.services import get_todo
from tools.engine.tool_words import argument_label, title_of_tool

EQUALS, ONE_OF, AT_MOST, ANYTHING = "equals", "one_of", "at_most", "anything"
USUAL_PER_DAY = "20"
SHOWN = 20


@dataclass(frozen=True)
class Limit:
    """A limit on one argument. `value` is its value in the todo, `bound` the submitted limit."""

    name: str
    value: Any
    kind: str
    bound: str

    @property
    def label(self) -> str:
        return argument_label(self.name)

    @property
    def text(self) -> str:
        return plain(self.value)

    @property
    def is_number(self) -> bool:
        return isinstance(self.value, int | float) and not isinstance(self.value, bool)

    @property
    def allowed(self) -> dict[str, Any]:
        """The limit as stored in a rule. Raises ApiError for an invalid bound."""
        if self.kind == ANYTHING:
            return {ANYTHING: True}
        if self.kind == AT_MOST:
            return {AT_MOST: _number(self.name, self.bound)}
        if self.kind == ONE_OF:
            return {ONE_OF: [_alike(line.strip(), self.value) for line in self.bound.splitlines() if line.strip()]}
        return {EQUALS: self.value}


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_rule(request: HttpRequest, project_slug: str, todo_id: UUID) -> HttpResponse:
    """The rule form. POST creates the rule only if exactly its preview was shown before."""
    entry = enter(request, project_slug, verb=Scope.CONFIGURE)
    with tenant_tx(entry.project.organization.pk):
        todo = get_todo(entry.project, todo_id)
        if not todo.tool:
            raise Http404
        limits = list(_limits(todo, request.POST))
        shown = _shown(entry, todo, limits, request.POST)
        is_made = request.method == "POST" and shown["fingerprint"] == request.POST.get("seen") and not shown["problem"]
        if is_made:
            create_rule(shown["rule"])
    if is_made:
        messages.success(
            request,
            gettext("%(tool)s now runs without approval within these limits.") % {"tool": title_of_tool(todo.tool)},
        )
        return redirect(tab_url(project_slug, "todos"))
    return render(request, "todos/rule.html", {**shell_context(request, entry), **shown})


def _shown(entry: Entry, todo: Todo, limits: Sequence[Limit], posted: QueryDict) -> dict[str, Any]:
    of_type = posted.get("only_type", "yes" if not posted else "") == "yes" and todo.type is not None
    per_day = posted.get("most_per_day", USUAL_PER_DAY)
    context: dict[str, Any] = {
        "todo": todo,
        "title": title_of_tool(todo.tool),
        "limits": limits,
        "of_type": of_type,
        "per_day": per_day,
        "problem": "",
        "fingerprint": "",
    }
    try:
        rule = draft_rule(
            entry.project,
            tool=todo.tool,
            allowed={limit.name: limit.allowed for limit in limits},
            created_by=entry.member.pk,
            type=todo.type if of_type else None,
            most_per_day=int(per_day) if per_day.isascii() and per_day.isdigit() and len(per_day) < 6 else 0,
        )
    except ApiError as error:
        return {**context, "problem": error.message}
    past = preview_rule(rule)
    cards = cards_of(past.let_through[:SHOWN], tools=compiled_tools(entry.project), zone=zone_of(entry))
    seen = json.dumps([rule.allowed, rule.most_per_day, of_type], sort_keys=True)
    return {**context, "rule": rule, "fingerprint": seen, "past": past, "cards": cards}


def _limits(todo: Todo, posted: QueryDict) -> Iterator[Limit]:
    for name, value in _flat(todo.arguments or {}):
        kind = posted.get(f"kind.{name}", EQUALS)
        bound = posted.get(f"bound.{name}", "")
        known = kind if kind in (EQUALS, ONE_OF, AT_MOST, ANYTHING) else EQUALS
        yield Limit(name, value, known, bound or plain(value))


def _flat(arguments: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Nested arguments by dotted name, as in a rule."""
    for name, value in arguments.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _number(name: str, text: str) -> int | float:
    try:
        number = float(text.replace(",", "."))
    except ValueError as error:
        raise ApiError("invalid_allowed", gettext("%(name)s: enter a number.") % {"name": name}, field=name) from error
    return int(number) if number.is_integer() else number


def _alike(text: str, example: Any) -> Any:
    """The text converted to the type of the argument's current value; unparsable text is kept."""
    if isinstance(example, str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
