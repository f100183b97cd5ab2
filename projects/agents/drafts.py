"""The draft of an agent's settings: compared with what is published, published, discarded, rolled back.

Every save is a row of AgentVersion. The draft is the newest row while it differs from the published one, to which the
project points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.utils.translation import override

from projects.agents.agent_versions import check_new_url, check_size, current_document
from projects.agents.model_key import has_stored_key, publish_key
from projects.agents.services import NewerVersion, latest_agent_version, save_agent
from projects.common.api_error import Conflict
from projects.common.differences import Change, differences, summary_of
from projects.common.merge import merge
from projects.models import AgentVersion, Project, User
from projects.models.agent_config import AgentConfig
from projects.models.agent_errors import SettingsRefused, checked_config
from projects.records.attributes import DRAFT_MODEL_KEY, unset_attribute
from tenancy.prepared_queries import PreparedQuery


class NothingToPublish(Conflict):
    """The draft doesn't differ from the published settings."""


@dataclass(frozen=True)
class DraftState:
    """The published version, the newest version, and the draft's changes (none without a draft)."""

    published: AgentVersion
    newest: AgentVersion
    changes: list[Change]

    @property
    def draft(self) -> AgentVersion | None:
        return self.newest if self.changes else None

    @property
    def model_url(self) -> str:
        """The address of the published settings' own model."""
        return str(self.published.document.get("model_base_url", ""))


def read_draft(project: Project) -> DraftState:
    """The state of the draft, in the running transaction."""
    [newest] = _NEWEST(project.pk)
    [published] = _PUBLISHED(project.pk) if newest.is_draft else [newest]
    return _state(published, newest)


def _versions(project: UUID) -> QuerySet[AgentVersion]:
    return AgentVersion.objects.select_related("author").filter(project=project).order_by("-number")


# Each page of the settings runs these.
_NEWEST = PreparedQuery(lambda project: _versions(project)[:1], kinds=(UUID,))
_PUBLISHED = PreparedQuery(lambda project: _versions(project).filter(is_draft=False)[:1], kinds=(UUID,))


def publish_draft(project: Project, *, started_from: int, author: User, note: str = "") -> AgentVersion:
    """Save the draft as the version that customers meet from the next turn on. Must run in a transaction.

    Raises NewerVersion if `started_from` is no longer the newest version, NothingToPublish, SettingsRefused.
    """
    state = _locked(project, started_from=started_from)
    if not state.changes:
        raise NothingToPublish
    config = checked_config(state.newest.document)
    _check(project, config, state)
    publish_key(project, old_url=state.model_url, new_url=config.model_base_url)
    return save_agent(project, config=config, author=author, note=note or _summary(state))


def discard_draft(project: Project, *, started_from: int, author: User) -> AgentVersion:
    """Return the draft to the published settings; what it held stays in the history. Must run in a transaction.

    Raises NewerVersion, SettingsRefused.
    """
    state = _locked(project, started_from=started_from)
    unset_attribute(project, DRAFT_MODEL_KEY)
    config = checked_config(state.published.document)
    return save_agent(project, config=config, author=author, note="Draft discarded", is_draft=True)


def restore_agent_version(project: Project, number: int, *, started_from: int, author: User) -> AgentVersion:
    """Publish an earlier version again, or return the draft to an earlier save of it. Must run in a transaction.

    What the draft has changed since is kept, and rebased on the restored version. While a model key is stored, the
    current model address is kept, because the key was entered for it. Raises NewerVersion if `started_from` is no
    longer the newest version, SettingsRefused, AgentVersion.DoesNotExist.
    """
    old = AgentVersion.objects.get(project=project, number=number)
    state = _locked(project, started_from=started_from)
    document = dict(old.document)
    if has_stored_key(project):
        kept = state.newest if old.is_draft else state.published
        document["model_base_url"] = kept.document.get("model_base_url", "")
    config = checked_config(document)
    _check(project, config, state)
    note = f"Restored version {number}"
    restored = save_agent(project, config=config, author=author, note=note, is_draft=old.is_draft)
    if state.draft and not old.is_draft:
        _rebase_draft(project, state, onto=restored)
    return restored


def change_published(project: Project, values: Mapping[str, Any], *, author: User, note: str) -> AgentVersion:
    """Publish other values of some settings at once; the draft is rebased on them. Must run in a transaction.

    Concurrent changes run one after the other. Raises SettingsRefused.
    """
    latest_agent_version(project)
    state = read_draft(project)
    config = checked_config({**current_document(state.published), **values})
    _check(project, config, state)
    published = save_agent(project, config=config, author=author, note=note)
    if state.draft:
        _rebase_draft(project, state, onto=published)
    return published


def _state(published: AgentVersion, newest: AgentVersion) -> DraftState:
    if not newest.is_draft:
        return DraftState(newest, newest, [])
    changes = differences(current_document(published), current_document(newest))
    return DraftState(published, newest, changes)


def _locked(project: Project, *, started_from: int) -> DraftState:
    newest = latest_agent_version(project)
    if newest.number != started_from:
        raise NewerVersion
    return read_draft(project)


def _check(project: Project, config: AgentConfig, state: DraftState) -> None:
    check_new_url(config.model_base_url, current=state.model_url)
    check_size(project, config, current=current_document(state.published))


def _rebase_draft(project: Project, state: DraftState, *, onto: AgentVersion) -> None:
    """Save the draft again on top of another published version. Where both changed the same, the draft's value holds."""
    base, theirs, mine = (current_document(version) for version in (state.published, onto, state.newest))
    merged = {name: merge(base.get(name), theirs=theirs.get(name), mine=value).value for name, value in mine.items()}
    try:
        config = checked_config(merged)
    except SettingsRefused:
        config = checked_config(mine)
    save_agent(project, config=config, author=state.newest.author, note=state.newest.note, is_draft=True)


def _summary(state: DraftState) -> str:
    """The draft's changes in one line of the history, always in English."""
    with override(settings.LANGUAGE_CODE):
        return summary_of(differences(current_document(state.published), current_document(state.newest)))
