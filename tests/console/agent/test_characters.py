"""Characters allowed in the agent's texts."""

from __future__ import annotations

import unicodedata

from projects.models.agent_config import CONTROL, AgentConfig


def test_texts_allow_only_line_breaks_and_tabs_as_control_characters() -> None:
    characters = list(map(chr, range(0xE000)))
    control = [one for one in characters if unicodedata.category(one) in ("Cc", "Cs") and one not in "\n\t"]
    assert [one for one in characters if CONTROL.search(one)] == control


def test_a_name_in_several_lines_becomes_one_line() -> None:
    """A line break in the subject of an e-mail keeps it from being sent."""
    config = AgentConfig(agent_name="Nello\n\nthe waiter", business_name="Trattoria\n\tDa Nello")
    assert (config.agent_name, config.business_name) == ("Nello the waiter", "Trattoria Da Nello")
