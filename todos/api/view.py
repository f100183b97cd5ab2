"""The base view of the todos API."""

from __future__ import annotations

from uuid import UUID

from projects.api.views import ProjectView
from todos import services
from todos.api.presenters import todo_detail
from todos.content.lifecycle import Actor
from todos.payloads import TodoDetailPayload


class TodoView(ProjectView):
    """A view of the project's todos. Provides the caller as an actor and the response for one todo."""

    @property
    def actor(self) -> Actor:
        member, key = self.caller.member, self.caller.key
        if member is not None:
            return Actor(member.user.name, member.pk)
        return Actor(f"the API key {key.name}" if key else "the API")

    @property
    def caller_id(self) -> UUID:
        """The id of the member or the key."""
        caller = self.caller.member or self.caller.key
        assert caller is not None  # a project's caller is always one of them
        return caller.pk

    def detail(self, todo_id: UUID) -> TodoDetailPayload:
        return todo_detail(services.get_todo(self.project, todo_id))
