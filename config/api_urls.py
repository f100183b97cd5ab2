"""Everything under /api/v1/."""

from __future__ import annotations

from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from jobs import api as jobs
from projects.api import attributes
from tools import api as tools

urlpatterns = [
    path("", include("conversations.api.urls")),
    path("attributes", attributes.Attributes.as_view()),
    path("attributes/<str:key>", attributes.AttributeDetail.as_view()),
    path("tools", tools.Tools.as_view()),
    path("effects", tools.Effects.as_view()),
    path("model-calls/<uuid:call_id>", jobs.ModelCallDetail.as_view()),
    path("jobs/failed", jobs.FailedJobs.as_view()),
    path("jobs/<uuid:job_id>/run-again", jobs.RunAgain.as_view()),
    path(
        "schema/",
        SpectacularAPIView.as_view(authentication_classes=[], permission_classes=[], throttle_classes=[]),
        name="schema",
    ),
    path(
        "docs/",
        SpectacularSwaggerSplitView.as_view(
            url_name="schema", authentication_classes=[], permission_classes=[], throttle_classes=[]
        ),
        name="api_docs",
    ),
]
