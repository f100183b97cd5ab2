"""Concurrent changes of one todo, type or rule: the second sees what the first did."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404

from projects.common.api_error import ApiError
from projects.models import Member, Role
from tests.concurrent import meanwhile
from tests.conversations.threads import in_thread, until_waiting
from tests.todos.conftest import REFUND, Desk
from todos import services
from todos.approvals import standing_rules
from todos.approvals.standing_rules import create_rule, draft_rule
from todos.content import types
from todos.content.lifecycle import Actor


def test_an_approval_waiting_for_an_edit_checks_the_edited_type(desk: Desk, clerk: Member) -> None:
    strict, todo = desk.type(approver_role=Role.OWNER), desk.refund()
    with ThreadPoolExecutor(1) as pool:
        with desk.tenant.tx():
            services.edit_todo(todo.pk, {"type": strict}, actor=Actor("Nello"), version=None)
            yes = in_thread(pool, lambda: desk.approve(todo, clerk, version=None, content_hash=None))
            until_waiting()
        with pytest.raises(PermissionDenied, match="an owner"):
            yes.result()


def test_saving_a_type_during_its_removal_does_not_restore_it(desk: Desk) -> None:
    kind, project = desk.type(), desk.tenant.project
    with meanwhile("todos_todotype", lambda: desk.do(types.remove_type, project, kind.pk)) as removed:
        desk.do(types.save_type, project, {"description": "Money back."}, type_id=kind.pk)
    removed[0].result()
    with pytest.raises(Http404):
        desk.do(types.get_type, project, kind.pk)


def test_concurrent_rules_share_the_last_place(desk: Desk, owner: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing_rules, "MOST_RULES", 1)
    limits: dict[str, Any] = {"body.amount": {"at_most": 5}}

    def keep() -> None:
        desk.do(lambda: create_rule(draft_rule(desk.tenant.project, tool=REFUND, allowed=limits, created_by=owner.pk)))

    with meanwhile("COUNT(*)", keep) as other:
        keep()
    with pytest.raises(ApiError, match="at most 1 standing rules"):
        other[0].result()
