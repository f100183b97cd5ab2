"""Cleanup of expired sessions."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.db import transaction
from django.utils import timezone

from jobs.sweep import sweep
from projects.common import session_cleanup
from projects.common.session_cleanup import delete_old_sessions
from tests.conftest import Tenant
from tests.console.people.conftest import browser, is_signed_in


def keep(*names: str, days: int) -> None:
    ends = timezone.now() + timedelta(days=days)
    Session.objects.bulk_create(Session(session_key=name, session_data="", expire_date=ends) for name in names)


def kept() -> set[str]:
    return set(Session.objects.values_list("session_key", flat=True))


def test_the_sweep_deletes_expired_sessions(tenant: Tenant) -> None:
    """Active sessions stay."""
    client = browser(tenant.owner)
    keep("gone", days=-1)
    sweep()
    assert kept() == {client.session.session_key}
    assert is_signed_in(client)


def test_a_sweep_deletes_in_batches_oldest_first(database: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_cleanup, "DELETE_BATCH", 2)
    keep("young", days=-1)
    keep("old", "older", days=-2)
    assert [delete_old_sessions(), kept()] == [2, {"young"}]
    assert [delete_old_sessions(), delete_old_sessions()] == [1, 0]


def test_a_sweep_skips_locked_sessions(database: None) -> None:
    keep("held", "gone", days=-1)
    with transaction.atomic(using="owner"):
        Session.objects.using("owner").select_for_update().get(pk="held")
        delete_old_sessions()
        assert kept() == {"held"}
