"""The merge of two customers: everything of the one moves to the other, in one transaction.

The merged customer's row stays and leads to the other (`conversations.common.merged`), so that links, identifiers of the
API and running turns still find the customer. Values that lost stay with it, and so does the history of its consents.
"""

from __future__ import annotations

from typing import cast
from uuid import UUID

from django.db.models import F
from django.db.models.functions import Coalesce
from django.utils.translation import gettext

from conversations.common.consents import WITHDRAWN
from conversations.common.merged import listed_customers
from conversations.customers.preview import (
    MergePreview,
    Outcome,
    moving_rows,
    own_fields,
    preview_merge,
)
from conversations.models import ConsentSource, Conversation, Persona, PersonaField
from conversations.turns.consents import bind_refusals, record_given, withdraw_refused_promises
from projects.common.api_error import Conflict, Unprocessable
from projects.common.translation import lazy
from projects.models import AuditAction, Project, User
from projects.records.audit import record_change
from tools.models import Verification

CHANGED = lazy("One of the two customers has changed since. Look at what moves, then merge again.")


def read_preview(project: Project, target_id: UUID, source_id: UUID) -> MergePreview:
    """Preview a merge of the source into the target. Raises Unprocessable for the same customer, Conflict for
    one that the project doesn't have or that was merged already.
    """
    if target_id == source_id:
        raise Unprocessable("same_customer", gettext("Choose another customer to merge."), field="persona")
    found = {row.pk: row for row in listed_customers(project.pk).filter(pk__in=[target_id, source_id])}
    if len(found) != 2:
        message = gettext("One of the two was merged already, or isn’t a customer of this project.")
        raise Conflict(message, code="no_such_customer", field="persona")
    return preview_merge(found[target_id], found[source_id])


def merge_customers(
    project: Project, target_id: UUID, source_id: UUID, *, seen: str, by: User | None, actor: str = ""
) -> Persona:
    """Merge the source into the target and return the target. It can't be undone.

    `seen` is the preview that the caller decided on. Of two concurrent merges of one customer the second is refused.
    Raises Conflict if anything that it shows has changed, and as `read_preview`.
    """
    _lock(target_id, source_id)
    preview = read_preview(project, target_id, source_id)
    if preview.seen != seen:
        raise Conflict(CHANGED, code="changed_since")
    target, source = preview.target, preview.source
    _move_rows(target, source)
    _move_fields(preview)
    withdraw_refused_promises(target)
    _keep_flag(target, source)
    # Path compression: an id leads to the customer in one step.
    Persona.objects.filter(merged_into=source).update(merged_into=target)
    Persona.objects.filter(pk=source.pk).update(merged_into=target)
    _record(preview, project, by=by, actor=actor)
    return target


def _lock(*ids: UUID) -> None:
    """Lock the two customers' conversations, then the customers, each in the order of their ids.

    Flows lock a conversation before its customer, so a turn that commits now comes first, and one that comes later finds
    the other customer. Raises Conflict if a conversation began meanwhile.
    """
    conversations = Conversation.objects.filter(persona_id__in=ids).order_by("pk").values_list("pk", flat=True)
    locked = list(conversations.select_for_update(of=("self",)))
    list(Persona.objects.filter(pk__in=ids).order_by("pk").select_for_update().values_list("pk", flat=True))
    if list(conversations) != locked:
        raise Conflict(CHANGED, code="changed_since")


def _move_rows(target: Persona, source: Persona) -> None:
    rows = moving_rows(source.pk)
    rows.pop("conversations").update(persona=target, begun_as_id=Coalesce(F("begun_as_id"), source.pk))
    PersonaField.objects.filter(persona=source, conversation__isnull=False).update(persona=target)
    for moving in rows.values():
        moving.update(persona_id=target.pk)
    # Each verification proves one of the two customers only.
    Verification.objects.filter(persona_id=target.pk).update(persona_id=source.pk)


def _move_fields(preview: MergePreview) -> None:
    """Move the values that the target doesn't have. A refusal replaces a consent, and is recorded as a change."""
    target, source = preview.target, preview.source
    moving = [field.key for field in preview.fields if field.outcome == Outcome.MOVES]
    PersonaField.objects.filter(persona=source, conversation=None, key__in=moving).update(persona=target)
    refused = {field.key: WITHDRAWN for field in preview.fields if field.outcome == Outcome.WINS}
    theirs = own_fields(source.pk)
    for key in refused:
        row = theirs[key]
        PersonaField.objects.filter(persona=target, conversation=None, key=key).update(
            value=row.value,
            strength=row.strength,
            quote=row.quote,
            message_id=row.message_id,
            turn_id=row.turn_id,
            updated_at=row.updated_at,
        )
    if refused:
        record_given(target, refused, source=ConsentSource.STAFF)
    bind_refusals(target)


def _keep_flag(target: Persona, source: Persona) -> None:
    if source.flagged and not target.flagged:
        Persona.objects.filter(pk=target.pk).update(flagged=True, flag_reason=source.flag_reason)


def _record(preview: MergePreview, project: Project, *, by: User | None, actor: str) -> None:
    """The entry names ids and counts; the values stay with the merged customer."""
    record_change(
        AuditAction.CUSTOMERS_MERGED,
        organization_id=cast(UUID, project.organization_id),
        by=by,
        actor=actor,
        subject=f"{preview.source.external_id} into {preview.target.external_id}",
        project=project,
        before={"merged": str(preview.source.pk), "kept": str(preview.target.pk)},
        after={
            "merged": str(preview.source.pk),
            "kept": str(preview.target.pk),
            **preview.counts,
            "not_moved": [field.key for field in preview.fields if field.outcome == Outcome.LOSES],
            "consents_refused": [field.key for field in preview.fields if field.outcome == Outcome.WINS],
        },
    )
