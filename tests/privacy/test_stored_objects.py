"""Whatever deletes a file deletes its content from the storage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conversations.files.upkeep import tend_due
from conversations.handover.attachments import delete_unsent
from conversations.models import Conversation, Persona
from jobs.sweep import sweep
from privacy.erasure.rows import delete_rows
from privacy.organizations.deletion import request_deletion
from tests.bypass_rls import bypass_rls
from tests.conversations.files.conftest import Files, bucket, files, folder, place, s3
from tests.privacy.conftest import erase

__all__ = ["bucket", "files", "folder", "place", "s3"]
pytestmark = pytest.mark.parametrize("place", ["folder"], indirect=True)


def erase_customer(files: Files) -> None:
    erase(files.tenant, files.conversation.persona_id)


def erase_who_waits(files: Files) -> None:
    """The file waits for its sender's next message."""
    sender = "update conversations_attachment set conversation_id = null, project_id = %s, sender = %s"
    with files.tenant.tx():
        external_id = Persona.objects.get(pk=files.conversation.persona_id).external_id
    bypass_rls(sender, files.tenant.project.pk, external_id)
    erase(files.tenant, files.conversation.persona_id)


def delete_conversation(files: Files) -> None:
    with files.tenant.tx():
        delete_rows(Conversation, [files.conversation.pk])


def forget_unsent(files: Files) -> None:
    bypass_rls("update conversations_attachment set created_at = created_at - interval '2 days'")
    delete_unsent()


def close_organization(files: Files) -> None:
    with files.tenant.tx():
        name = files.tenant.organization.name
        request_deletion(files.tenant.organization, by=files.tenant.owner, typed=name, at_once=True)
    for _ in range(50):
        sweep()
        if not bypass_rls("select from projects_organization where id = %s", files.tenant.organization.pk):
            return
    raise AssertionError("The organization is still there.")


@pytest.mark.parametrize(
    "delete", [erase_customer, erase_who_waits, delete_conversation, forget_unsent, close_organization]
)
def test_the_object_goes_with_its_file(delete: Callable[[Any], None], files: Files) -> None:
    files.keep()
    assert files.place.objects()
    delete(files)
    assert files.states() == ["leaving"]
    tend_due()
    assert (files.place.objects(), files.states()) == ({}, [])
