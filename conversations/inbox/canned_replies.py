"""Canned replies of a project, and the fields in them.

A field is looked up in a closed list. The text is never compiled as a template of any engine.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext

from conversations.common.queries import read_fields
from conversations.handover.operators import shown_name
from conversations.models import CannedReply, Conversation
from projects.common.api_error import Conflict, Unprocessable
from projects.common.translation import lazy
from projects.models import Project, User

MAX_REPLIES = 500
# Deleted replies can be restored for less than this.
KEPT = timedelta(days=1)
# The fields of a reply, each with its meaning.
FIELDS: Mapping[str, str] = {
    "customer.name": lazy("The customer’s name"),
    "customer.email": lazy("The customer’s e-mail address"),
    "customer.phone": lazy("The customer’s phone number"),
    "agent.name": lazy("The agent’s name"),
    "agent.business": lazy("The name of the business"),
    "me.name": lazy("Your first name, as customers see it"),
}
_FIELD = re.compile(r"\{\{([^{}]{0,100})\}\}")


@dataclass(frozen=True)
class FilledReply:
    """A canned reply with its fields filled in. `missing` are the fields without a value; they stay in the text."""

    reply: CannedReply
    content: str
    missing: Sequence[str]


def canned_replies(project: Project) -> QuerySet[CannedReply]:
    """The project's canned replies, by name."""
    return CannedReply.objects.filter(project=project, deleted_at=None)


def make_reply(project: Project, name: str, content: str) -> CannedReply:
    """Add a canned reply. Raises Unprocessable for an unknown field, Conflict for a name in use and at the limit."""
    check_fields(content)
    if canned_replies(project).count() >= MAX_REPLIES:
        limit = gettext("A project has at most %(max_replies)s canned replies. Delete one first.") % {
            "max_replies": MAX_REPLIES
        }
        raise Conflict(limit, code="too_many_canned_replies")
    return _save(CannedReply(project=project, name=name, content=content))


def change_reply(reply: CannedReply, changes: Mapping[str, str]) -> CannedReply:
    """Change the name or the text. Raises like `make_reply`."""
    check_fields(changes.get("content", ""))
    for name, value in changes.items():
        setattr(reply, name, value)
    return _save(reply)


def delete_reply(reply: CannedReply) -> None:
    """Delete a canned reply. `restore_reply` brings it back within a day."""
    CannedReply.objects.filter(project_id=reply.project_id, deleted_at__lt=Now() - KEPT).delete()
    CannedReply.objects.filter(pk=reply.pk).update(deleted_at=Now())


def restore_reply(project: Project, reply_id: UUID) -> CannedReply:
    """Bring a deleted canned reply back. Raises Conflict if its name is in use, CannedReply.DoesNotExist."""
    reply = CannedReply.objects.get(project=project, pk=reply_id)
    reply.deleted_at = None
    return _save(reply)


def fill_replies(conversation: Conversation, *, by: User) -> list[FilledReply]:
    """The project's canned replies for a conversation, by name, with their fields filled in."""
    values = _values(conversation, by)
    return [fill(reply, values) for reply in canned_replies(conversation.project)]


def fill(reply: CannedReply, values: Mapping[str, str]) -> FilledReply:
    """Fill in a reply's fields. A value is inserted as it is: what looks like a field in it stays text."""
    names = dict.fromkeys(name.strip() for name in _FIELD.findall(reply.content))
    content = _FIELD.sub(lambda found: values.get(found[1].strip()) or found[0], reply.content)
    return FilledReply(reply, content, [name for name in names if not values.get(name)])


def check_fields(content: str) -> None:
    """Raise Unprocessable for the first field that doesn't exist, with the list of those that do."""
    for name in _FIELD.findall(content):
        if name.strip() not in FIELDS:
            known = ", ".join(f"{{{{{field}}}}}" for field in FIELDS)
            sentence = gettext("There is no field {{%(name)s}}. Use one of: %(known)s.") % {
                "name": name,
                "known": known,
            }
            raise Unprocessable("unknown_canned_field", sentence, field="content")


def _values(conversation: Conversation, by: User) -> dict[str, str]:
    version = conversation.project.agent_version
    if version is None:
        return {"me.name": shown_name(by)}
    known = {field.key: field.value for field in read_fields(conversation, version.config)}
    known |= {name: str(value) for name, value in (conversation.shopper or {}).items() if value}
    return {
        **{f"customer.{name}": known.get(name, "") for name in ("name", "email", "phone")},
        "agent.name": version.config.agent_name,
        "agent.business": version.config.business_name,
        "me.name": shown_name(by),
    }


def _save(reply: CannedReply) -> CannedReply:
    try:
        with transaction.atomic():
            reply.save()
    except IntegrityError as error:
        sentence = gettext("The project has a canned reply '%(name)s' already.") % {"name": reply.name}
        raise Conflict(sentence, code="canned_reply_exists", field="name") from error
    return reply
