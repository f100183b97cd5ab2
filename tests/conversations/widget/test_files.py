"""Files that visitors upload in the widget and send with a message."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from conversations.handover.attachments import MAX_BYTES, MAX_PER_ANSWER, MAX_UNSENT_OF_CUSTOMER, delete_unsent, upload
from conversations.handover.operators import answer, take_over
from conversations.models import Attachment, Conversation, ConversationStatus, Message, Persona
from conversations.widget import limits
from conversations.widget.limits import Limit
from privacy.erasure.rows import delete_rows
from projects.api.body_limit import UPLOAD_LIMIT, UPLOAD_ROOM, BodyLimit
from tests.concurrent import meanwhile
from tests.conftest import Tenant
from tests.conversations.handover.test_attachments import PDF, PNG, path_of
from tests.conversations.widget.conftest import Placed, Visitor, refusal

STORED = "[File: a.png]"


@pytest.fixture(autouse=True)
def own_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address of the test's own, so that tests don't use up each other's limits."""
    address = uuid4().hex
    monkeypatch.setattr("conversations.widget.limits.client_address", lambda request: address)


def send_file(visitor: Visitor, content: bytes = PNG, name: str = "a.png", **headers: str) -> Any:
    known = {"Origin": visitor.origin, "Authorization": f"Bearer {visitor.token}"} | headers
    path = f"/widget/{visitor.placed.key}/attachments?name={name}"
    return visitor.client.post(path, content, content_type="application/octet-stream", headers=known)


def say(visitor: Visitor, *ids: str, content: str = "", **headers: str) -> Any:
    return visitor.ask("POST", "messages", {"content": content, "attachments": list(ids)}, **headers)


def set_files(tenant: Tenant, takes: bool) -> None:
    from projects.agents.services import save_agent
    from projects.models.agent_config import AgentConfig

    with tenant.tx():
        document = {**tenant.project.agent_version.document, "take_files": takes}  # type: ignore[union-attr]
        save_agent(tenant.project, config=AgentConfig.model_validate(document), author=tenant.owner)


def test_a_file_is_uploaded_and_sent_alone(tenant: Tenant, visitor: Visitor) -> None:
    file = send_file(visitor)
    assert (file.status_code, file["Access-Control-Allow-Origin"]) == (201, visitor.origin)
    sent = say(visitor, file.json()["id"])
    assert sent.status_code == 202
    assert sent.json()["message"]["attachments"] == [file.json()]
    with tenant.tx():
        message = Message.objects.get(role="user")
    assert (message.content, message.attachments[0]["content_type"]) == (STORED, "image/png")
    assert Client().get(path_of(file.json()["url"])).content == PNG


def test_files_follow_the_words(tenant: Tenant, visitor: Visitor) -> None:
    ids = [send_file(visitor, PDF, f"{name}.pdf").json()["id"] for name in "ab"]
    say(visitor, *ids, content="Both, please.")
    with tenant.tx():
        assert Message.objects.get(role="user").content == "Both, please.\n[File: a.pdf]\n[File: b.pdf]"


def test_a_repeated_upload_stores_one_file(tenant: Tenant, visitor: Visitor) -> None:
    """The response to the first was lost."""
    key = {"Idempotency-Key": "one"}
    first, again = send_file(visitor, **key), send_file(visitor, **key)
    assert (again.json(), again["Idempotent-Replayed"]) == (first.json(), "true")
    assert refusal(send_file(visitor, PNG + b"x", **key), 422) == "idempotency_key_reused"
    with tenant.tx():
        assert Attachment.objects.count() == 1


