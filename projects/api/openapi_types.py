"""OpenAPI schemas from Python types, so that the types mypy checks are the only description of a payload.

Named components are made from a TypedDict (without its suffix `Payload`), a `Page` of one, an enum and a pydantic
model. `Annotated[str, …]` narrows a string by a format, an enum or a Literal, and `Annotated[dict[str, Any], Model]` an
object. A compiled pattern is for the whole string. A string in the annotation becomes the description.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from enum import Enum
from inspect import cleandoc
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)
from uuid import UUID

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import override
from drf_spectacular.drainage import set_override
from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.plumbing import (
    build_array_type,
    build_basic_type,
    build_object_type,
    list_hash,
    load_enum_name_overrides,
    resolve_type_hint,
)
from drf_spectacular.types import OpenApiTypes
from pydantic import BaseModel

Document = dict[str, Any]

# References to requirements in docstrings, which mean nothing to readers of the document.
ROWS = re.compile(r" \([A-Z]+\d+(?:[-, ]+[A-Z]+\d+)*\)")


class NamedComponent(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """drf-spectacular extension for components that are not serializers."""

    priority = 1

    @classmethod
    def _matches(cls, target: Any) -> bool:
        return is_typeddict(get_origin(target) or target) or _is_class(target, Enum) or _is_class(target, BaseModel)

    def get_name(self, auto_schema: Any, direction: Any) -> str:
        name = getattr(get_origin(self.target) or self.target, "__name__", "")
        if _is_class(self.target, Enum):
            return _enum_name(self.target)
        of = "".join(_bare_name(argument) for argument in get_args(self.target))
        return f"{of}{name.removesuffix('Payload')}"

    def map_serializer(self, auto_schema: Any, direction: Any) -> Document:
        if _is_class(self.target, Enum):
            return dict(resolve_type_hint(self.target))  # type: ignore[no-untyped-call]
        if _is_class(self.target, BaseModel):
            return _model(self.target, auto_schema)
        said = _typed_dict(self.target, auto_schema)
        return {**said, "additionalProperties": False} if direction == "request" else said


def schema_of(hint: Any, auto_schema: Any, *, direction: str = "response") -> Document:
    """The schema of a type, as a reference if it is a named component. Raises TypeError for an unsupported type."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _annotated(hint, auto_schema)
    if NamedComponent._matches(hint):
        return dict(auto_schema.resolve_serializer(hint, direction).ref)
    if origin in (Union, UnionType):
        return _union(arguments, auto_schema)
    if origin in (list, Sequence):
        return dict(build_array_type(schema_of(arguments[0], auto_schema)))
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": schema_of(arguments[1], auto_schema)}
    if origin is Literal:
        return dict(resolve_type_hint(hint))  # type: ignore[no-untyped-call]
    return _basic(hint)


def pattern_schema(pattern: re.Pattern[str]) -> Document:
    """The schema of a string that matches the pattern as a whole."""
    return {"type": "string", "pattern": f"^(?:{pattern.pattern})$"}


def _basic(hint: Any) -> Document:
    if isinstance(hint, re.Pattern):
        return pattern_schema(hint)
    if hint in (Any, object):
        return {}
    if hint in (str, int, float, bool, datetime, UUID) or isinstance(hint, OpenApiTypes):
        return dict(build_basic_type(hint) or {})
    raise TypeError(f"{hint!r} has no OpenAPI schema.")


def _annotated(hint: Any, auto_schema: Any) -> Document:
    bare, *notes = get_args(hint)
    # The document is in English, also where it shares a sentence with a page.
    with override(settings.LANGUAGE_CODE):
        notes = [str(note) if isinstance(note, Promise) else note for note in notes]
    refinement = next((note for note in notes if not isinstance(note, str)), bare)
    schema = schema_of(refinement, auto_schema)
    if text := " ".join(note for note in notes if isinstance(note, str)):
        # OpenAPI 3.0 ignores siblings of $ref.
        return {**({"allOf": [schema]} if "$ref" in schema else schema), "description": text}
    return schema


