"""Base classes of API views: one tenant, one caller, one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any, ClassVar, NoReturn, TypeVar

from django.core.exceptions import ImproperlyConfigured
from django.db.models import Model, QuerySet
from django.http import QueryDict
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from projects.api.authentication import HEAD_AS_GET, Caller, PendingAuth, TenantAuthentication, not_authenticated
from projects.api.pagination import PAGED, Pages, check_page
from projects.api.schema import Schema
from projects.api.typed_responses import Page, TypedResponse
from projects.common.api_error import ApiError
from projects.models import Project
from projects.models.key import Scope
from tenancy.scope import tenant_tx

# The query parameter that selects the project for browsers that can't send a header.
PROJECT_PARAMETER = "project"
MAX_SHOWN = 100
# Similarity cutoff for suggestions: it matches `status` with `state`, but not `trace`.
SIMILARITY_CUTOFF = 0.7

M = TypeVar("M", bound=Model)
P = TypeVar("P")


class JsonOnlyNegotiation(BaseContentNegotiation):
    """Content negotiation that always selects JSON; streams choose their own type."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        essence = request.content_type.split(";", 1)[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == essence), None)

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        renderer = next(iter(renderers))
        return renderer, str(renderer.media_type)


class TenantView(APIView):
    """Runs authentication, scope check, throttle and handler in one `tenant_tx` of the caller's organization.

    An exception rolls everything back; `on_commit` hooks run before the response is sent. A handler that returns an
    error response instead of raising it commits. Handlers must not wait for a model or a customer, because the
    transaction is open.
    """

    scopes: ClassVar[Mapping[str, Scope]] = {}
    # Query parameters by HTTP method. Misspelled names and values outside an `enum` never reach the handler.
    queries: ClassVar[Mapping[str, Sequence[OpenApiParameter]]] = {}
    # Methods whose queries look rows up by key only, so that generic plans are safe.
    plans_once: ClassVar[frozenset[str]] = frozenset()
    http_method_names = ["get", "post", "put", "patch", "delete", "head"]
    content_negotiation_class = JsonOnlyNegotiation
    metadata_class = None
    format_kwarg = None
    schema = Schema()

    request: Request
    caller: Caller

    @property
    def project(self) -> Project:
        """The project of the API key, or the one that the member selected."""
        return self.caller.project

    def replay(self, answer: Any, *, status: int) -> Response:
        """The response to a repeated request, built from the stored response to the first."""
        return Response(answer, status=status)

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        self.args, self.kwargs = args, kwargs
        self.request = self.initialize_request(request, *args, **kwargs)
        self.headers = self.default_response_headers
        try:
            response = self._respond(self.request, *args, **kwargs)
        except Exception as error:
            # DRF's boundary: the exception handler logs unexpected errors.
            response = self.handle_exception(error)
        answer = self.finalize_response(self.request, response, *args, **kwargs)
        self._break_cycles()
        return answer

    def http_method_not_allowed(self, request: Any, *args: Any, **kwargs: Any) -> NoReturn:
        """Name the methods that the address takes."""
        methods = ", ".join(self.allowed_methods)
        raise ApiError("method_not_allowed", f"{request.method} isn't possible here. Use {methods}.", status=405)

    def _break_cycles(self) -> None:
        """Break reference cycles with the view. Otherwise both live until a garbage collection, which pauses every
        request.
        """
        self.request.parser_context = {}
        vars(self).pop("head", None)

    def _respond(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        pending = self._find_pending_auth(request)
        with tenant_tx(pending.organization_id, plans_once=request.method in self.plans_once):
            self.caller = request.auth = pending.admit()
            request.user = self.caller.user  # type: ignore[assignment]  # a key has no user
            self.initial(request, *args, **kwargs)
            handler = self._handler()
            if handler != self.http_method_not_allowed:
                self._check_query(request)
            return handler(request, *args, **kwargs)

    def _find_pending_auth(self, request: Request) -> PendingAuth:
        # The first kind of credentials found in the request is used.
        for authenticator in request.authenticators or ():
            if isinstance(authenticator, TenantAuthentication):
                pending = authenticator.find_pending_auth(request)
                if pending is not None:
                    return pending
        raise not_authenticated()

    def _check_query(self, request: Request) -> None:
        # A CORS preflight uses the query string of the actual request.
        if request.method == "OPTIONS":
            return
        method = HEAD_AS_GET.get(request.method or "", request.method or "")
        extra = [PROJECT_PARAMETER] if self.caller.member else []
        check_query(request.query_params, declared=self.queries.get(method, ()), others=extra)

    def _handler(self) -> Callable[..., Response]:
        method = (self.request.method or "").lower()
        if method not in self.http_method_names:
            return self.http_method_not_allowed
        return getattr(self, method, self.http_method_not_allowed)


class ProjectView(TenantView):
    """Base view for resources of the caller's project."""

    ordering: str

    def valid(self, serializer: type[BaseSerializer[Any]]) -> dict[str, Any]:
        """The validated request body. Raises ValidationError, which names the field."""
        checker = _shared_serializer(serializer)  # type: ignore[arg-type]  # mypy rejects a class as a cache key
        return dict(checker.run_validation(self.request.data))

    def whole(self, results: list[P]) -> TypedResponse[Page[P]]:
        """A list that is always one page. Raises ApiError for an invalid `limit` or `cursor`."""
        check_page(self.request)
        return TypedResponse({"results": results, "next": None})

    def page(
        self, rows: QuerySet[M] | list[M], present: Callable[[M], P], *, ordering: str = "-id"
    ) -> TypedResponse[Page[P]]:
        """One page of rows. Raises ImproperlyConfigured unless the view declares PAGED for GET."""
        if not {*PAGED} <= {*self.queries.get("GET", ())}:
            raise ImproperlyConfigured(f"{type(self).__name__}.queries has no PAGED for GET.")
        pages, self.ordering = Pages(), ordering
        found = pages.paginate_queryset(rows, self.request, view=self) or []
        return pages.get_paginated_response([present(row) for row in found])


@cache
def _shared_serializer(serializer: type[BaseSerializer[Any]]) -> BaseSerializer[Any]:
    """One serializer instance per class for all bodies: fields are built once, and validation leaves no state."""
    return serializer()


def check_query(params: QueryDict, *, declared: Iterable[OpenApiParameter], others: Sequence[str]) -> None:
    """Reject misspelled parameters, filters that a list doesn't have, repeated parameters, and values that a
    parameter's declaration excludes.

    Other names are ignored: clients and proxies add parameters of their own. `others` are names that every view accepts.
    Raises ApiError.
    """
    parameters = {parameter.name: parameter for parameter in declared}
    known = [*parameters, *others]
    for name, values in params.lists():
        if name not in known:
            _check_unknown(name, known=known)
        elif len(values) > 1:
            raise ApiError("repeated_parameter", f"{name} appears more than once; send it once.", field=name)
        elif name in parameters:
            _check_value(parameters[name], values[0])


def _check_unknown(name: str, *, known: Sequence[str]) -> None:
    shown = name[:MAX_SHOWN]
    near = get_close_matches(shown, known, n=1, cutoff=SIMILARITY_CUTOFF)
    if near or ("limit" in known and name in _parameters_of_all()):
        hint = f" Did you mean '{near[0]}'?" if near else ""
        message = f"Unknown parameter '{shown}'.{hint} Allowed here: {', '.join(known)}."
        raise ApiError("unknown_parameter", message, field=shown)


@cache
def _parameters_of_all() -> frozenset[str]:
    """The names of the parameters of all views, such as the filters of other lists."""
    views = [TenantView]
    for view in views:
        views += view.__subclasses__()
    return frozenset(one.name for view in views for declared in view.queries.values() for one in declared)


def _check_value(parameter: OpenApiParameter, value: str) -> None:
    is_boolean = parameter.type is OpenApiTypes.BOOL
    _check_choice(parameter.name, value, choices=("true", "false") if is_boolean else parameter.enum)
    longest = parameter.type.get("maxLength") if isinstance(parameter.type, dict) else None
    if longest is not None and len(value) > longest:
        message = f"{parameter.name} has {len(value)} characters. Use at most {longest}."
        raise ApiError("too_long", message, field=parameter.name)


def _check_choice(name: str, value: str, *, choices: Sequence[Any] | None) -> None:
    if not choices or not value or value in choices:
        return
    near = get_close_matches(value[:MAX_SHOWN].lower(), choices, n=1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    raise ApiError(f"invalid_{name}", f"{name} must be one of: {', '.join(choices)}.{hint}", field=name)
