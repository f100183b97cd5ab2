"""What a customer reads: a published article on a page without a script, that any cache may keep for a minute."""

from __future__ import annotations

from hashlib import md5

from csp.constants import NONE, SELF
from csp.decorators import csp_replace
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.template.loader import render_to_string
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from django.views.decorators.http import require_safe

from projects.knowledge.indexing import LANGUAGES
from projects.knowledge.markup import read_markup
from projects.knowledge.services import NoSuchArticle, find_article
from projects.models import Project
from tenancy.scope import tenant_tx
from tenancy.tenant_lookup import find_project_by_slug

KEPT_SECONDS = 60
# The page loads its style and its font, and nothing else; nothing on it can be sent anywhere.
POLICY = {"script-src": [NONE], "connect-src": [NONE], "form-action": [NONE], "style-src": [SELF]}


@csp_replace(POLICY)  # type: ignore[arg-type]  # its types know no view with arguments
@require_safe
def read_article(request: HttpRequest, project_slug: str, article_slug: str) -> HttpResponseBase:
    """A published article. A draft, another project's and one that never was are the same: Http404."""
    response = HttpResponse(_page(project_slug, article_slug))
    response["Cache-Control"] = f"public, max-age={KEPT_SECONDS}"
    response["ETag"] = etag = quote_etag(md5(response.content, usedforsecurity=False).hexdigest())
    return get_conditional_response(request, etag=etag, response=response) or response


def _page(project_slug: str, article_slug: str) -> str:
    """The page's HTML; made without the request, so that nothing of the visitor gets into it."""
    place = find_project_by_slug(project_slug)
    if place is None:
        raise Http404
    with tenant_tx(place.organization_id):
        project = Project.objects.select_related("agent_version").get(pk=place.project_id)
        try:
            article = find_article(project, article_slug)
        except NoSuchArticle:
            raise Http404 from None
    if not article.is_published:
        raise Http404
    business = project.agent_version.config.business_name if project.agent_version else project.name
    context = {
        "article": article,
        "business": business,
        "blocks": read_markup(article.body),
        "lang": LANGUAGES.get(article.language, ""),
    }
    return render_to_string("knowledge/public.html", context)
