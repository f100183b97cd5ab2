"""What the tools add to the floors below, once all models are there."""

from __future__ import annotations

from projects.attributes import COMPUTED, SHAPES
from projects.models import Project
from projects.seeds import PLANTS
from projects.tool_names import tool_names
from tools.book.resources import plant_resources
from tools.builtin import builtin_tools
from tools.calendar import lane as calendar_lane
from tools.custom.attribute import KEY, ToolsAttribute
from tools.custom.service import list_tools
from tools.desk import notices
from tools.offering import products, zip_codes


def register() -> None:
    """Attributes that are rows of ours, the shapes of those that we read, seeds, the names of all tools, and lanes."""
    COMPUTED[KEY] = ToolsAttribute()
    SHAPES[zip_codes.KEY] = zip_codes.check_zip_codes
    SHAPES[products.KEY] = products.check_products
    PLANTS["resources"] = plant_resources
    tool_names.connect(list_tool_names)
    notices.register_lane()
    calendar_lane.register_lane()


def list_tool_names(project: Project) -> list[str]:
    """The names of all tools that the project has, on or off."""
    return sorted({*builtin_tools(), *list_tools(project).values_list("name", flat=True)})
