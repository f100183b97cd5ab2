"""Registration of the tools with the rooms below, once all models are loaded."""

from __future__ import annotations

from functools import partial

from jobs.lanes import register_lanes
from projects.agents.tool_names import tool_names
from projects.knowledge import storage
from projects.models import Project
from projects.models.attribute_catalogue import LIMIT_SETTINGS
from projects.models.seeds import PLANTS
from projects.records.attributes import COMPUTED, SHAPES
from tools.engine.custom.attribute import KEY, ToolsAttribute
from tools.engine.custom.service import list_tools
from tools.engine.hooks import why_unverified
from tools.engine.limits.alerts import NOTICES
from tools.engine.limits.quotas import admit_bytes
from tools.engine.policy import check_limit
from tools.engine.registry import builtin_tools, register_tools
from tools.evaluation.case_run import case_lane
from tools.services.bookings.resources import plant_resources
from tools.services.business_data import products, zip_codes
from tools.services.calendar.lane import calendar_lane
from tools.services.support.notices import OPERATORS
from tools.services.verification import services as verification


def register() -> None:
    """Register the built-in tools, attributes and their shapes, seeds, the hooks of the engine, and lanes."""
    register_tools("tools.builtin")
    COMPUTED[KEY] = ToolsAttribute()
    SHAPES[zip_codes.KEY] = zip_codes.check_zip_codes
    SHAPES[products.KEY] = products.check_products
    PLANTS["resources"] = plant_resources
    tool_names.connect(list_tool_names)
    storage.admit_bytes.connect(admit_bytes)
    why_unverified.connect(verification.why_unverified)
    for key in LIMIT_SETTINGS:
        SHAPES[key] = partial(check_limit, key)
    register_lanes(OPERATORS.as_lane(), NOTICES.as_lane(), calendar_lane(), case_lane())


def list_tool_names(project: Project) -> list[str]:
    """The names of all tools of the project, switched on or off."""
    return sorted({*builtin_tools(), *list_tools(project).values_list("name", flat=True)})
