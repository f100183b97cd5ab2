"""Internal notes of staff, and mentions of colleagues in them."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Now

from conversations.handover.assignment import possible_assignees
from conversations.live.event_log import open_log
from conversations.models import Mention, Note
from notices.models import NoticeKind
from notices.services import notify, settle
from projects.common.api_error import Unprocessable
from projects.models import Member, User
from tenancy.prepared_queries import PreparedValues

NOTED = "note_added"
MAX_MENTIONS = 20
# Unread mentions that a member's list takes into account, the newest first.
MOST_UNREAD = 500


def add_note(conversation_id: UUID, content: str, *, by: User, mentioned: Collection[User] = ()) -> Note:
    """Add a note for staff. It doesn't count as activity, and reopens and sends nothing.

    The mentioned members find the conversation in their list until they have read the note. Writing a note also reads
    the author's own mentions. Raises Conversation.DoesNotExist.
    """
    others = {user.pk: user for user in mentioned if user.pk != by.pk}
    with open_log(conversation_id) as log:
        note = Note.objects.create(conversation=log.conversation, author=by, author_name=by.name, content=content)
        Mention.objects.bulk_create(
            [Mention(note=note, conversation=log.conversation, user=user) for user in others.values()]
        )
        # Without the words: the log is also read by callers who may not read notes.
        log.add_event(NOTED, payload={"note": str(note.pk), "operator": by.pk, "name": by.name})
        read_mentions(conversation_id, by=by)
        if others:
            _notify(note, others)
    return note


def _notify(note: Note, members: Collection[int]) -> None:
    """Notify the mentioned members, given by their keys."""
    conversation = note.conversation
    notify(
        conversation.project_id,
        kind=NoticeKind.MENTIONED,
        subject=note.pk,
        object_id=conversation.pk,
        text=f"{note.author_name}: {note.content}",
        to=list(members),
    )


def find_members(emails: Collection[str]) -> list[User]:
    """The members with these addresses who may operate. Raises Unprocessable for any other address."""
    known = {user.email.casefold(): user for user in possible_assignees()}
    for email in emails:
        if email.casefold() not in known:
            sentence = f"mentions: {email} is not a member who can operate."
            raise Unprocessable("invalid_mention", sentence, field="mentions")
    return [known[email.casefold()] for email in emails]


def notes_of(conversation_id: UUID) -> QuerySet[Note]:
    """A conversation's notes, oldest first."""
    return Note.objects.filter(conversation_id=conversation_id).prefetch_related("mentions__user")


def read_mentions(conversation_id: UUID, *, by: User) -> bool:
    """Mark the member's mentions in a conversation as read. Returns False if there were none."""
    unread = unread_mentions(by).filter(conversation_id=conversation_id)
    notes = list(unread.values_list("note_id", flat=True))
    members = Member.objects.filter(user=by).values_list("pk", flat=True)
    for note in notes:
        settle(NoticeKind.MENTIONED, note, by=members)
    return bool(notes) and unread.update(read_at=Now()) > 0


def unread_mentions(user: User) -> QuerySet[Mention]:
    """Mentions that the member has not read."""
    return Mention.objects.filter(user=user, read_at=None)


def mentioned_in(user: User) -> list[UUID]:
    """The conversations with unread mentions of the member, up to MOST_UNREAD mentions."""
    return list(dict.fromkeys(id for (id,) in _MENTIONED_IN(user.pk)))


_MENTIONED_IN = PreparedValues(
    lambda user: unread_mentions(User(pk=user)).order_by("-id").values_list("conversation_id")[:MOST_UNREAD],
    kinds=(int,),
)
