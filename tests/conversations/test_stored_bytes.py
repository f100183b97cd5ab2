"""The bytes that a project stores are counted as they are written and deleted."""

from __future__ import annotations

from importlib import import_module

from conversations.channels.delivered import delete_contents
from conversations.models import Attachment, Conversation, DeliveredFile, Message, MessageRole
from projects.models import Article, Project, StoredBytes
from tenancy.counted import count_earlier
from tests.bypass_rls import bypass_rls
from tests.conftest import Tenant
from tests.conversations.conftest import Talk

COUNT = import_module("conversations.migrations.0019_earlier_bytes").COUNT
FILE = {"name": "menu.pdf", "content_type": "application/pdf", "size": 1_000, "content": b"x"}


def stored(tenant: Tenant) -> dict[str, int]:
    """Bytes by kind, without kinds that have none."""
    found: dict[str, int] = {}
    with tenant.tx():
        for row in StoredBytes.objects.filter(project=tenant.project):
            found[row.kind] = found.get(row.kind, 0) + row.bytes
    return {kind: number for kind, number in found.items() if number}


def article(tenant: Tenant, body: str) -> Article:
    with tenant.tx():
        return Article.objects.create(project=tenant.project, slug="hours", title="Hours", body=body)


def test_messages_count_their_bytes_in_utf_8(talk: Talk) -> None:
    talk.say("Tschüß")
    assert stored(talk.tenant) == {"messages": 8}


def test_attachments_count_their_size(talk: Talk) -> None:
    with talk.tenant.tx():
        Attachment.objects.create(conversation=talk.conversation, **FILE)
    assert stored(talk.tenant) == {"attachments": 1_000}


def test_a_waiting_file_counts_once_until_its_conversation_goes(talk: Talk) -> None:
    with talk.tenant.tx():
        waiting = Attachment.objects.create(project=talk.tenant.project, sender="visitor:a", **FILE)
    sizes = [stored(talk.tenant)]
    with talk.tenant.tx():
        Attachment.objects.filter(pk=waiting.pk).update(conversation=talk.conversation, project=None, sender="")
    sizes.append(stored(talk.tenant))
    with talk.tenant.tx():
        Conversation.objects.filter(pk=talk.conversation.pk)._raw_delete("default")
    assert [*sizes, stored(talk.tenant)] == [{"attachments": 1_000}, {"attachments": 1_000}, {}]


def test_a_waiting_file_that_goes_gives_its_bytes_back(tenant: Tenant) -> None:
    with tenant.tx():
        Attachment.objects.create(project=tenant.project, sender="visitor:a", **FILE).delete()
    assert stored(tenant) == {}


def test_a_file_of_an_email_counts_until_it_goes(talk: Talk) -> None:
    talk.say("Hello")
    sizes = []
    for delete in (
        delete_contents,
        lambda _: Conversation.objects.filter(pk=talk.conversation.pk)._raw_delete("default"),
    ):
        with talk.tenant.tx():
            message = Message.objects.get()
            DeliveredFile.objects.create(message=message, number=0, content=bytes(1_000))
        sizes.append(stored(talk.tenant))
        with talk.tenant.tx():
            delete(message.pk)
        sizes.append(stored(talk.tenant))
    hello, kept = {"messages": 5}, {"messages": 5, "attachments": 1_000}
    assert sizes == [kept, hello, kept, {}]


def test_articles_count_as_they_are_written_changed_and_deleted(tenant: Tenant) -> None:
    hours = article(tenant, "From noon")
    sizes = [stored(tenant)]
    with tenant.tx():
        Article.objects.filter(pk=hours.pk).update(body="Closed")
    sizes.append(stored(tenant))
    with tenant.tx():
        Article.objects.filter(pk=hours.pk).delete()
    assert [*sizes, stored(tenant)] == [{"articles": 14}, {"articles": 11}, {}]


def test_a_deleted_message_and_a_shortened_one_give_their_bytes_back(talk: Talk) -> None:
    talk.say("Hello")
    with talk.tenant.tx():
        Message.objects.create(conversation=talk.conversation, seq=9, role=MessageRole.OPERATOR, content="Yes?")
        Message.objects.filter(seq=9)._raw_delete("default")
        Message.objects.update(content="-")
    assert stored(talk.tenant) == {"messages": 1}


def test_a_deleted_conversation_takes_its_bytes_along(talk: Talk) -> None:
    """The foreign keys delete the conversation before its messages."""
    talk.say("Hello")
    with talk.tenant.tx():
        Attachment.objects.create(conversation=talk.conversation, **FILE)
        Conversation.objects.filter(pk=talk.conversation.pk)._raw_delete("default")
        assert not Message.objects.exists()
    assert stored(talk.tenant) == {}


def test_a_project_is_deleted_with_its_sums(talk: Talk) -> None:
    talk.say("Hello")
    with talk.tenant.tx():
        Project.objects.filter(pk=talk.tenant.project.pk)._raw_delete("default")
    with talk.tenant.tx():
        assert not StoredBytes.objects.exists()


def test_earlier_rows_are_counted_once(talk: Talk) -> None:
    talk.say("Hello")
    article(talk.tenant, "From noon")
    bypass_rls("alter table conversations_message disable trigger conversations_message_written")
    with talk.tenant.tx():
        Message.objects.create(conversation=talk.conversation, seq=9, role=MessageRole.USER, content="Is anyone there?")
    bypass_rls("alter table conversations_message enable trigger conversations_message_written")
    for _ in range(2):
        count_earlier(COUNT).code(None, None)
    assert stored(talk.tenant) == {"messages": 21, "articles": 14}
