"""Undo in the notice of a deletion."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.test import Client

from console import undo
from conversations.inbox import tags
from conversations.inbox.tags import change_tags, make_tag, tags_of
from conversations.models import Tag, TagColor
from projects.knowledge.services import Writer, write_article
from projects.knowledge.text import ArticleText
from projects.models import ApiKey, Article, Member, Role
from projects.models.article import ArticleWord
from projects.models.attribute import Attribute, AttributeType
from projects.records.attributes import set_attribute
from tests.conftest import Tenant, member_of
from tests.console.pages.conftest import browser, talk
from tests.console.pages.test_undo import TOKEN, pressed, take_back
from todos.content.types import save_type
from todos.models import TodoType
from tools.engine.custom import service as custom_tools
from tools.engine.events.service import SubscriptionEdit, add_subscription
from tools.evaluation.kept import keep_case
from tools.evaluation.runs import cases_of
from tools.models import EventSubscription, Resource
from tools.services.bookings.resources import create_resource

TOOL = {
    "description": "Tells a colleague.",
    "conditions": {"agentPromised": {"type": "boolean", "description": "The agent commits to it now."}},
    "useConversationHistory": False,
}


def test_a_deleted_article_is_stored_again_as_it_was(owner: Client, tenant: Tenant) -> None:
    with tenant.tx():
        text = ArticleText("Parking", "Where to park", "Behind the house, beside the chestnut.")
        article = write_article(tenant.project, text, by=Writer(tenant.owner), is_published=True)
    token = pressed(tenant, owner, f"knowledge/a/{article.slug}", {"do": "delete"})
    take_back(tenant, owner, token)
    with tenant.tx():
        again = Article.objects.get(slug=article.slug)
        assert (again.pk, again.body, again.version, again.is_published) == (article.pk, text.body, 1, True)
        assert ArticleWord.objects.filter(article=again, word__startswith="chestnut").exists()


def test_a_removed_tool_returns_with_its_secrets(owner: Client, tenant: Tenant) -> None:
    action = {"type": "send_webhook", "options": {"url": "https://example.com/hook"}}
    with tenant.tx():
        saved = custom_tools.save(tenant.project, name="notify_crew", document={**TOOL, "action": action})
        secrets = saved.tool.secrets
    token = pressed(tenant, owner, "tools/notify_crew", {"do": "remove"})
    take_back(tenant, owner, token)
    with tenant.tx():
        again = custom_tools.get(tenant.project, "notify_crew")
        assert (again.secrets, bool(secrets)) == (secrets, True)


def test_a_removed_todo_type_returns_unless_its_name_is_taken(owner: Client, tenant: Tenant) -> None:
    with tenant.tx():
        kind = save_type(tenant.project, {"name": "Letters", "description": "Something to write."})
    body = {"do": "remove", "id": str(kind.pk)}
    take_back(tenant, owner, pressed(tenant, owner, "agent/todos", body))
    assert not type_of(tenant, kind.pk).is_removed
    token = pressed(tenant, owner, "agent/todos", body)
    with tenant.tx():
        save_type(tenant.project, {"name": "letters", "description": "Another."})
    take_back(tenant, owner, token)
    assert type_of(tenant, kind.pk).is_removed


def type_of(tenant: Tenant, type_id: UUID) -> TodoType:
    with tenant.tx():
        return TodoType.objects.get(pk=type_id)


def test_a_removed_resource_returns_as_it_was(owner: Client, tenant: Tenant) -> None:
    with tenant.tx():
        table = create_resource(tenant.project, name="Table 99", kind="table", capacity=7, slot_minutes=45)
    token = pressed(tenant, owner, f"resources/{table.pk}/remove", {})
    take_back(tenant, owner, token)
    with tenant.tx():
        again = Resource.objects.get(project=tenant.project, name="Table 99")
        assert (again.capacity, again.slot_minutes, again.is_active) == (7, 45, True)


def test_an_unset_attribute_is_set_again(owner: Client, tenant: Tenant) -> None:
    with tenant.tx():
        set_attribute(tenant.project, "till_key", "12", type=AttributeType.STRING)
    token = pressed(tenant, owner, "agent/attributes", {"unset": "till_key"})
    with tenant.tx():
        assert not Attribute.objects.filter(key="till_key").exists()
    take_back(tenant, owner, token)
    with tenant.tx():
        assert Attribute.objects.get(key="till_key").value == "12"


def test_a_revoked_key_works_again(owner: Client, tenant: Tenant, client: Client) -> None:
    with tenant.tx():
        key = ApiKey.objects.get(project=tenant.project)
    token = pressed(tenant, owner, f"keys/{key.pk}/revoke", {})
    assert client.get("/api/v1/tools", headers=tenant.headers).status_code == 401
    take_back(tenant, owner, token)
    assert client.get("/api/v1/tools", headers=tenant.headers).status_code == 200


def test_a_deleted_tag_returns_to_its_conversations(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "We are allergic to nuts")
    with tenant.tx():
        tag = make_tag(tenant.project, "Allergies", color=TagColor.RED)
        change_tags(row.pk, add=[tag], remove=[], by=tenant.owner)
    token = pressed(tenant, owner, "inbox/replies", {"do": "delete-tag", "id": str(tag.pk)})
    with tenant.tx():
        assert not Tag.objects.exists()
    take_back(tenant, owner, token)
    with tenant.tx():
        assert [(one.name, one.color) for one in tags_of([row.pk])[row.pk]] == [("Allergies", TagColor.RED)]


def test_the_deletion_of_a_tag_on_too_many_conversations_is_final(
    owner: Client, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tags, "MAX_RESTORED", 0)
    row = talk(tenant, "We are allergic to nuts")
    with tenant.tx():
        tag = make_tag(tenant.project, "Allergies")
        change_tags(row.pk, add=[tag], remove=[], by=tenant.owner)
    body = {"do": "delete-tag", "id": str(tag.pk)}
    page = owner.post(f"/p/{tenant.project.slug}/inbox/replies", body, follow=True)
    assert b"Tag deleted." in page.content
    assert TOKEN.search(page.content.decode()) is None


def test_a_removed_subscription_returns_with_its_secret(owner: Client, tenant: Tenant) -> None:
    with tenant.tx():
        edit = SubscriptionEdit(url="https://example.com/events", events=("notify_crew",))
        row = add_subscription(tenant.project, edit).row
    token = pressed(tenant, owner, f"agent/integrations/events/{row.pk}/remove", {})
    take_back(tenant, owner, token)
    with tenant.tx():
        again = EventSubscription.objects.get()
    assert (again.pk, again.events, again.secrets) == (row.pk, ["notify_crew"], row.secrets)


def test_a_removed_subscription_stays_away_if_another_has_its_event(owner: Client, tenant: Tenant) -> None:
    edit = SubscriptionEdit(url="https://example.com/events", events=("notify_crew",))
    with tenant.tx():
        row = add_subscription(tenant.project, edit).row
    token = pressed(tenant, owner, f"agent/integrations/events/{row.pk}/remove", {})
    with tenant.tx():
        other = add_subscription(tenant.project, edit).row
    assert b'data-s="bad"' in take_back(tenant, owner, token).content
    with tenant.tx():
        assert EventSubscription.objects.get().pk == other.pk


def test_a_deleted_regression_case_returns(owner: Client, tenant: Tenant) -> None:
    with tenant.tx():
        case = keep_case(tenant.project, name="x", answer="I’ll text you.", channel="chat", expected={})
    token = pressed(tenant, owner, "regression-cases", {"do": "delete", "id": str(case.pk)})
    with tenant.tx():
        assert not cases_of(tenant.project).exists()
    take_back(tenant, owner, token)
    with tenant.tx():
        assert cases_of(tenant.project).get().answer == "I’ll text you."


def test_only_the_newest_deletion_keeps_what_was_deleted(owner: Client, tenant: Tenant) -> None:
    with tenant.tx():
        tables = [
            create_resource(tenant.project, name=name, kind="table", capacity=2, slot_minutes=60)
            for name in ("A9", "B9")
        ]
    first, _ = (pressed(tenant, owner, f"resources/{table.pk}/remove", {}) for table in tables)
    assert str(undo.TOO_LATE) in take_back(tenant, owner, first).content.decode()


def test_an_operator_undoes_no_deletion(tenant: Tenant) -> None:
    """Whoever lost the right meanwhile can't use the token."""
    admin = member_of(tenant, Role.ADMIN)
    with tenant.tx():
        table = create_resource(tenant.project, name="C9", kind="table", capacity=2, slot_minutes=60)
    client = browser(admin)
    token = pressed(tenant, client, f"resources/{table.pk}/remove", {})
    with tenant.tx():
        Member.objects.filter(user=admin).update(role=Role.OPERATOR)
    take_back(tenant, client, token)
    with tenant.tx():
        assert not Resource.objects.filter(name="C9").exists()
