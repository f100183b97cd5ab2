"""A tool that needs approval, called inside a turn and approved by a standing rule."""

from __future__ import annotations

from projects.models import Member
from tests.conversations.tool_runs.test_custom_tools import CALLED, STOCK, Stock, stock, target
from todos.models import StandingRule

__all__ = ["stock", "target"]


def test_the_model_is_told_that_a_rule_approved_the_call(stock: Stock) -> None:
    """Nobody is asked, and nothing has run yet."""
    stock.define(moments=["turn", "task"], requires_approval=True)
    tenant = stock.turns.tenant
    with tenant.tx():
        owner = Member.objects.get(user=tenant.owner)
        allowed = {"body": {"anything": True}}
        StandingRule.objects.create(project=tenant.project, tool=STOCK, allowed=allowed, created_by=owner.pk)
    turn = stock.ask()
    assert stock.turns.result(turn).startswith("This is allowed by the business and being done now.")
    assert stock.target.log == []
    stock.turns.run("todo")
    assert [heard.document for heard in stock.target.log] == [CALLED]
