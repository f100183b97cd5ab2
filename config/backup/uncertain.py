"""Effects that the lost installation may have carried out after its backup."""

from __future__ import annotations

from config.backup.catalog import Connection

REASON = "Makegood was restored from a backup. The lost installation may have done this since."

# Effects that may repeat under their key stay planned, and so do those that wait for approval. The others count as begun by
# a worker that is gone, so that staff is asked whether they happened.
_MARK = """
update public.tools_effect
set state = 'sending', attempts = greatest(attempts, 1), is_uncertain = true, started_at = statement_timestamp(),
    error = %s
where state = 'planned' and delivery = 'once'
  and (definition ->> 'requires_approval' is distinct from 'true' or resolved_at is not null)
"""


def mark_uncertain(connection: Connection) -> int:
    """Leave it to staff whether the planned effects happened. Returns their number."""
    return connection.execute(_MARK, [REASON]).rowcount
