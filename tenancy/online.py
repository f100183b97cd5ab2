"""Migration operations that change a large table while it is read and written."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db.migrations.operations.base import Operation

_VALID = """
select i.indisvalid from pg_index i join pg_class c on c.oid = i.indexrelid
where c.relname = %s and c.relnamespace = 'public'::regnamespace
"""


class AddIndexOnline(AddIndexConcurrently):
    """Create an index while the table is read and written, in a migration with `atomic = False`.

    It waits for transactions that are open, a backup for example, and holds nobody up. Running it again after it was
    interrupted replaces the unfinished index and keeps a finished one, so that the migration can be repeated.
    """

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        cursor = schema_editor.connection.cursor()
        cursor.execute(_VALID, [self.index.name])
        found = cursor.fetchone()
        if found == (True,):
            return
        # A wait here holds nobody up, and an interrupted build has to be repeated as a whole.
        cursor.execute("select current_setting('lock_timeout'), set_config('lock_timeout', '0', false)")
        patience = cursor.fetchone()[0]
        if found:
            cursor.execute(f"drop index concurrently {schema_editor.quote_name(self.index.name)}")
        super().database_forwards(app_label, schema_editor, from_state, to_state)
        cursor.execute("select set_config('lock_timeout', %s, false)", [patience])


def add_indexes_online(model: str, *indexes: Any) -> list[Operation]:
    """The operations that create several indexes of a model."""
    return [AddIndexOnline(model, index) for index in indexes]
