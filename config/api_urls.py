"""URLs under /api/v1/."""

from __future__ import annotations

from django.urls import include, path
from drf_spectacular.views import SpectacularSwaggerSplitView

from jobs import api as jobs
from projects.agents import attributes_api
from projects.api.schema_view import schema
from projects.knowledge import api as knowledge
from tools import api as tools
from tools.engine.custom import api as custom
from tools.engine.events import api as events
from tools.engine.validation import api as checking
from tools.evaluation import api as evaluation
from tools.services.orders import api as orders

urlpatterns = [
    path("", include("conversations.api.urls")),
    path("", include("tools.services.bookings.api_urls")),
    path("", include("todos.api.urls")),
    path("attributes", attributes_api.Attributes.as_view()),
    path("attributes/<str:key>", attributes_api.AttributeDetail.as_view()),
    path("knowledge", knowledge.Articles.as_view()),
    path("knowledge/<slug:slug>", knowledge.ArticleDetail.as_view()),
    path("tools", tools.Tools.as_view()),
    path("tools/check", checking.CheckedTools.as_view()),
    path("custom-tools", custom.CustomTools.as_view()),
    path("custom-tools/<str:name>", custom.CustomToolDetail.as_view()),
    path("custom-tools/<str:name>/versions", custom.CustomToolVersions.as_view()),
    path("custom-tools/<str:name>/restore", custom.RestoreCustomTool.as_view()),
    path("custom-tools/<str:name>/signing-secret", custom.SigningSecret.as_view()),
    path("custom-tools/<str:name>/secret-headers", custom.CustomToolSecretHeaders.as_view()),
    path("event-subscriptions", events.EventSubscriptions.as_view()),
    path("event-subscriptions/<uuid:subscription_id>", events.EventSubscriptionDetail.as_view()),
    path("event-subscriptions/<uuid:subscription_id>/secret", events.RotateSubscriptionSecret.as_view()),
    path("event-subscriptions/<uuid:subscription_id>/test", events.try_subscription),
    path("promises", tools.Promises.as_view()),
    path("promises/<uuid:promise_id>/answer", tools.AnswerPromise.as_view()),
    path("effects", tools.Effects.as_view()),
    path("effects/<uuid:effect_id>", tools.EffectDetail.as_view()),
    path("orders", orders.orders),
    path("evaluation-cases", evaluation.KeptCases.as_view()),
    path("evaluation-cases/<uuid:case_id>", evaluation.KeptCaseDetail.as_view()),
    path("model-calls/<uuid:call_id>", jobs.ModelCallDetail.as_view()),
    path("jobs/failed", jobs.FailedJobs.as_view()),
    path("jobs/<uuid:job_id>/run-again", jobs.RunAgain.as_view()),
    path("schema/", schema, name="schema"),
    path(
        "docs/",
        SpectacularSwaggerSplitView.as_view(
            url_name="schema",
            template_name="api_docs.html",
            authentication_classes=[],
            permission_classes=[],
            throttle_classes=[],
        ),
        name="api_docs",
    ),
]
