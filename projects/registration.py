"""Registration of the seeds provided by this package."""

from __future__ import annotations

from projects.knowledge.seeds import plant_articles
from projects.models.seeds import PLANTS


def register() -> None:
    PLANTS["articles"] = plant_articles
