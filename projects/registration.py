"""What the floor itself registers, once all models are there."""

from __future__ import annotations

from projects.knowledge.seeds import plant_articles
from projects.models.seeds import PLANTS


def register() -> None:
    """The seeds whose rows are this floor's own."""
    PLANTS["articles"] = plant_articles
