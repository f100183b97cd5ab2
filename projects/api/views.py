"""The base of every API view: one tenant, one caller, one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any, ClassVar, TypeVar

from django.core.exceptions import ImproperlyConfigured
from django.db.models import Model, QuerySet
from django.http import QueryDict
from drf_spectacular.utils import OpenApiParameter
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from projects.api.authentication import READING, Caller, PendingAuth, TenantAuthentication, not_authenticated
from projects.api.pagination import PAGED, Pages
from projects.api.schema import Schema
from projects.api.typed_responses import Page, TypedResponse
from projects.common.api_error import ApiError
from projects.models import Project
from projects.models.key import Scope
from tenancy.scope import tenant_tx

# How a signed-in browser may name its project where it can send no header.
PROJECT = "project"
LONGEST_SHOWN = 100
# How much of two names has to be the same: so that `status` is taken for `state`, and `trace` is not.
ALIKE = 0.7


def check_query(asked: QueryDict, *, declared: Iterable[OpenApiParameter], others: Sequence[str] = ()) -> None:
    """Refuse what would be passed over although it was meant, or find nothing: a misspelt parameter, one sent twice, and a
    value that isn't among those that a parameter declares. `others` are names that any view takes. Raises ApiError.
    """
    choices = {parameter.name: parameter.enum for parameter in declared}
    known = [*choices, *others]
    for name, values in asked.lists():
        if name in known:
            if len(values) > 1:
                raise ApiError("repeated_parameter", f"{name} stands in the address twice; send it once.", field=name)
            _check_choice(name, values[0], choices=choices.get(name))
        elif near := get_close_matches(name[:LONGEST_SHOWN], known, n=1, cutoff=ALIKE):
            raise ApiError("unknown_parameter", _refusal(name, near[0], known=known), field=name[:LONGEST_SHOWN])


def _check_choice(name: str, value: str, *, choices: Sequence[Any] | None) -> None:
    if not choices or not value or value in choices:
        return
    near = get_close_matches(value[:LONGEST_SHOWN].lower(), choices, n=1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    raise ApiError(f"invalid_{name}", f"{name} must be one of: {', '.join(choices)}.{hint}", field=name)


def _refusal(name: str, near: str, *, known: Sequence[str]) -> str:
    return (
        f"Unknown parameter '{name[:LONGEST_SHOWN]}'. Did you mean '{near}'? These are right here: {', '.join(known)}."
    )


class JsonAlways(BaseContentNegotiation):
    """JSON is all there is, whatever the client accepts; a stream is its view's own affair."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        essence = request.content_type.split(";", 1)[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == essence), None)

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        renderer = next(iter(renderers))
        return renderer, str(renderer.media_type)


class TenantView(APIView):
    """Runs caller, scope, throttle and handler in one `tenant_tx` of the caller's organization.

    An exception rolls everything back; `on_commit` hooks run before the answer leaves. A handler that returns an error
    instead of raising it commits. Don't wait for a model or a customer in a handler: the transaction is open.
    """

    scopes: ClassVar[Mapping[str, Scope]] = {}
    # What may stand behind the `?`, by HTTP method. A slip, and a value that none of `enum` is, reach no handler.
    queries: ClassVar[Mapping[str, Sequence[OpenApiParameter]]] = {}
    # Methods that find all they need by keys.
    plans_once: ClassVar[frozenset[str]] = frozenset()
    http_method_names = ["get", "post", "put", "patch", "delete", "head"]
    content_negotiation_class = JsonAlways
    metadata_class = None
    format_kwarg = None
    schema = Schema()

    request: Request
    caller: Caller

    @property
    def project(self) -> Project:
        """The project that the key belongs to, or that the member is in."""
        return self.caller.project

    def replay(self, answer: Any, *, status: int) -> Response:
        """The response to a repeated request, made of the stored answer to the first."""
        return Response(answer, status=status)

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        self.args, self.kwargs = args, kwargs
        self.request = self.initialize_request(request, *args, **kwargs)
        self.headers = self.default_response_headers
        try:
            response = self._answer(self.request, *args, **kwargs)
        except Exception as error:
            # DRF's edge: the handler logs what it doesn't know.
            response = self.handle_exception(error)
        answer = self.finalize_response(self.request, response, *args, **kwargs)
        self._untie()
        return answer

    def _untie(self) -> None:
        """What holds the view, and is held by it, would outlive the answer until a collection finds both, which stops everybody."""
        self.request.parser_context = {}
        vars(self).pop("head", None)

    def _answer(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        entrance = self._find_entrance(request)
        with tenant_tx(entrance.organization_id, plans_once=request.method in self.plans_once):
            self.caller = request.auth = entrance.admit()
            request.user = self.caller.user  # type: ignore[assignment]  # a key is nobody's
            self.initial(request, *args, **kwargs)
            handler = self._handler()
            if handler != self.http_method_not_allowed:
                self._check_query(request)
            return handler(request, *args, **kwargs)

    def _find_entrance(self, request: Request) -> PendingAuth:
        # The first kind of credentials that the request carries decides.
        for authenticator in request.authenticators or ():
            if isinstance(authenticator, TenantAuthentication):
                entrance = authenticator.find_entrance(request)
                if entrance is not None:
                    return entrance
        raise not_authenticated()

    def _check_query(self, request: Request) -> None:
        # A browser asks for leave at the very address that it is going to call.
        if request.method == "OPTIONS":
            return
        method = READING.get(request.method or "", request.method or "")
        own = [PROJECT] if self.caller.member else []
        check_query(request.query_params, declared=self.queries.get(method, ()), others=own)

    def _handler(self) -> Callable[..., Response]:
        method = (self.request.method or "").lower()
        if method not in self.http_method_names:
            return self.http_method_not_allowed
        return getattr(self, method, self.http_method_not_allowed)


M = TypeVar("M", bound=Model)
P = TypeVar("P")


@cache
def _checker(serializer: type[BaseSerializer[Any]]) -> BaseSerializer[Any]:
    """One serializer of a kind for all bodies: its fields are made once, and checking a body leaves nothing in it."""
    return serializer()


class ProjectView(TenantView):
    """A view of the caller's project."""

    ordering: str

    def valid(self, serializer: type[BaseSerializer[Any]]) -> dict[str, Any]:
        """The request's body, checked. Raises ValidationError, which names the field."""
        checker = _checker(serializer)  # type: ignore[arg-type]  # mypy takes no class for a key
        return dict(checker.run_validation(self.request.data))

    def page(self, rows: QuerySet[M], present: Callable[[M], P], *, ordering: str = "-id") -> TypedResponse[Page[P]]:
        """One page of rows, and where the next one is. A view that takes no `limit` and `cursor` is a mistake."""
        if not {*PAGED} <= {*self.queries.get("GET", ())}:
            raise ImproperlyConfigured(f"{type(self).__name__}.queries has no PAGED for GET.")
        pages, self.ordering = Pages(), ordering
        found = pages.paginate_queryset(rows, self.request, view=self) or []
        return pages.get_paginated_response([present(row) for row in found])