def _union(arguments: Sequence[Any], auto_schema: Any) -> Document:
    schemas = [schema_of(one, auto_schema) for one in arguments if one is not NoneType]
    schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    return _nullable(schema) if NoneType in arguments else schema


def _nullable(schema: Document) -> Document:
    if not schema:
        return schema
    return {**({"allOf": [schema]} if "$ref" in schema else schema), "nullable": True}


def _typed_dict(hint: Any, auto_schema: Any) -> Document:
    kind = get_origin(hint) or hint
    arguments = dict(zip(getattr(kind, "__parameters__", ()), get_args(hint), strict=True))
    hints = get_type_hints(kind, include_extras=True)
    # With postponed annotations, __required_keys__ doesn't reflect NotRequired.
    optional = {name for name, one in hints.items() if get_origin(one) is NotRequired}
    properties = {name: schema_of(_substitute(one, arguments), auto_schema) for name, one in hints.items()}
    required = kind.__required_keys__ - optional
    return dict(build_object_type(properties=properties, required=required, description=cleandoc(kind.__doc__ or "")))


def _substitute(hint: Any, arguments: Mapping[TypeVar, Any]) -> Any:
    """The type, with its class's type parameters substituted."""
    if get_origin(hint) is NotRequired:
        hint = get_args(hint)[0]
    parameters = getattr(hint, "__parameters__", ())
    return hint[tuple(arguments[one] for one in parameters)] if parameters else arguments.get(hint, hint)


def _enum_name(kind: type[Enum]) -> str:
    """The name from ENUM_NAME_OVERRIDES if request bodies use the same enum; otherwise one made from the class name."""
    choices = getattr(kind, "choices", [(one.value, one.name) for one in kind])
    names = load_enum_name_overrides()  # type: ignore[no-untyped-call]
    shared: str | None = names.get(list_hash([(value, label) for value, label in choices if value]))
    if shared is not None:
        set_override(kind, "suppress_collision_warning", True)
    return shared or f"{kind.__name__}Enum"


def _bare_name(hint: Any) -> str:
    return "Or".join(one.__name__.removesuffix("Payload") for one in get_args(hint) or (hint,))


def _model(kind: type[BaseModel], auto_schema: Any) -> Document:
    """Schema of a pydantic model, by alias; nested models are resolved in the defining module."""
    schema = kind.model_json_schema(mode="validation")
    namespace = vars(sys.modules[kind.__module__])
    return dict(
        _to_openapi(schema, {name: schema_of(namespace[name], auto_schema)["$ref"] for name in schema.pop("$defs", ())})
    )


def _to_openapi(schema: Any, refs: Mapping[str, str]) -> Any:
    """Pydantic's JSON Schema converted to OpenAPI 3.0."""
    if isinstance(schema, list):
        return [_to_openapi(one, refs) for one in schema]
    if not isinstance(schema, dict):
        return schema
    converted = dict(_openapi_items(schema, refs))
    # OpenAPI 3.0 ignores siblings of $ref.
    return (
        {"allOf": [{"$ref": converted.pop("$ref")}], **converted}
        if "$ref" in converted and len(converted) > 1
        else converted
    )


def _openapi_items(schema: Document, refs: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    for keyword, value in schema.items():
        match keyword:
            case "title" if isinstance(value, str):
                continue
            case "description":
                yield keyword, ROWS.sub("", value.partition("\n\n")[0])
            case "properties":
                yield keyword, {name: _to_openapi(one, refs) for name, one in value.items()}
            case "const":
                yield "enum", [value]
            case "$ref":
                yield keyword, refs[value.rpartition("/")[2]]
            case "anyOf" if {"type": "null"} in value:
                [one] = [_to_openapi(one, refs) for one in value if one != {"type": "null"}]
                yield from _nullable(one).items()
            case _:
                yield keyword, _to_openapi(value, refs)


def _is_class(target: Any, kind: type) -> bool:
    return isinstance(target, type) and issubclass(target, kind)
