"""The built-in tools with every switch on, for evaluations."""

from __future__ import annotations

from functools import cache

from projects.models.attribute import AttributeType
from projects.records.attributes import ENUMS, Origin, Resolved
from tools.engine.business_state import BusinessState, normalize_channel
from tools.engine.catalogue import CompiledTool, at_moment, merge_tools
from tools.engine.definition import Trigger
from tools.evaluation.cases import Case

SWITCHES = (
    "project_attributes_setting_booking_check_availability_enabled",
    "project_attributes_setting_booking_enabled",
    "project_attributes_setting_booking_cancellation_enabled",
    "project_attributes_setting_booking_manage_url_enabled",
    "project_attributes_setting_sms_send_information_enabled",
    "project_attributes_setting_email_send_information_enabled",
    "project_attributes_setting_transfer_call_enabled",
    "project_attributes_setting_products_and_services_background_check_location_enabled",
    "project_attributes_setting_products_and_services_background_check_availability_enabled",
)
CALENDAR = "project_attributes_setting_calendar_event_integration"


def builtin_tools_for(case: Case) -> list[CompiledTool]:
    """The tools that a project with every switch on offers on the case's channel."""
    return _compiled(normalize_channel(case.channel))


@cache
def _compiled(channel: str) -> list[CompiledTool]:
    switches = {key: Resolved(key, AttributeType.BOOL, True, Origin.PROJECT) for key in SWITCHES}
    calendar = Resolved(CALENDAR, AttributeType.ENUM, ENUMS[CALENDAR][1], Origin.PROJECT)
    state = BusinessState(channel, attributes={**switches, CALENDAR: calendar})
    return at_moment(merge_tools(state, []), Trigger.COMMITMENT)
