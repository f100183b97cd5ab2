"""URLs under /api/v1/."""

from __future__ import annotations

from django.urls import include, path

from console.api_docs.views import api_docs
from jobs import api as jobs
from jobs import usage_api
from notices import api as notices
from privacy import api as privacy
from projects.agents import attributes_api
from projects.api.schema_view import schema
from projects.knowledge import api as knowledge
from tools import api as tools
from tools.engine.custom import api as custom
from tools.engine.events import api as events
from tools.engine.limits import api as limits_api
from tools.engine.validation import api as checking
from tools.evaluation import api as evaluation
from tools.evaluation import runs_api
from tools.services.orders import api as orders

urlpatterns = [
    path("", include("conversations.api.urls")),
    path("personas/<uuid:persona_id>", privacy.ErasablePersona.as_view()),
    path("personas/<uuid:persona_id>/export", privacy.export_customer),
    path("erasures", privacy.Erasures.as_view()),
    path("erasures/<uuid:erasure_id>", privacy.ErasureDetail.as_view()),
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
    path("orders", orders.orders),
    path("evaluation-cases", evaluation.KeptCases.as_view()),
    path("evaluation-cases/<uuid:case_id>", evaluation.KeptCaseDetail.as_view()),
    path("evaluation-runs", runs_api.EvaluationRuns.as_view()),
    path("evaluation-runs/<uuid:run_id>", runs_api.EvaluationRunDetail.as_view()),
    path("evaluation-runs/<uuid:run_id>/cancel", runs_api.CancelEvaluationRun.as_view()),
    path("model-calls/<uuid:call_id>", jobs.ModelCallDetail.as_view()),
    path("notices", notices.Notices.as_view()),
    path("notices/read", notices.ReadNotices.as_view()),
    path("usage", usage_api.UsageView.as_view()),
    path("limits", limits_api.Limits.as_view()),
    path("limits/<str:limit_name>", limits_api.LimitDetail.as_view()),
    path("organization-limits/<str:limit_name>", limits_api.OrganizationLimitDetail.as_view()),
    path("limit-alerts/<uuid:alert_id>/lift", limits_api.LiftLimit.as_view()),
    path("jobs/failed", jobs.FailedJobs.as_view()),
    path("jobs/<uuid:job_id>/run-again", jobs.RunAgain.as_view()),
    path("schema/", schema, name="schema"),
    path("docs/", api_docs, name="api_docs"),
]
