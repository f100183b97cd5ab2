"""API of the knowledge base."""

from __future__ import annotations

from typing import ClassVar

from django.http import Http404
from django.utils.translation import gettext
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from projects.api.idempotency import idempotent
from projects.api.pagination import PAGED
from projects.api.serializers import StrictSerializer, TextField
from projects.api.typed_responses import Created, Page, TypedResponse
from projects.api.views import ProjectView
from projects.common.api_error import ApiError
from projects.common.numbers import grouped
from projects.knowledge.presenters import (
    ArticleLinePayload,
    ArticlePayload,
    FoundArticlePayload,
    article_line,
    article_payload,
    found_payload,
)
from projects.knowledge.search import LONGEST_QUESTION, search_articles
from projects.knowledge.services import (
    NoSuchArticle,
    Writer,
    change_article,
    delete_article,
    find_article,
    publish_article,
    unpublish_article,
    write_article,
)
from projects.knowledge.text import LONGEST_BODY, LONGEST_EXCERPT, LONGEST_TITLE, ArticleText
from projects.models import Article
from projects.models.key import Scope

MOST_FOUND = 20
ANSWERS = {"true": True, "false": False}


class ArticleInput(StrictSerializer):
    title = TextField(longest=LONGEST_TITLE)
    excerpt = TextField(longest=LONGEST_EXCERPT, allow_blank=True, default="")
    body = TextField(longest=LONGEST_BODY, help_text="Plain text or Markdown.")
    published = serializers.BooleanField(default=False)


class ArticleChange(StrictSerializer):
    title = TextField(longest=LONGEST_TITLE)
    excerpt = TextField(longest=LONGEST_EXCERPT, allow_blank=True, default="")
    body = TextField(longest=LONGEST_BODY, help_text="Plain text or Markdown.")
    published = serializers.BooleanField(required=False, help_text="Unchanged if omitted.")
    version = serializers.IntegerField(
        min_value=1, max_value=2**31 - 1, required=False, help_text="Save only if this is the current version."
    )


class KnowledgeView(ProjectView):
    """Base view for the project's articles."""

    @property
    def writer(self) -> Writer:
        return Writer(self.caller.user, self.caller.name)

    def article(self, slug: str) -> Article:
        try:
            return find_article(self.project, slug)
        except NoSuchArticle:
            raise Http404 from None

    def asked_state(self) -> bool | None:
        """The `?published=` filter. Raises ApiError for anything but true and false."""
        text = self.request.query_params.get("published")
        if text is not None and text not in ANSWERS:
            raise ApiError("invalid_filter", gettext("published must be true or false."), field="published")
        return ANSWERS[text] if text is not None else None


class Articles(KnowledgeView):
    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.CONFIGURE}
    queries: ClassVar = {
        "GET": (
            OpenApiParameter(
                "q",
                {"type": "string", "maxLength": LONGEST_QUESTION},
                description="A question. Returns the articles that answer it, best first.",
            ),
            OpenApiParameter("published", bool, description="Only published articles (true) or only drafts (false)."),
            *PAGED,
        )
    }

    @extend_schema(operation_id="knowledge_list")
    def get(self, request: Request) -> TypedResponse[Page[ArticleLinePayload] | Page[FoundArticlePayload]]:
        """List articles by title, without their bodies. With `q`, search them and return passages."""
        state, question = self.asked_state(), request.query_params.get("q", "")
        if question.strip():
            return self.whole(self._found(question, state))
        rows = Article.objects.filter(project=self.project)
        if state is not None:
            rows = rows.filter(published_at__isnull=not state)
        return self.page(rows, lambda article: article_line(article, self.project), ordering="title")

    @extend_schema(operation_id="knowledge_create", request=ArticleInput)
    @idempotent
    def post(self, request: Request) -> Created[ArticlePayload]:
        """Create an article. Its slug is made from the title, and doesn't change with it."""
        data = self.valid(ArticleInput)
        is_published = data.pop("published")
        article = write_article(self.project, ArticleText(**data), by=self.writer, is_published=is_published)
        return Created(article_payload(article, self.project))

    def _found(self, question: str, state: bool | None) -> list[FoundArticlePayload]:
        if len(question) > LONGEST_QUESTION:
            raise ApiError(
                "too_long",
                gettext("q has %(question)s characters; the limit is %(longest_question)s.")
                % {"question": grouped(len(question)), "longest_question": grouped(LONGEST_QUESTION)},
                field="q",
            )
        found = search_articles(self.project.pk, question, most=MOST_FOUND, drafts=state is not True)
        return [found_payload(one, self.project) for one in found if state in (None, one.is_published)]


class ArticleDetail(KnowledgeView):
    scopes: ClassVar = {"GET": Scope.READ, "PUT": Scope.CONFIGURE, "DELETE": Scope.CONFIGURE}

    @extend_schema(operation_id="knowledge_read")
    def get(self, request: Request, slug: str) -> TypedResponse[ArticlePayload]:
        """Retrieve an article, published or not."""
        return TypedResponse(article_payload(self.article(slug), self.project))

    @extend_schema(operation_id="knowledge_write", request=ArticleChange)
    def put(self, request: Request, slug: str) -> TypedResponse[ArticlePayload]:
        """Replace the text of an article. 409 if `version` is not the current version."""
        data, article = self.valid(ArticleChange), self.article(slug)
        text = ArticleText(title=data["title"], excerpt=data["excerpt"], body=data["body"])
        try:
            change_article(article, text, by=self.writer, started_from=data.get("version"))
        except NoSuchArticle:
            # Deleted since the lookup.
            raise Http404 from None
        if "published" in data:
            (publish_article if data["published"] else unpublish_article)(article, by=self.writer)
        return TypedResponse(article_payload(self.article(slug), self.project))

    @extend_schema(operation_id="knowledge_delete", responses={204: None})
    def delete(self, request: Request, slug: str) -> Response:
        """Delete an article permanently."""
        delete_article(self.article(slug), by=self.writer)
        return Response(status=204)
