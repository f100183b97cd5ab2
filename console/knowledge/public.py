"""The public page of an article: no scripts, cacheable for a minute."""

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

MAX_AGE_SECONDS = 60
# The language code of a text whose language isn't known.
UNDETERMINED = "und"
# The page may load styles and fonts only, and submit nothing.
POLICY = {"script-src": [NONE], "connect-src": [NONE], "form-action": [NONE], "style-src": [SELF]}


@csp_replace(POLICY)  # type: ignore[arg-type]  # its types know no view with arguments
@require_safe
def read_article(request: HttpRequest, project_slug: str, article_slug: str) -> HttpResponseBase:
    """Show a published article. Drafts, other projects' articles and unknown slugs all raise Http404."""
    response = HttpResponse(_page(project_slug, article_slug))
    response["Cache-Control"] = f"public, max-age={MAX_AGE_SECONDS}"
    response["ETag"] = etag = quote_etag(md5(response.content, usedforsecurity=False).hexdigest())
    return get_conditional_response(request, etag=etag, response=response) or response


def _page(project_slug: str, article_slug: str) -> str:
    """The page's HTML, rendered without the request so that nothing about the visitor can leak into caches."""
    location = find_project_by_slug(project_slug)
    if location is None:
        raise Http404
    with tenant_tx(location.organization_id):
        project = Project.objects.select_related("agent_version").get(pk=location.project_id)
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
        "lang": LANGUAGES.get(article.language, UNDETERMINED),
    }
    return render_to_string("knowledge/public.html", context)
