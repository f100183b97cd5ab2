"""What the tools add to the floors below, once all models are there."""

from __future__ import annotations

from console.agent.abilities import ABILITIES
from console.sidebar_badges import COUNTS, Count
from projects.agents.tool_names import list_tools_by
from projects.connections.integrations import to_connect_again
from projects.models.seeds import PLANTS
from projects.records.attributes import COMPUTED, SHAPES
from tools.engine.abilities import agent_abilities, every_tool
from tools.engine.attention import broken_of_late, unanswered_effects
from tools.engine.custom.attribute import KEY, ToolsAttribute
from tools.engine.registry import register_tools
from tools.services.bookings.resources import plant_resources
from tools.services.business_data import products, zip_codes
from tools.services.calendar import lane as calendar_lane
from tools.services.support import notices
from tools.services.support.escalations import waiting_requests
from tools.services.support.tickets import open_tickets


def register() -> None:
    """Attributes that are rows of ours and the shapes of those that we read, counts of the side bar, seeds, and what
    the agent's settings list of its tools.
    """
    register_tools("tools.builtin")
    COMPUTED[KEY] = ToolsAttribute()
    SHAPES[zip_codes.KEY] = zip_codes.check_zip_codes
    SHAPES[products.KEY] = products.check_products
    COUNTS["agent"] = lambda project: Count(to_connect_again(project).count())
    COUNTS["conversations"] = lambda project: Count(waiting_requests(project).count())
    COUNTS["tickets"] = lambda project: Count(open_tickets(project).count())
    COUNTS["effects"] = lambda project: Count(unanswered_effects(project).count())
    COUNTS["promises"] = lambda project: Count(broken_of_late(project).count())
    PLANTS["resources"] = plant_resources
    ABILITIES["tools"] = agent_abilities
    list_tools_by(every_tool)
    notices.register_lane()
    calendar_lane.register_lane()
