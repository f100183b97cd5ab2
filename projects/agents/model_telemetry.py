"""Metrics and spans of model calls."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from urllib.parse import urlsplit

from django.conf import settings

from llm.client import TRANSCRIPTION
from llm.types import CallRecord, ChatRequest, Endpoint
from outbound.tenant import current_tenant
from telemetry.metrics import MODEL_CALLS, MODEL_COST, MODEL_FIRST_TOKEN, MODEL_SECONDS, MODEL_TOKENS
from telemetry.tracing import Attributes, Kind, is_tracing, record_span

# A project's own endpoint and model would name the tenant, and there could be any number of them.
OF_A_PROJECT = "project"
OTHER_MODEL = "other"
SECOND_MS = 1000
NANOSECONDS = 1_000_000


def observe_call(request: ChatRequest, record: CallRecord) -> None:
    """Count a call that ended, and record its span."""
    provider, model = provider_of(request.model.endpoint), _model_label(record.model)
    tenant = current_tenant()
    MODEL_CALLS.inc(provider, model, record.error_code or "ok", tenant=tenant)
    MODEL_SECONDS.observe(record.total_ms / SECOND_MS, provider, model)
    if record.first_token_ms is not None:
        MODEL_FIRST_TOKEN.observe(record.first_token_ms / SECOND_MS, provider, model)
    usage = record.usage
    for kind, tokens in (
        ("input", usage.input_tokens),
        ("cached", usage.cached_tokens),
        ("output", usage.output_tokens),
    ):
        if tokens:
            MODEL_TOKENS.inc(provider, model, kind, by=tokens, tenant=tenant)
    if record.cost_usd:
        MODEL_COST.inc(provider, model, by=float(record.cost_usd), tenant=tenant)
    if is_tracing():
        _record_span(record)


def provider_of(endpoint: Endpoint) -> str:
    """The label of an endpoint: the operator's by its host, all others together."""
    return _host(endpoint.base_url) if endpoint.trusted else OF_A_PROJECT


@cache
def _host(base_url: str) -> str:
    return urlsplit(base_url).netloc.rpartition("@")[2]


def _model_label(model: str) -> str:
    """The model's name if the operator knows it; projects may name any."""
    is_known = model in (settings.MODEL, settings.FAST_MODEL) or model in settings.MODEL_PRICES
    return model if is_known else OTHER_MODEL


def _record_span(record: CallRecord) -> None:
    began = _nanoseconds(record.started_at)
    record_span(
        f"{_operation(record)} {record.model}",
        kind=Kind.CLIENT,
        began_at_ns=began,
        ended_at_ns=began + record.total_ms * NANOSECONDS,
        attributes=_attributes(record),
        error=record.error_code or "",
    )


def _operation(record: CallRecord) -> str:
    """The name of the operation. OpenTelemetry has none for a transcription."""
    return TRANSCRIPTION if record.skill == TRANSCRIPTION else "chat"


def _attributes(record: CallRecord) -> Attributes:
    """OpenTelemetry's attributes of a call of a generative model, and our own."""
    host, _, port = record.host.partition(":")
    attributes: dict[str, str | int | tuple[str, ...]] = {
        "gen_ai.operation.name": _operation(record),
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": record.model,
        "gen_ai.usage.input_tokens": record.usage.input_tokens,
        "gen_ai.usage.output_tokens": record.usage.output_tokens,
        "server.address": host,
        "makegood.skill": record.skill,
        "makegood.attempts": record.attempts,
    }
    if port.isdecimal():
        attributes["server.port"] = int(port)
    if record.finish:
        attributes["gen_ai.response.finish_reasons"] = (record.finish.value,)
    if record.first_token_ms is not None:
        attributes["makegood.first_token_ms"] = record.first_token_ms
    return attributes


def _nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp() * SECOND_MS * SECOND_MS) * SECOND_MS
