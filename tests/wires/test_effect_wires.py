"""The wire to the target of an effect falls silent: before the request, while its answer is awaited, and inside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from conversations.turns.services import give_fields
from projects.connections.integration_types import KINDS
from projects.connections.integrations import SourceEdit, connect_source
from tests.conversations.conftest import begin
from tests.conversations.effects.conftest import Bench, webhook
from tests.conversations.effects.target import Heard, Target, target_server
from tests.crashes.invariants import settle
from tests.processes import until
from tests.tools.messaging.mail_server import MailServer
from tests.wires.conftest import Product
from tests.wires.hosts import Host, Network
from tools.models import Effect

MAIL = {"subject": "Your table", "body": "Friday at 20:00."}


@pytest.fixture
def outside(network: Network) -> Host:
    """The host of the targets."""
    return network.hosts.get("outside") or network.add_host("outside")


@pytest.fixture
def target(outside: Host) -> Iterator[Target]:
    with outside.entered():
        serving = target_server(outside.address)
        target = serving.__enter__()
    yield target
    serving.__exit__(None, None, None)


@pytest.fixture
def mail(outside: Host) -> Iterator[MailServer]:
    with outside.entered():
        server = MailServer(host=outside.address).__enter__()
    yield server
    server.__exit__()


@pytest.fixture
def bench(tenant: Any, product: Product, model: Any, settings: Any) -> Bench:
    """A conversation whose effects run in a worker on the product's host."""
    settings.OUTBOUND_ALLOW = ["10.213.0.0/16"]
    product.worker()
    return Bench(tenant=tenant, talk=begin(tenant))


def until_state(bench: Bench, effect: Effect, *states: str, seconds: float = 60) -> Effect:
    until(lambda: bench.effect(effect).state in states, seconds=seconds, what=f"the state {states}")
    return bench.effect(effect)


def until_tried(bench: Bench, effect: Effect) -> None:
    """Wait for the end of an attempt that will be repeated."""
    until(lambda: bench.effect(effect).error, what="the end of the first attempt")


def call(bench: Bench, target: Target, **options: Any) -> Effect:
    bench.tool("notify_crew", webhook(f"{target.url}/crew", **options))
    [effect] = bench.plan("notify_crew")
    return effect


@pytest.mark.slow
def test_a_request_that_cannot_leave_is_sent_later(bench: Bench, target: Target, network: Network) -> None:
    network.cut("product", "outside")
    effect = call(bench, target)
    until_tried(bench, effect)
    network.heal()
    assert until_state(bench, effect, "done", seconds=30).attempts == 2
    assert len(target.log) == 1


def test_an_answer_that_never_comes_leaves_the_outcome_unknown(bench: Bench, target: Target, network: Network) -> None:
    target.on_request = lambda heard: network.black_hole("outside", "product")
    effect = call(bench, target)
    until_state(bench, effect, "unknown", seconds=30)
    network.heal()
    settle(bench.tenant)
    assert len(target.log) == 1


def test_an_answer_counts_though_it_can_not_be_acknowledged(bench: Bench, target: Target, network: Network) -> None:
    target.on_request = lambda heard: network.black_hole("product", "outside")
    effect = call(bench, target)
    until_state(bench, effect, "done", seconds=30)
    assert len(target.log) == 1


@pytest.mark.slow
def test_an_idempotent_request_is_repeated_under_its_key(bench: Bench, target: Target, network: Network) -> None:
    def cut_once(heard: Heard) -> None:
        if len(target.log) == 1:
            network.cut("product", "outside")

    target.on_request = cut_once
    effect = call(bench, target, delivery="idempotent")
    until_tried(bench, effect)
    network.heal()
    until_state(bench, effect, "done", seconds=30)
    assert len(target.log) == 2
    assert len(set(target.keys())) == 1


def e_mail(bench: Bench, mail: MailServer, host: Host, model: Any) -> Effect:
    settings = {"host": host.address, "port": str(mail.port), "security": "none", "from_address": "hello@nello.example"}
    with bench.tenant.tx():
        connect_source(bench.tenant.project, KINDS["smtp"], SourceEdit(settings, ""), by=bench.tenant.owner)
        give_fields(bench.conversation.persona, {"email": "anna@example.org"})
    bench.switch_on("email_send_information_enabled")
    model.script("arguments", json=MAIL)
    [effect] = bench.plan("send_email_tool", quote="I'll e-mail you the details.")
    return effect


@pytest.mark.slow
def test_an_email_that_cannot_leave_is_sent_later(
    bench: Bench, mail: MailServer, outside: Host, network: Network, model: Any
) -> None:
    network.cut("product", "outside")
    effect = e_mail(bench, mail, outside, model)
    until_tried(bench, effect)
    network.heal()
    until_state(bench, effect, "done", seconds=30)
    assert len(mail.post.messages) == 1


@pytest.mark.slow
def test_an_email_whose_receipt_is_lost_is_not_sent_again(
    bench: Bench, mail: MailServer, outside: Host, network: Network, model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = mail.post.handle_DATA

    async def cuts(*arguments: Any) -> str:
        network.cut("product", "outside")
        return await taken(*arguments)

    monkeypatch.setattr(mail.post, "handle_DATA", cuts)
    effect = e_mail(bench, mail, outside, model)
    until_state(bench, effect, "unknown", seconds=40)
    network.heal()
    settle(bench.tenant)
    assert len(mail.post.messages) == 1
