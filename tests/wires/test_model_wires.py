"""The wire to the model's server falls silent: nobody closes it, and nothing arrives."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.conversations.conftest import Talk, begin
from tests.crashes.invariants import check, settle
from tests.processes import until
from tests.wires.conftest import Product, RemoteModel
from tests.wires.hosts import Network

pytestmark = pytest.mark.slow

ANSWER = "We open at noon, and we close at three. " * 6
# As long as the model may take to its first token.
SILENT_SECONDS = 20


@pytest.fixture
def talk(tenant: Any, product: Product, model: RemoteModel) -> Talk:
    """A conversation whose worker has connections to the model's server."""
    product.worker()
    talk = begin(tenant)
    talk.say("Hello")
    settle(tenant)
    return talk


def stay_silent(network: Network, talk: Talk) -> None:
    """Cut the wire for a while. Then everything is answered within 30 seconds, and nobody was told to come back."""
    network.cut("product", "model")
    time.sleep(SILENT_SECONDS)
    network.heal()
    settle(talk.tenant, seconds=30)
    check(talk.tenant)


def test_a_turn_waits_while_the_model_cannot_be_reached(network: Network, talk: Talk) -> None:
    network.cut("product", "model")
    talk.say("When do you open?")
    stay_silent(network, talk)


@pytest.mark.parametrize("answer", [{"ttft_ms": 4000}, {"gap_ms": 100}], ids=["before its answer", "inside it"])
def test_a_reply_is_written_again_if_the_wire_falls_silent(
    network: Network, talk: Talk, model: RemoteModel, answer: dict[str, int]
) -> None:
    model.script("reply", times=1, text=ANSWER, **answer)
    talk.say("When do you open?")
    until(lambda: model.log()["in_flight"], what="the request")
    time.sleep(1)
    stay_silent(network, talk)
