"""The widget's calls: a visitor's browser and the provider exchange their SDP over these endpoints, and no audio."""

from __future__ import annotations

from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.calls.web_calls import LONGEST_OFFER, BrowserEvent, browser_payload, note_event
from conversations.models import Call
from conversations.widget.errors import NoConversation
from conversations.widget.limits import CALL_REPORTS, CALLS
from conversations.widget.views import WidgetView
from conversations.widget.visitors import find_call, start_visitor_call
from projects.api.idempotency import idempotent
from projects.api.serializers import StrictSerializer, TextField
from projects.common.addresses import client_range


class OfferInput(StrictSerializer):
    offer = TextField(longest=LONGEST_OFFER)


class BrowserReportInput(StrictSerializer):
    """An event of the browser's side of the call."""

    event = serializers.ChoiceField(choices=BrowserEvent.choices)


class Calls(WidgetView):
    @idempotent
    def post(self, request: Request, key: str) -> Response:
        """Start a call with the browser's offer. Its answer is read from the call."""
        self.count(CALLS, self.visitor)
        offer = self.valid(OfferInput)["offer"]
        call = start_visitor_call(self.project, self.visitor, offer=offer, address=client_range(request))
        return Response(browser_payload(call), status=202)


class VisitorCall(WidgetView):
    def get(self, request: Request, key: str, visitor_call_id: UUID) -> Response:
        """The call's state, and the provider's answer once it is there."""
        return Response(browser_payload(self._call(visitor_call_id)))

    def post(self, request: Request, key: str, visitor_call_id: UUID) -> Response:
        """Report that the audio is connected, or hang up."""
        event = BrowserEvent(self.valid(BrowserReportInput)["event"])
        return Response(browser_payload(note_event(self._call(visitor_call_id), event)))

    def _call(self, call_id: UUID) -> Call:
        """The visitor's own call. Raises NoConversation."""
        self.count(CALL_REPORTS, self.visitor)
        call = Call.objects.filter(project_id=self.project.pk, pk=call_id).first()
        if call is None or find_call(self.project, self.visitor, str(call.conversation_id)) is None:
            raise NoConversation
        return call
