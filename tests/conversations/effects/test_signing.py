"""Standard Webhooks."""

from __future__ import annotations

import base64
import hmac
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tools.engine.execution.webhook import signature_headers

# Test vector published with the Standard Webhooks specification.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
MESSAGE = "msg_p5jXN8AQM9LWM0D4loKWxJek"
AT = datetime.fromtimestamp(1614265330, UTC)
BODY = b'{"test": 2432232314}'
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_published_test_vector_is_reproduced() -> None:
    assert signature_headers([SECRET], id=MESSAGE, at=AT, body=BODY) == {
        "webhook-id": MESSAGE,
        "webhook-timestamp": "1614265330",
        "webhook-signature": SIGNATURE,
    }


def test_the_documented_check_accepts_the_published_test_vector() -> None:
    """And refuses another body, and another secret."""
    page = (Path(__file__).parents[3] / "docs" / "events.md").read_text()
    [source] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    documented: dict[str, Any] = {"base64": base64, "hmac": hmac}
    exec(source, documented)  # noqa: S102 - our own page
    headers = signature_headers([SECRET], id=MESSAGE, at=AT, body=BODY)
    other = "whsec_" + "A" * 43 + "="
    checks = [(SECRET, BODY), (SECRET, b"{}"), (other, BODY)]
    assert [documented["is_ours"](secret, headers, body) for secret, body in checks] == [True, False, False]


def test_during_a_rotation_both_secrets_sign() -> None:
    newer = "whsec_" + "A" * 43 + "="
    signed = signature_headers([newer, SECRET], id=MESSAGE, at=AT, body=BODY)["webhook-signature"].split(" ")
    assert len(signed) == 2
    assert signed[1] == SIGNATURE


def test_without_a_secret_nothing_is_signed() -> None:
    assert "webhook-signature" not in signature_headers([], id=MESSAGE, at=AT, body=b"")
