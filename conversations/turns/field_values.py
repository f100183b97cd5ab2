"""The stored form of a customer field's value, by field."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext

from conversations.common.consents import OPT_INS
from conversations.prompts.observer import ObservedFact
from projects.common.characters import has_control_characters
from projects.common.phones import InvalidPhone, read_phone
from projects.models.agent_config import AgentConfig

MAX_VALUE = 500


class RefusedValue(ValueError):
    """The observed value is invalid for its field."""


def normalize(fact: ObservedFact, *, config: AgentConfig) -> str:
    """The value in its stored form. Raises RefusedValue with the reason."""
    value = fact.value.strip()
    if not value or len(value) > MAX_VALUE:
        raise RefusedValue(
            gettext("%(field)s has %(count)s characters; it must have 1 to %(max_value)s.")
            % {"field": fact.field, "count": len(value), "max_value": MAX_VALUE}
        )
    if has_control_characters(value):
        raise RefusedValue(gettext("%(field)s contains control characters.") % {"field": fact.field})
    project_fields = {field.key for field in config.observer_fields}
    normalizer = NORMALIZERS.get(fact.field) or (_text if fact.field in project_fields else None)
    if normalizer is None:
        raise RefusedValue(gettext("%(field)s is not a field of this project.") % {"field": fact.field})
    return normalizer(value, config)


def _name(value: str, config: AgentConfig) -> str:
    if len(value) > 80 or not any(character.isalpha() for character in value):
        raise RefusedValue(gettext("A name must contain a letter and have at most 80 characters."))
    return value


def _phone(value: str, config: AgentConfig) -> str:
    try:
        return read_phone(value, region=config.region)
    except InvalidPhone as error:
        raise RefusedValue(str(error)) from error


def _email(value: str, config: AgentConfig) -> str:
    try:
        validate_email(value)
    except ValidationError as error:
        raise RefusedValue(gettext("%(value)s is not an e-mail address.") % {"value": value}) from error
    return value.lower()


def _language(value: str, config: AgentConfig) -> str:
    if not re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]+)*", value):
        raise RefusedValue(gettext("%(value)s is not a language code such as en.") % {"value": value})
    return value.lower()


def _opt_in(value: str, config: AgentConfig) -> str:
    if value.lower() not in {"true", "false"}:
        raise RefusedValue(gettext("An opt-in must be true or false, not %(value)s.") % {"value": value})
    return value.lower()


def _text(value: str, config: AgentConfig) -> str:
    return value


NORMALIZERS: Mapping[str, Callable[[str, AgentConfig], str]] = {
    "name": _name,
    "phone": _phone,
    "email": _email,
    "language": _language,
    **dict.fromkeys(OPT_INS, _opt_in),
}
