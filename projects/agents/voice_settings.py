"""How an agent speaks in calls, from the project's attributes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from projects.models.attribute_catalogue import SETTING
from projects.records.attributes import Resolved

PREFIX = f"{SETTING}voice_"


class VoiceSettings(BaseModel):
    """The settings of a voice, independent of the provider. Empty texts are the provider's or the project's default."""

    model_config = ConfigDict(frozen=True, str_strip_whitespace=True)

    model: Annotated[str, Field(max_length=80, pattern=r"^[\w./:-]*$")] = ""
    name: Annotated[str, Field(max_length=60, pattern=r"^[\w.-]*$")] = ""
    speed: Annotated[float, Field(ge=0.25, le=1.5)] = 1.0
    language: Annotated[str, Field(pattern=r"^([a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8})*)?$")] = ""
    greeting: Annotated[str, Field(max_length=300)] = ""
    noise_reduction: Literal["near_field", "far_field", "off"] = "near_field"
    turn_detection: Literal["semantic_vad", "server_vad"] = "semantic_vad"
    fallback_number: Annotated[str, Field(max_length=40)] = ""


def voice_settings(attributes: Mapping[str, Resolved]) -> VoiceSettings:
    """The settings. A value that isn't valid counts as not set, so that a misspelled attribute ends no call."""
    found = {
        name: attributes[PREFIX + name].value for name in VoiceSettings.model_fields if PREFIX + name in attributes
    }
    given = {name: value for name, value in found.items() if value not in (None, "")}
    try:
        return VoiceSettings.model_validate(given)
    except ValidationError as error:
        wrong = {str(one["loc"][0]) for one in error.errors()}
        return VoiceSettings.model_validate({name: value for name, value in given.items() if name not in wrong})
