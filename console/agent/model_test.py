"""The model test: one call with the submitted settings, before they are saved."""

from __future__ import annotations

from http import HTTPStatus
from math import ceil
from typing import cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect
from django.utils.translation import gettext

from console.agent.forms.models import SKILLS
from console.agent.nested_form_data import Node, read_entries, text_of
from console.agent.page import form_context, tab_url
from console.agent.sections import MODELS, complete
from console.agent.settings import show_section
from llm.types import ModelSpec
from projects.agents.agent_versions import check_model_url
from projects.agents.drafts import read_draft
from projects.agents.model_check import ModelCheck, check_model
from projects.agents.model_choice import default_model, operator_endpoint, own_endpoint
from projects.agents.model_key import key_for_test
from projects.api.throttling import seconds_to_wait
from projects.common.stored_sentences import translated
from projects.models import User
from projects.models.agent_errors import SettingsRefused, checked_config
from projects.models.key import Scope
from projects.models.permissions import Entry, enter_project
from tenancy.scope import tenant_tx
from tenancy.threads import in_db

# Per project: each test calls an address chosen by its members, or uses the operator's key.
TRIALS_PER_MINUTE = 10


@login_required
async def model_test(request: HttpRequest, project_slug: str) -> HttpResponseBase:
    """Make one small model call with the submitted settings and report the result; 429 above the rate limit.

    Nothing is saved, and no transaction is open during the call.
    """
    user = cast(User, await request.auser())
    entry = await in_db(enter_project, user, project_slug, verb=Scope.CONFIGURE)
    if request.method != "POST":
        return redirect(tab_url(project_slug, MODELS.slug))
    entries = read_entries(request.POST)
    wait = await in_db(_seconds_to_wait, entry)
    trial = _too_many(wait) if wait else await _trial(entry, entries)
    response = await in_db(_answer, request, entry, entries, trial)
    if wait:
        response.status_code = HTTPStatus.TOO_MANY_REQUESTS
        response.headers["Retry-After"] = str(wait)
    return response


def _seconds_to_wait(entry: Entry) -> int:
    return ceil(seconds_to_wait(f"model_test:{entry.project.pk}", per_minute=TRIALS_PER_MINUTE))


def _too_many(wait: int) -> ModelCheck:
    return ModelCheck(
        False,
        gettext("Limit of %(trials_per_minute)s tests per minute reached. Try again in %(wait)s s.")
        % {"trials_per_minute": TRIALS_PER_MINUTE, "wait": wait},
    )


async def _trial(entry: Entry, entries: Node) -> ModelCheck:
    try:
        return await check_model(await in_db(_model, entry, entries))
    except SettingsRefused as refusal:
        return ModelCheck(False, " ".join(map(str, refusal.errors.values())))


def _model(entry: Entry, entries: Node) -> ModelSpec:
    """The model to test. Raises SettingsRefused."""
    changes = MODELS.read(entries)
    skill = next((skill for skill in SKILLS if skill == text_of(entries, "test")), SKILLS[0])
    with tenant_tx(entry.project.organization.pk):
        document = complete(read_draft(entry.project).newest.document)
        config = checked_config({**document, **changes})
        name = config.models.get(skill, default_model(skill))
        if not config.model_base_url:
            return ModelSpec(endpoint=operator_endpoint(), model=name)
        check_model_url(config.model_base_url)
        saved_url, typed = document["model_base_url"], text_of(entries, "model_api_key")
        key = key_for_test(entry.project, typed=typed, url=config.model_base_url, saved_url=saved_url)
    return ModelSpec(endpoint=own_endpoint(config.model_base_url, key=key), model=name)


def _answer(request: HttpRequest, entry: Entry, entries: Node, trial: ModelCheck) -> HttpResponse:
    """The result as JSON, or without JavaScript as the page with the submitted values."""
    if request.headers.get("Accept") == "application/json":
        return JsonResponse({"ok": trial.is_ok, "sentence": translated(trial.sentence)})
    context = form_context(request, entry, MODELS, changes=MODELS.read(entries))
    return show_section(request, {**context, "trial": trial}, entry)
