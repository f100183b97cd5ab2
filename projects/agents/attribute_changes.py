"""Bulk changes of attributes, with detection of concurrent edits."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from projects.agents.model_choice import KEY_ATTRIBUTES
from projects.api.parsers import parse_value
from projects.common.api_error import ApiError
from projects.common.numbers import grouped
from projects.common.translation import lazy
from projects.models import Project
from projects.models.agent_errors import SettingsRefused
from projects.models.attribute import AttributeType
from projects.models.organization import lock_project
from projects.records.attributes import Resolved, WrongValue, every_attribute, set_attribute

KEY = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,159}")
KEY_RULE = lazy("Start with a letter, then use letters, digits, _, - and full stops, at most 160 characters.")
LONGEST_VALUE = 10_000
KEY_TAKEN = lazy("An attribute with this name already exists. Change that one.")


@dataclass(frozen=True)
class AttributeEdit:
    """A value as entered, and the value shown when editing began."""

    key: str
    type: AttributeType
    text: str
    was: str = ""
    is_new: bool = False


def change_attributes(project: Project, edits: Iterable[AttributeEdit]) -> list[str]:
    """Set the changed values as the project's own, all or none, and return their keys.

    Raises SettingsRefused with a sentence for each key whose value is invalid or was changed by someone else.
    """
    lock_project(project.pk)
    current = every_attribute(project)
    changed = [edit for edit in edits if _is_change(edit)]
    errors = {edit.key: error for edit in changed if (error := _conflict(edit, current.get(edit.key)))}
    for edit in changed:
        if edit.key not in errors and (error := _set(project, edit)):
            errors[edit.key] = error
    if errors:
        raise SettingsRefused(errors)
    return [edit.key for edit in changed]


def check_new_key(project: Project, key: str) -> None:
    """Check that an attribute with this name can be added. Raises SettingsRefused."""
    if not KEY.fullmatch(key):
        raise SettingsRefused({"new.key": KEY_RULE})
    if key in KEY_ATTRIBUTES:
        raise SettingsRefused({"new.key": gettext("This is the model’s key. Set it under Models.")})
    if key in every_attribute(project):
        raise SettingsRefused({"new.key": KEY_TAKEN})


def text_of_value(attribute: Resolved | None) -> str:
    """A value as the form shows it; empty for a secret."""
    if attribute is None or attribute.value is None:
        return ""
    if isinstance(attribute.value, str):
        return attribute.value
    if isinstance(attribute.value, bool):
        return str(attribute.value)
    return json.dumps(attribute.value, ensure_ascii=False, indent=2)


def _is_change(edit: AttributeEdit) -> bool:
    if edit.is_new:
        return True
    if edit.type is AttributeType.SECRET:
        return bool(edit.text)
    if edit.type is AttributeType.BOOL:
        return edit.text != (edit.was or "False")
    return edit.text != edit.was


def _conflict(edit: AttributeEdit, current: Resolved | None) -> str:
    if edit.is_new:
        return KEY_TAKEN if current else ""
    text = text_of_value(current)
    if edit.type is AttributeType.SECRET or text in (edit.was, edit.text):
        return ""
    return gettext("Someone else set this to “%(value)s”. Save again to use your value.") % {"value": text[:200]}


def _set(project: Project, edit: AttributeEdit) -> str:
    """Write the value. Returns an error message, or an empty string."""
    try:
        value = _value(edit)
    except ApiError as error:
        return gettext("This isn’t valid JSON. %(message)s") % {"message": error.message}
    except WrongValue as error:
        return str(error)
    try:
        set_attribute(project, edit.key, value, type=edit.type)
    except (ApiError, WrongValue) as error:
        return str(error)
    return ""


def _value(edit: AttributeEdit) -> Any:
    if len(edit.text) > LONGEST_VALUE:
        raise WrongValue(
            gettext("Use at most %(longest_value)s characters. This has %(text)s.")
            % {"longest_value": grouped(LONGEST_VALUE), "text": grouped(len(edit.text))}
        )
    if "\x00" in edit.text:
        raise WrongValue(gettext("This contains a control character. Remove it."))
    return parse_value(edit.text) if edit.type is AttributeType.JSON else edit.text
