"""Every use of mg_ops, the role that sees all tenants. A new use fails until it is listed here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

from jobs.sweep import sweep
from projects.models import IdempotentRequest
from tests.conftest import Tenant
from tests.test_architecture import ROOT, sources

# Functions that use the role, by reason. The last group is the implementation itself.
ALLOWED = {
    # Claims and sweeps.
    "tenancy/threads.py": {"in_ops"},
    "jobs/claims.py": {
        *("_claim_statement", "heartbeat", "requeue", "take_expired", "waiting_lanes", "with_own_model"),
    },
    # The queues of all tenants together, for the metrics and the operator's page.
    "jobs/queue_figures.py": {"read_lanes", "_try_to_read"},
    # The clock that due times and leases are measured by.
    "jobs/clock.py": {"_now", "_repair"},
    "jobs/sweep.py": {"sweep", "sweep_tenants", "_take_lock"},
    "conversations/followups/follow_ups.py": {"<module>", "fire_follow_ups"},
    "conversations/tool_runs/calls/orphans.py": {"<module>", "end_orphans"},
    "conversations/tool_runs/effects/receipts.py": {"<module>", "end_overdue_receipts"},
    "conversations/turns/conversation_end.py": {"<module>", "close_silent_conversations"},
    "conversations/promises/make_good.py": {"<module>", "draft_make_goods"},
    "conversations/handover/attachments.py": {"<module>", "delete_unsent"},
    # The mailboxes that a worker process may listen to.
    "conversations/channels/mail/watching.py": {"<module>", "claim_mailboxes"},
    # The objects of all tenants' files, also of those that are gone.
    "conversations/files/upkeep.py": {"_claim", "_is_due"},
    "conversations/files/moves.py": {"_rows"},
    "conversations/files/orphans.py": {"_known"},
    "conversations/inbox/closing.py": {"<module>", "return_snoozed"},
    "conversations/followups/waits.py": {"<module>", "end_overdue_waits"},
    "tools/engine/promises.py": {"<module>", "break_overdue_promises"},
    "todos/expiry.py": {"<module>", "expire_overdue_todos"},
    "projects/api/idempotency.py": {"delete_old_responses"},
    # The deletion of an organization.
    "privacy/organizations/deletion.py": {"_work", "_run", "_write"},
    # The customers and organizations that a restored backup brought back.
    "privacy/repeat_erasures.py": {"<module>", "erased_digests", "repeat_erasures"},
    # Old events, which no other role may delete.
    "privacy/retention/batches.py": {"_delete_events_of"},
    "privacy/retention/sweep.py": {"_find_due", "_add_projects"},
    # Entries of the audit log that name an erased customer. No other role may change one.
    "privacy/erasure/mentions.py": {"_rewrite_audit"},
    # Lookups before the tenant is known.
    "tenancy/tenant_lookup.py": {"<module>", "_row"},
    # Platform tool definitions, which no other role may write.
    "tools/engine/platform/seeds.py": {"<module>", "seed_tools"},
    # The operator's own figures.
    "console/management/commands/usage.py": {"<module>", "Command.handle"},
    # The admin of superusers.
    "config/admin.py": {"<module>", "_enter_scope"},
    # Migrations that count the rows of all tenants.
    "tenancy/counted.py": {"count_earlier.run"},
    # The operator's page and `manage.py doctor`.
    "operations/keys.py": {"<module>", "_tokens"},
    "operations/model_servers.py": {"check_model_servers"},
    "operations/queues.py": {"check_failed_jobs"},
    "operations/tenants.py": {"check_tenants"},
    # The connection, its router and the scope.
    "config/settings.py": {"<module>"},
    "tenancy/scope.py": {"Router.db_for_read"},
    "projects/management/commands/roles.py": {"<module>"},
}


def uses_of(path: Path) -> Iterator[str]:
    """The functions that name the connection or the scope, however they come by it."""
    tree = ast.parse(path.read_text())
    yield from (where for where, node in _places(tree, inside="<module>") if _is_use(node))


def _places(node: ast.AST, *, inside: str) -> Iterator[tuple[str, ast.AST]]:
    for child in ast.iter_child_nodes(node):
        yield inside, child
        name = child.name if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else ""
        path = f"{inside}.{name}" if inside != "<module>" else name
        yield from _places(child, inside=path if name else inside)


def _is_use(node: ast.AST) -> bool:
    """The connection's name in a string, or the name of the scope or of the sweep's query anywhere but where it is made."""
    if isinstance(node, ast.Constant):
        return bool(node.value == "ops")
    name = getattr(node, "id", getattr(node, "attr", getattr(node, "name", "")))
    return name in ("platform_scope", "sweep_tenants") and not isinstance(node, ast.FunctionDef)


def test_mg_ops_is_used_only_in_these_functions() -> None:
    found = {str(path.relative_to(ROOT)): set(uses_of(path)) for path in sources()}
    assert {file: uses for file, uses in found.items() if uses} == ALLOWED


def test_the_sweep_deletes_expired_idempotent_responses(tenant: Tenant) -> None:
    """In all tenants. The age is read from the id."""
    with tenant.tx():
        row = {"project": tenant.project, "body_hash": "x"}
        IdempotentRequest.objects.create(key="old", id=UUID(int=1_600_000_000_000 << 80), **row)
        IdempotentRequest.objects.create(key="new", **row)
    sweep()
    with tenant.tx():
        assert [request.key for request in IdempotentRequest.objects.all()] == ["new"]
