"""Building blocks of initial migrations: all tables of an app in one operation, and the columns of tenant tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import models
from django.db.migrations import CreateModel
from django.db.migrations.operations.base import Operation

from tenancy.ids import uuid7
from tenancy.scope import current_organization_id

ID = ("id", models.UUIDField(default=uuid7, editable=False, primary_key=True, serialize=False))


def _organization(**options: Any) -> tuple[str, models.Field[Any, Any]]:
    return "organization", models.ForeignKey(
        "projects.organization",
        default=current_organization_id,
        editable=False,
        on_delete=models.CASCADE,
        related_name="+",
        **options,
    )


ORGANIZATION = _organization()
# For tables whose other foreign keys contain the organization too.
DENSE_ORGANIZATION = _organization(db_constraint=False, db_index=False)


class CreateTables(Operation):
    """Creates the tables of models that may refer to each other.

    With one operation per model, Django would render all related models again each time, which takes most of the time
    of `migrate`.
    """

    reduces_to_sql = True
    reversible = True

    def __init__(self, models: Sequence[CreateModel]) -> None:
        self.models = models

    def state_forwards(self, app_label: str, state: Any) -> None:
        # The app registry is rendered again when the first table needs its model.
        state.__dict__.pop("apps", None)
        for model in self.models:
            model.state_forwards(app_label, state)

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        for model in self.models:
            model.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        for model in reversed(self.models):
            model.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        return f"Create {len(self.models)} tables"
