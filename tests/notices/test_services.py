"""Notices: who gets one, once per subject, and when it is over."""

from __future__ import annotations

from notices.models import NoticeKind, Send, Way
from notices.services import claim_for_browser, in_bell, mark_read, settle, unread_count
from projects.models import Role
from tests.conftest import Tenant, member_of
from tests.notices.conftest import ALL, Raise, all_notices, choose, member_of_user


def names(tenant: Tenant) -> list[str]:
    return sorted(one.member.user.email for one in all_notices(tenant))


def test_everybody_who_may_operate_is_notified(tenant: Tenant, stranger: Tenant, raised: Raise) -> None:
    operator = member_of(tenant, Role.OPERATOR)
    member_of(tenant, Role.VIEWER)
    raised()
    assert names(tenant) == sorted([tenant.owner.email, operator.email])
    assert all_notices(stranger) == []


def test_only_the_named_members_are_notified(tenant: Tenant, raised: Raise) -> None:
    viewer = member_of(tenant, Role.VIEWER)
    raised(kind=NoticeKind.MENTIONED, to=[viewer.pk])
    assert names(tenant) == [viewer.email]


def test_a_subject_is_raised_once_until_it_was_read(tenant: Tenant, raised: Raise) -> None:
    subject = raised(text="first")
    raised(subject, text="second")
    [one] = all_notices(tenant)
    assert one.text == "first"
    with tenant.tx():
        mark_read(one.member, tenant.project.pk, [one.pk])
    raised(subject, text="third")
    [again] = all_notices(tenant)
    assert (again.text, again.read_at) == ("third", None)


def test_a_settled_subject_is_read_by_everybody(tenant: Tenant, raised: Raise) -> None:
    member_of(tenant, Role.OPERATOR)
    subject, other = raised(), raised()
    with tenant.tx():
        settle(NoticeKind.UNKNOWN, subject)
    assert [str(one.subject) for one in all_notices(tenant) if one.read_at is None] == [str(other)] * 2


def test_reading_leaves_the_notices_of_others(tenant: Tenant, raised: Raise) -> None:
    operator = member_of(tenant, Role.OPERATOR)
    raised()
    with tenant.tx():
        assert mark_read(member_of_user(operator), tenant.project.pk) == 1
        counts = [unread_count(member_of_user(user), tenant.project.pk) for user in (operator, tenant.owner)]
    assert counts == [0, 1]


def test_a_member_chooses_the_ways_of_a_kind(tenant: Tenant, raised: Raise) -> None:
    choose(tenant, tenant.owner, ways={**ALL, NoticeKind.UNKNOWN: (Way.BROWSER,), NoticeKind.BROKEN: ()})
    raised()
    raised(kind=NoticeKind.BROKEN)
    [one] = all_notices(tenant)
    assert (one.kind, one.in_bell, one.browser, one.email) == (NoticeKind.UNKNOWN, False, Send.DUE, Send.NONE)
    with tenant.tx():
        assert not in_bell(one.member, tenant.project.pk).exists()


def test_each_notice_is_given_to_one_browser(tenant: Tenant, raised: Raise) -> None:
    choose(tenant, tenant.owner)
    raised()
    with tenant.tx():
        given = [len(claim_for_browser(member_of_user(tenant.owner), tenant.project.pk)) for _ in range(2)]
    assert given == [1, 0]


def test_a_long_text_is_one_short_line(tenant: Tenant, raised: Raise) -> None:
    raised(text="Pay\n- x: " + "very " * 100)
    [one] = all_notices(tenant)
    assert len(one.text) == 200
    assert one.text.startswith("Pay - x: very")
