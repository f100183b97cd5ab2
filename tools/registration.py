"""What the tools add to the floors below, once all models are there."""

from __future__ import annotations

from console.agent.abilities import ABILITIES
from console.sidebar_badges import COUNTS, Count
from projects.attributes import COMPUTED, SHAPES
from projects.seeds import PLANTS
from projects.sources import to_connect_again
from projects.tool_names import tool_names
from tools.abilities import agent_abilities, every_tool
from tools.attention import broken_of_late, unanswered_effects
from tools.book.resources import plant_resources
from tools.calendar import lane as calendar_lane
from tools.custom.attribute import KEY, ToolsAttribute
from tools.desk import notices
from tools.desk.escalations import waiting_requests
from tools.desk.tickets import open_tickets
from tools.offering import products, zip_codes


def register() -> None:
    """Attributes that are rows of ours and the shapes of those that we read, counts of the side bar, seeds, and what
    the agent's settings list of its tools.
    """
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
    tool_names.connect(every_tool)
    notices.register_lane()
    calendar_lane.register_lane()
