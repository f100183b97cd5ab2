"""One packet in a hundred is lost on every wire of the product, in both directions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conversations.conftest import begin
from tests.crashes.invariants import check, settle
from tests.wires.conftest import Product
from tests.wires.hosts import Network
from tests.wires.loss import packet_loss

QUESTION = "Could you text me the opening hours?"


@pytest.mark.slow
def test_lost_packets_lose_and_double_nothing(network: Network, product: Product, tenant: Any) -> None:
    product.worker()
    _, url = product.web()
    talks = [begin(tenant, external_id=f"guest {number}") for number in range(8)]
    seconds = []
    with packet_loss(network, share=0.01) as counts:
        for number in range(64):
            address = f"{url}/api/v1/conversations/{talks[number % 8].conversation.pk}/messages"
            answer = product.call(address, method="POST", headers=tenant.headers, body={"content": QUESTION})
            assert answer.status == 202
            seconds.append(answer.seconds)
        settle(tenant, seconds=30)
    check(tenant)
    assert counts.lost > 0
    assert max(seconds) < 5
