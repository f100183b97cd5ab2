"""Storage of a project's kept cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models.functions import Now
from django.utils.translation import gettext
from pydantic import TypeAdapter, ValidationError

from projects.models import Project, User
from tools.engine.catalogue import at_moment, compile_tools
from tools.engine.definition import Trigger
from tools.evaluation.cases import Case, CaseMessage, Expected, Part
from tools.evaluation.runs import cases_of, settle_without
from tools.models import KeptCase

LANGUAGE = "kept"
MAX_CASES = 500
MAX_MESSAGES = 100
# Deleted cases can be restored for less than this.
KEPT = timedelta(days=1)
Conversation = TypeAdapter(tuple[CaseMessage, ...])
ExpectedOutcomes: TypeAdapter[dict[str, str]] = TypeAdapter(Expected)


class WrongCase(ValueError):
    """The case can't be kept. `field` is the invalid one."""

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


def keep_case(
    project: Project,
    *,
    name: str,
    answer: str,
    channel: str,
    expected: Mapping[str, str],
    conversation: Sequence[Mapping[str, Any]] = (),
    author: User | None = None,
    turn_id: UUID | None = None,
) -> KeptCase:
    """Keep an answer as a regression case for the project's evaluations.

    `conversation` lists the messages before the answer, each `{"role": "customer" or "agent", "content"}`. `expected`
    maps a tool of the project to "fired" or a rule; other tools must not fire. `turn_id` is the turn whose reply it is.
    Two calls make two cases. Raises WrongCase.
    """
    known = {tool.name for tool in at_moment(compile_tools(project, channel=channel), Trigger.COMMITMENT)}
    if unknown := sorted(expected.keys() - known):
        raise WrongCase(f"The project has no tool {unknown[0]}.", field="expected")
    if len(conversation) > MAX_MESSAGES:
        raise WrongCase(f"has {len(conversation)} messages; the limit is {MAX_MESSAGES}.", field="conversation")
    _require_room(project)
    return KeptCase.objects.create(
        project=project,
        name=name,
        answer=answer,
        channel=channel,
        conversation=_checked(Conversation, list(conversation), field="conversation"),
        expected=_checked(ExpectedOutcomes, dict(expected), field="expected"),
        created_by=author,
        turn_id=turn_id,
    )


def delete_case(project: Project, case_id: UUID) -> bool:
    """Delete a case, also from a run under way. `restore_case` brings it back within a day.

    Return False if the project has no case with this id.
    """
    settle_without(project, case_id)
    KeptCase.objects.filter(project=project, deleted_at__lt=Now() - KEPT).delete()
    return cases_of(project).filter(pk=case_id).update(deleted_at=Now()) == 1


def restore_case(project: Project, case_id: UUID) -> bool:
    """Bring a deleted case back. Return False if there is none with this id. Raises WrongCase at the limit."""
    _require_room(project)
    return KeptCase.objects.filter(project=project, pk=case_id).update(deleted_at=None) == 1


def kept_cases(project: Project) -> list[Case]:
    """The project's cases in evaluation form, oldest first."""
    return [as_case(row) for row in cases_of(project)]


def as_case(row: KeptCase) -> Case:
    """A kept case in evaluation form."""
    return Case(
        id=f"kept {row.pk}",
        language=LANGUAGE,
        part=Part.KEPT,
        channel=row.channel,
        conversation=Conversation.validate_python(row.conversation),
        answer=row.answer,
        expect=row.expected,
    )


def _require_room(project: Project) -> None:
    if cases_of(project).count() >= MAX_CASES:
        raise WrongCase(gettext("The limit is %(number)s cases. Delete one first.") % {"number": MAX_CASES})


def _checked(shape: TypeAdapter[Any], value: Any, *, field: str) -> Any:
    try:
        return shape.dump_python(shape.validate_python(value), mode="json")
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"])
        raise WrongCase(f"{path}: {first['msg']}." if path else f"{first['msg']}.", field=field) from error