@pytest.mark.parametrize(
    ("content", "name", "code"),
    [
        (b"", "a.png", "empty_file"),
        (b"MZ\x90\x00", "a.png", "file_type_not_allowed"),
        (b"PK\x03\x04", "a.pdf", "file_type_not_allowed"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>", "a.svg", "file_type_not_allowed"),
        (b"<script>1</script>", "a.png", "file_type_differs"),
        (PNG, "a.pdf", "file_type_differs"),
    ],
)
def test_a_file_that_lies_about_its_kind_is_refused(
    tenant: Tenant, visitor: Visitor, content: bytes, name: str, code: str
) -> None:
    refused = send_file(visitor, content, name)
    assert refusal(refused, 422) == code
    assert refused.json()["error"]["message"].startswith(name)
    with tenant.tx():
        assert not Attachment.objects.exists()
        assert not Conversation.objects.exists()


@pytest.mark.parametrize(
    "name", ["../../etc/a.png", "C:\\a.png", "%E2%80%AEgnp.a.png", "%00a.png".replace("%00", "%0A")]
)
def test_a_name_has_no_path_and_no_invisible_characters(visitor: Visitor, name: str) -> None:
    assert send_file(visitor, name=name).json()["name"] in ("a.png", "gnp.a.png")


def test_one_byte_more_than_ten_megabytes_is_refused(visitor: Visitor) -> None:
    assert send_file(visitor, PNG.ljust(MAX_BYTES, b"\0")).status_code == 201
    assert send_file(visitor, PNG.ljust(MAX_BYTES + 1, b"\0")).status_code == 413


def test_a_visitor_sends_only_their_own_files(tenant: Tenant, visitor: Visitor, visit: Callable[..., Visitor]) -> None:
    other = visit()
    theirs = send_file(other).json()["id"]
    own = send_file(visitor).json()["id"]
    for id in (theirs, str(uuid4())):
        assert refusal(say(visitor, own, id), 422) == "invalid_attachment"
    with tenant.tx():
        assert not Message.objects.exists()
        assert not Attachment.objects.exclude(message=None).exists()
        assert not Conversation.objects.exists()


def test_a_file_is_sent_once(visitor: Visitor) -> None:
    id = send_file(visitor).json()["id"]
    assert len(say(visitor, id, id).json()["message"]["attachments"]) == 1
    assert refusal(say(visitor, id), 422) == "invalid_attachment"


def test_files_of_staff_and_customers_are_not_each_others(tenant: Tenant, visitor: Visitor) -> None:
    """Neither side sends what the other has uploaded in the same conversation."""
    visitor.say("Hello")
    own = send_file(visitor).json()["id"]
    with tenant.tx():
        row = Conversation.objects.get()
        take_over(row.pk, by=tenant.owner)
        staffs = upload(row, PDF, name="offer.pdf", by=tenant.owner).pk
    assert refusal(say(visitor, str(staffs)), 422) == "invalid_attachment"
    with pytest.raises(Exception, match="waits to be sent"), tenant.tx():
        answer(row.pk, "Here", by=tenant.owner, attachments=[own])


def test_a_message_has_at_most_five_files_and_something_to_say(visitor: Visitor) -> None:
    ids = [send_file(visitor, name=f"{number}.png").json()["id"] for number in range(MAX_PER_ANSWER + 1)]
    assert say(visitor, *ids).status_code == 400
    assert refusal(say(visitor), 400) == "empty"
    assert refusal(visitor.ask("POST", "messages", {}), 400) == "required"
    assert refusal(visitor.ask("POST", "messages", {"attachments": ["x"]}), 400) == "invalid"


def test_files_wait_in_limited_numbers(tenant: Tenant, visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conversations.widget.views.UPLOADS", Limit("upload", of_visitor=1000, of_address=1000))
    for _ in range(MAX_UNSENT_OF_CUSTOMER):
        assert send_file(visitor).status_code == 201
    assert refusal(send_file(visitor), 409) == "too_many_unsent_files"


@pytest.mark.parametrize("bucket", ["of_visitor", "of_address"])
def test_uploads_are_limited_by_visitor_and_address(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch, bucket: str
) -> None:
    few = Limit("upload", **{"of_visitor": 1000, "of_address": 1000, bucket: 2})
    monkeypatch.setattr("conversations.widget.views.UPLOADS", few)
    answers = [send_file(visitor) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 429]
    assert int(answers[-1]["Retry-After"]) > 0
    assert limits.UPLOADS.of_visitor < limits.UPLOADS.of_address


def test_uploads_are_limited_by_project(visit: Callable[..., Visitor], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conversations.handover.customer_files.UPLOADS_PER_MINUTE", 2)
    assert [send_file(visit()).status_code for _ in range(3)] == [201, 201, 429]


def test_the_switch_turns_uploads_off(tenant: Tenant, visitor: Visitor) -> None:
    """The server refuses them, whatever the page shows."""
    assert visitor.open().json()["agent"]["files"] is True
    set_files(tenant, False)
    assert visitor.open().json()["agent"]["files"] is False
    assert refusal(send_file(visitor), 403) == "files_off"
    with tenant.tx():
        assert not Attachment.objects.exists()


def test_a_full_storage_is_told_without_its_numbers(
    tenant: Tenant, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tools.engine.limits.quotas import StorageFull

    def full(*_: Any) -> None:
        raise StorageFull(4711, 4712, of_organization=False)

    monkeypatch.setattr("conversations.handover.attachments.admit_bytes", full)
    refused = send_file(visitor)
    assert refusal(refused, 409) == "storage_full"
    assert "4,712" not in refused.json()["error"]["message"]


def test_a_file_needs_a_visitor_and_an_allowed_page(visitor: Visitor) -> None:
    assert send_file(visitor, Authorization="").status_code == 401
    assert send_file(visitor, Origin="https://evil.example").status_code == 403


def test_a_closed_conversation_takes_no_file_and_a_new_one_does(tenant: Tenant, visitor: Visitor) -> None:
    visitor.say("Hello")
    close(tenant)
    id = send_file(visitor).json()["id"]
    assert say(visitor, id).status_code == 202
    with tenant.tx():
        assert [row.messages.count() for row in Conversation.objects.order_by("pk")] == [1, 1]


def test_a_conversation_that_a_colleague_has_closed_takes_no_file(tenant: Tenant, visitor: Visitor) -> None:
    visitor.say("Hello")
    with tenant.tx():
        take_over(Conversation.objects.get().pk, by=tenant.owner)
    close(tenant)
    assert refusal(send_file(visitor), 409) == "conversation_over"


def test_files_follow_their_visitor_into_the_next_conversation(tenant: Tenant, visitor: Visitor) -> None:
    """The conversation closes between upload and message."""
    visitor.say("Hello")
    id = send_file(visitor).json()["id"]
    close(tenant)
    sent = say(visitor, id)
    assert [file["id"] for file in sent.json()["message"]["attachments"]] == [id]
    with tenant.tx():
        file = Attachment.objects.select_related("message").get()
        assert str(file.conversation_id) == sent.json()["conversation"] == str(file.message.conversation_id)  # type: ignore[union-attr]


def close(tenant: Tenant) -> None:
    with tenant.tx():
        Conversation.objects.update(status=ConversationStatus.TRANSFERRED)


def test_an_unsent_file_goes_after_a_day(tenant: Tenant, visitor: Visitor) -> None:
    visitor.say("Hello")
    outdated(tenant, visitor)
    delete_unsent()
    with tenant.tx():
        assert not Attachment.objects.exists()
        assert Conversation.objects.get().messages.count() == 1


def test_an_upload_begins_nothing(tenant: Tenant, visitor: Visitor) -> None:
    """No conversation and no customer: lists, figures and limits count them."""
    id = send_file(visitor).json()["id"]
    with tenant.tx():
        assert (Conversation.objects.count(), Persona.objects.count()) == (0, 0)
    say(visitor, id)
    with tenant.tx():
        file = Attachment.objects.get()
        assert (file.conversation, file.project, file.sender) == (Conversation.objects.get(), None, "")
        assert Persona.objects.count() == 1


def test_a_visitor_who_signs_in_still_sends_their_file(visitor: Visitor) -> None:
    id = send_file(visitor).json()["id"]
    visitor.open(shopper=visitor.placed.signed())
    assert say(visitor, id).status_code == 202


def test_the_file_of_a_shopper_is_not_sent_by_the_next_in_the_same_browser(visitor: Visitor) -> None:
    visitor.open(shopper=visitor.placed.signed())
    id = send_file(visitor).json()["id"]
    visitor.open(shopper=visitor.placed.signed(shopper={"wp_user_id": 18}))
    assert refusal(say(visitor, id), 422) == "invalid_attachment"


def test_a_message_beside_the_deletion_of_its_file_says_so(tenant: Tenant, visitor: Visitor) -> None:
    id = outdated(tenant, visitor)
    with meanwhile("conversations_persona", delete_unsent):
        assert refusal(say(visitor, id), 422) == "invalid_attachment"


def test_a_message_beside_the_deletion_of_its_conversation_begins_another(tenant: Tenant, visitor: Visitor) -> None:
    visitor.say("Hello")
    id = send_file(visitor).json()["id"]

    def delete() -> None:
        with tenant.tx():
            delete_rows(Conversation, list(Conversation.objects.values_list("pk", flat=True)))

    with meanwhile("conversations_conversation", delete):
        assert say(visitor, id).status_code == 202
    with tenant.tx():
        assert [file["id"] for file in Message.objects.get().attachments] == [id]


def outdated(tenant: Tenant, visitor: Visitor) -> str:
    """Upload a file that the next sweep deletes."""
    id = send_file(visitor).json()["id"]
    with tenant.tx():
        Attachment.objects.update(created_at=timezone.now() - timedelta(hours=25))
    return str(id)


def test_the_answer_says_nothing_of_how_files_are_kept(visitor: Visitor) -> None:
    assert set(send_file(visitor).json()) == {"id", "name", "content_type", "size", "url"}


def test_the_preflight_allows_what_the_script_sends(visitor: Visitor) -> None:
    asked = visitor.ask("OPTIONS", "attachments", Authorization="")
    assert {"authorization", "idempotency-key", "content-type"} <= set(
        asked["Access-Control-Allow-Headers"].split(", ")
    )


async def test_visitors_uploads_leave_the_room_of_staff_free(placed: Placed) -> None:
    """As many as a process holds are being answered; a colleague's file passes."""
    import asyncio

    served, end = list[str](), asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        served.append(scope["path"])
        if "/widget/" in scope["path"]:
            await end.wait()

    def sender() -> Any:
        async def receive() -> Any:
            return {"type": "http.request", "body": bytes(UPLOAD_LIMIT), "more_body": False}

        return receive

    def scope(path: str) -> dict[str, Any]:
        return {"type": "http", "path": path, "headers": [(b"content-length", b"1")], "query_string": b""}

    async def nowhere(message: Any) -> None:
        pass

    limited, full = BodyLimit(app), UPLOAD_ROOM // UPLOAD_LIMIT
    mine, staff = f"/widget/{placed.key}/attachments", f"/api/v1/conversations/{uuid4()}/attachments"
    visitors = [asyncio.ensure_future(limited(scope(mine), sender(), nowhere)) for _ in range(full + 1)]
    await asyncio.sleep(0)
    await limited(scope(staff), sender(), nowhere)
    assert served == [*[mine] * full, staff]
    end.set()
    await asyncio.gather(*visitors)
