"""Creating, changing, publishing and deleting articles. Every change is recorded in the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, cast
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils.text import slugify
from django.utils.translation import gettext

from projects.common.api_error import Conflict
from projects.knowledge.indexing import UNKNOWN, index_articles, language_of
from projects.knowledge.storage import admit_bytes
from projects.knowledge.text import ArticleText
from projects.models import Article, AuditAction, Project, User
from projects.models.organization import lock_project
from projects.records.audit import record_change
from tenancy.write_batch import update_row

LONGEST_SLUG = 100
MOST_ARTICLES = 20_000


class NoSuchArticle(Exception):
    """The project has no article with this slug."""


class TooManyArticles(Conflict):
    """This project has reached its limit of articles. Delete some first."""


class ChangedMeanwhile(Conflict):
    """Someone else changed the same article; `article` is its current state."""

    def __init__(self, article: Article) -> None:
        super().__init__(
            gettext("Someone saved version %(version)s while you were editing. Review it, and save with its number.")
            % {"version": article.version},
            code="changed_meanwhile",
        )
        self.article = article


@dataclass(frozen=True)
class Writer:
    """The author of a change: a member, or the name of an API key or command."""

    user: User | None
    name: str = ""


def find_article(project: Project, slug: str) -> Article:
    """The project's article with a slug, published or not. Raises NoSuchArticle."""
    found = Article.objects.select_related("author").filter(project=project, slug=slug).first()
    if found is None:
        raise NoSuchArticle(NoSuchArticle.__doc__)
    return found


def write_article(project: Project, text: ArticleText, *, by: Writer, is_published: bool = False) -> Article:
    """Create an article with a slug made from its title. Raises ArticleRefused, TooManyArticles, Conflict if the storage is full.

    Concurrent calls are serialized per project; a slug that is taken gets a numeric suffix.
    """
    checked = text.checked()
    lock_project(project.pk)
    if Article.objects.filter(project=project).count() >= MOST_ARTICLES:
        raise TooManyArticles
    admit_bytes(project, checked.size)
    article = Article.objects.create(
        project=project,
        slug=free_slug(project, checked.title),
        language=_language(project, checked),
        author=by.user,
        **asdict(checked),
    )
    index_articles([article.pk])
    _record(AuditAction.ARTICLE_WRITTEN, article, by=by, after=_facts(checked, article))
    if is_published:
        publish_article(article, by=by)
    return article


def change_article(article: Article, text: ArticleText, *, by: Writer, started_from: int | None = None) -> bool:
    """Replace an article's text. Returns False, and saves nothing, if nothing changed.

    `started_from` is the edited version. If another version with a different text is current, raises ChangedMeanwhile
    and saves nothing; of two concurrent edits, the second raises. Raises ArticleRefused, NoSuchArticle.
    """
    checked = text.checked()
    current = Article.objects.select_for_update().filter(pk=article.pk).first()
    if current is None:
        raise NoSuchArticle(NoSuchArticle.__doc__)
    before = text_of(current)
    if checked == before:
        return False
    if started_from not in (None, current.version):
        raise ChangedMeanwhile(find_article(article.project, current.slug))
    changes = {name: value for name, value in asdict(checked).items() if value != getattr(before, name)}
    admit_bytes(article.project, checked.size - before.size)
    for name, value in changes.items():
        setattr(article, name, value)
    article.version, article.author, article.language = (
        current.version + 1,
        by.user,
        _language(article.project, checked),
    )
    update_row(article, (*changes, "version", "author", "language", "updated_at"))
    index_articles([article.pk])
    _record(
        AuditAction.ARTICLE_CHANGED,
        article,
        by=by,
        before=_facts(before, current, only=changes),
        after=_facts(checked, article, only=changes),
    )
    return True


def publish_article(article: Article, *, by: Writer) -> bool:
    """Make an article visible to customers and the agent. Returns False if it already was."""
    if Article.objects.filter(pk=article.pk, published_at=None).update(published_at=Now()) != 1:
        return False
    article.refresh_from_db(fields=["published_at"])
    _record(AuditAction.ARTICLE_PUBLISHED, article, by=by, before={"published": "no"}, after={"published": "yes"})
    return True


def unpublish_article(article: Article, *, by: Writer) -> bool:
    """Turn an article back into a draft, effective immediately. Returns False if it already was one."""
    if Article.objects.filter(pk=article.pk, published_at__isnull=False).update(published_at=None) != 1:
        return False
    article.published_at = None
    _record(AuditAction.ARTICLE_UNPUBLISHED, article, by=by, before={"published": "yes"}, after={"published": "no"})
    return True


def delete_article(article: Article, *, by: Writer) -> bool:
    """Delete an article permanently; the audit log keeps its title. Returns False if it was already gone."""
    facts = _facts(text_of(article), article)
    if Article.objects.filter(pk=article.pk).delete()[1].get(Article._meta.label, 0) != 1:
        return False
    _record(AuditAction.ARTICLE_DELETED, article, by=by, before=facts)
    return True


def restore_article(article: Article, *, by: Writer) -> None:
    """Store an article again that has just been deleted, as it was. Raises Conflict if its address is taken by now."""
    try:
        with transaction.atomic():
            article.save(force_insert=True)
    except IntegrityError:
        raise Conflict(gettext("Another article now has this address."), code="slug_taken") from None
    index_articles([article.pk])
    _record(AuditAction.ARTICLE_RESTORED, article, by=by, after=_facts(text_of(article), article))


def text_of(article: Article) -> ArticleText:
    return ArticleText(title=article.title, excerpt=article.excerpt, body=article.body)


def free_slug(project: Project, title: str) -> str:
    """An unused slug made from a title, or from "article" if the title has no Latin letters."""
    base = slugify(title)[:LONGEST_SLUG].strip("-") or "article"
    taken = set(Article.objects.filter(project=project, slug__startswith=base).values_list("slug", flat=True))
    numbered = (f"{base}-{number}" for number in range(2, len(taken) + 3))
    return base if base not in taken else next(slug for slug in numbered if slug not in taken)


def _language(project: Project, text: ArticleText) -> str:
    """The language of a text. If it can't be detected, the language of the project's newest article that has one."""
    found = language_of(f"{text.title} {text.excerpt} {text.body}")
    if found != UNKNOWN:
        return found
    newest = Article.objects.filter(project=project).exclude(language=UNKNOWN).order_by("-id").first()
    return newest.language if newest else UNKNOWN


def _facts(text: ArticleText, article: Article, *, only: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The text as the audit log stores it; the body is represented by its length."""
    facts = {
        "title": text.title,
        "excerpt": text.excerpt,
        "body": f"version {article.version}, {len(text.body):,} characters",
    }
    return {name: fact for name, fact in facts.items() if fact and (only is None or name in only)}


def _record(
    action: AuditAction,
    article: Article,
    *,
    by: Writer,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    record_change(
        action,
        organization_id=cast(UUID, article.organization_id),
        by=by.user,
        actor=by.name,
        subject=article.title,
        project=article.project,
        before=before,
        after=after,
    )
