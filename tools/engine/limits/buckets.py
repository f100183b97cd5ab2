"""The buckets of turns a minute: of a project and of its organization."""

from __future__ import annotations

from collections.abc import Mapping

from projects.models import Project


def buckets_of(project: Project, *, own: int | None = None, shared: int | None = None) -> Mapping[str, int]:
    """The size of each bucket by its name. A limit that isn't set has none."""
    sizes = {f"turns:{project.pk}": own, f"turns:organization:{project.organization_id}": shared}
    return {name: size for name, size in sizes.items() if size is not None}
