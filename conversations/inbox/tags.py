"""The project's tags, and the tags on conversations."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import gettext

from conversations.live.event_log import open_log
from conversations.models import Conversation, ConversationTag, Tag, TagColor
from projects.common.api_error import ApiError, Conflict
from projects.models import Project, User
from tenancy.prepared_queries import PreparedQuery

MAX_TAGS = 200
TAGGED = "tags_changed"
# A tag on more conversations can't be restored: its deletion would keep too many of them.
MAX_RESTORED = 2_000


def make_tag(project: Project, name: str, *, color: str = TagColor.GRAY) -> Tag:
    """Add a tag to the project's list. Raises Conflict for a name in use, ApiError at the limit."""
    _require_room(project)
    return _save(Tag(project=project, name=name, color=color))


def change_tag(tag: Tag, changes: Mapping[str, str]) -> Tag:
    """Rename or recolor a tag, on every conversation that has it. Raises Conflict for a name in use."""
    for name, value in changes.items():
        setattr(tag, name, value)
    return _save(tag)


def delete_tag(tag: Tag) -> None:
    """Delete a tag, and take it off every conversation."""
    tag.delete()


def uses_of(tag: Tag) -> list[UUID] | None:
    """The conversations with the tag; None for more than can be restored."""
    uses = ConversationTag.objects.filter(tag=tag).values_list("conversation_id", flat=True)[: MAX_RESTORED + 1]
    return list(uses) if len(uses) <= MAX_RESTORED else None


def restore_tag(tag: Tag, conversations: Collection[UUID]) -> None:
    """Store a tag again that has just been deleted, on those of its conversations that are still there.

    Raises Conflict for a name in use, ApiError at the limit.
    """
    _require_room(tag.project)
    _save(tag)
    left = Conversation.objects.filter(project=tag.project, pk__in=conversations).values_list("pk", flat=True)
    ConversationTag.objects.bulk_create([ConversationTag(conversation_id=pk, tag=tag) for pk in left])


def change_tags(conversation_id: UUID, *, add: Collection[Tag], remove: Collection[Tag], by: User) -> bool:
    """Put tags on a conversation and take others off. Returns False if nothing changed.

    Concurrent calls are serialized, and none undoes another's change. Raises Conversation.DoesNotExist.
    """
    with open_log(conversation_id) as log:
        own = set(ConversationTag.objects.filter(conversation=log.conversation).values_list("tag_id", flat=True))
        added = [tag for tag in add if tag.pk not in own]
        removed = [tag for tag in remove if tag.pk in own]
        if not added and not removed:
            return False
        ConversationTag.objects.bulk_create([ConversationTag(conversation=log.conversation, tag=tag) for tag in added])
        ConversationTag.objects.filter(conversation=log.conversation, tag__in=removed).delete()
        names = {"added": [tag.name for tag in added], "removed": [tag.name for tag in removed]}
        log.add_event(TAGGED, payload={**names, "operator": by.pk, "name": by.name})
        return True


def tags_of(conversations: Collection[UUID]) -> dict[UUID, list[Tag]]:
    """Tags by conversation, each list by name; conversations without tags are left out."""
    found: dict[UUID, list[Tag]] = {}
    for row in _USES(tuple(conversations)) if conversations else ():
        found.setdefault(row.conversation_id, []).append(row.tag)
    return found


_USES = PreparedQuery(
    lambda conversations: (
        ConversationTag.objects.filter(conversation_id__any=conversations).select_related("tag").order_by("tag__name")
    ),
    kinds=(tuple,),
)


def list_tags(project: Project) -> list[Tag]:
    """The project's tags by name."""
    return _TAGS(project.pk)


_TAGS = PreparedQuery(lambda project: Tag.objects.filter(project_id=project), kinds=(UUID,))


def find_tags(project: Project, names: Collection[str], *, field: str) -> list[Tag]:
    """The project's tags with these names, in any case. Raises ApiError for one that doesn't exist."""
    known = {tag.name.casefold(): tag for tag in Tag.objects.filter(project=project)}
    for name in names:
        if name.casefold() not in known:
            raise ApiError(
                "unknown_tag",
                gettext("%(field)s: the project has no tag '%(value)s'.") % {"field": field, "value": name[:40]},
                field=field,
                status=422,
            )
    return [known[name.casefold()] for name in names]


def _require_room(project: Project) -> None:
    if Tag.objects.filter(project=project).count() >= MAX_TAGS:
        raise ApiError(
            "too_many_tags",
            gettext("A project has at most %(max_tags)s tags. Delete one first.") % {"max_tags": MAX_TAGS},
            status=409,
        )


def _save(tag: Tag) -> Tag:
    try:
        with transaction.atomic():
            tag.save()
    except IntegrityError as error:
        raise Conflict(
            gettext("A tag named “%(name)s” already exists.") % {"name": tag.name}, code="tag_exists", field="name"
        ) from error
    return tag
