"""A faster state of the models while migrations are applied.

For each operation, Django renders again every model that is related to the changed one. All tenants' models are related
through the organization, so a migration that adds a column would render a hundred of them.
"""

from __future__ import annotations

from typing import Any, cast

from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.state import ModelState, ProjectState


class LocalState(ProjectState):
    """Renders only the model that an operation adds, or to which it adds something.

    The models that refer to it keep the class from before. Their keys are created from its table and its primary key,
    which such an operation doesn't change. Django renders all models once more after the last migration.
    """

    _is_addition = False

    def add_model(self, model_state: ModelState) -> None:
        self._is_addition = True
        super().add_model(model_state)
        self._is_addition = False

    def add_field(self, *arguments: Any, **options: Any) -> None:
        self._is_addition = True
        super().add_field(*arguments, **options)
        self._is_addition = False

    def _find_reload_model(self, app_label: str, model_name: str, delay: bool = False) -> set[tuple[str, str]]:
        """Django's hook: the models to render. `delay` is true unless a reference or a referenced field changes."""
        if not (delay or self._is_addition):
            return set(super()._find_reload_model(app_label, model_name, delay))  # type: ignore[misc]  # not in the stubs
        self.is_delayed = True
        return {(app_label, model_name)}

    def clone(self) -> LocalState:
        return _as_local(super().clone())


class Executor(MigrationExecutor):
    """Applies migrations with a LocalState."""

    def _create_project_state(self, with_applied_migrations: bool = False) -> LocalState:
        return _as_local(super()._create_project_state(with_applied_migrations))  # type: ignore[misc]  # not in the stubs


def _as_local(state: Any) -> LocalState:
    state.__class__ = LocalState
    return cast(LocalState, state)
