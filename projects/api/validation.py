"""A serializer's errors as one sentence: the first thing that is wrong, and where."""

from __future__ import annotations

from typing import Any

from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.settings import api_settings

from projects.common.api_error import ApiError

# A lower-case message goes on from the field's name; these replace sentences that don't say which field they mean.
PREDICATES = {
    "required": "is required.",
    "null": "may not be null.",
    "empty": "is empty.",
}
# These name what they are about by themselves.
WHOLE_SENTENCES = {"unknown_field"}


def first_problem(error: ValidationError) -> ApiError:
    """The first error of a DRF ValidationError, however deeply nested, with its dotted path."""
    path, detail = _first(error.detail, path=())
    field = ".".join(path) or None
    # DRF's own word for empty text is "blank".
    code = "empty" if detail.code == "blank" else detail.code or "invalid"
    return ApiError(code, _sentence(field, code=code, text=str(detail)), field=field)


def _first(detail: Any, *, path: tuple[str, ...]) -> tuple[tuple[str, ...], ErrorDetail]:
    if isinstance(detail, dict):
        name, inner = next(iter(detail.items()))
        return _first(inner, path=path if name == api_settings.NON_FIELD_ERRORS_KEY else (*path, str(name)))
    if isinstance(detail, list):
        index, inner = next((number, item) for number, item in enumerate(detail) if item)
        return _first(inner, path=path if isinstance(inner, ErrorDetail) else (*path, str(index)))
    return path, detail


def _sentence(field: str | None, *, code: str, text: str) -> str:
    if field is None or code in WHOLE_SENTENCES:
        return text
    predicate = PREDICATES.get(code, text)
    return f"{field} {predicate}" if predicate[:1].islower() else f"{field}: {predicate}"
