"""Messaging services as real servers, and a customer to write to."""

from __future__ import annotations

import ssl
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from outbound.guard import Guard
from projects.connections.integration_types import KINDS
from projects.connections.integrations import SourceEdit, connect_source
from projects.connections.settings.smtp import SmtpSettings
from projects.connections.settings.twilio import TwilioSettings
from projects.models import Source
from tests.conftest import Tenant
from tests.tools.messaging.mail_server import PASSWORD, USER, MailServer
from tests.tools.messaging.twilio_server import FROM, SID, TOKEN, TwilioServer
from tools.engine.execution.handler import Contact, ToolContext
from tools.services.messaging import smtp as smtp_module
from tools.services.messaging.smtp import Smtp
from tools.services.messaging.twilio import Twilio

KEY = "5" * 64
ANNA = Contact(persona_id=uuid.uuid4(), name="Anna Bianchi", phone="+39 333 123 4567", email="anna@example.org")


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for 127.0.0.1, followed by its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    built = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    forms = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    path.write_bytes(key.private_bytes(*forms) + built.public_bytes(serialization.Encoding.PEM))
    return path


@pytest.fixture(scope="session")
def tls(certificate: Path) -> ssl.SSLContext:
    """The server's TLS context."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


@pytest.fixture
def trusting(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trust the certificate as if it were in the system's trust store."""
    context = ssl.create_default_context(cafile=str(certificate))
    monkeypatch.setattr(smtp_module, "tls_context", lambda: context)


@pytest.fixture
def mail() -> Iterator[MailServer]:
    """A mail server without TLS or sign-in."""
    with MailServer() as server:
        yield server


@pytest.fixture
def secure_mail(tls: ssl.SSLContext, trusting: None) -> Iterator[MailServer]:
    """A mail server that requires STARTTLS and a sign-in."""
    with MailServer(tls=tls) as server:
        yield server


def smtp_over(port: int, *, password: str = "", guard: Guard | None = None, **changes: Any) -> Smtp:
    document = {"host": "127.0.0.1", "port": port, "security": "none", "from_address": "hello@nello.example", **changes}
    settings = SmtpSettings.model_validate(document)
    return Smtp(settings, password=password, guard=guard or Guard([f"127.0.0.1:{port}"]))


def secure(port: int, *, password: str = PASSWORD, security: str = "starttls") -> Smtp:
    return smtp_over(port, password=password, security=security, user=USER)


@pytest.fixture
def twilio_api() -> Iterator[TwilioServer]:
    with TwilioServer() as server:
        yield server


def twilio_over(url: str, *, token: str = TOKEN, guard: Guard | None = None, sender: str = FROM) -> Twilio:
    settings = TwilioSettings(account_sid=SID, sender=sender, base_url=url)
    return Twilio(settings, token=token, guard=guard or Guard(["127.0.0.1"]))


@pytest.fixture
def local(settings: Any) -> None:
    """Allow services on this machine."""
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]


def connect_twilio(tenant: Tenant, url: str, *, token: str = TOKEN) -> Source:
    edit = SourceEdit({"account_sid": SID, "sender": FROM, "base_url": url}, token)
    with tenant.tx():
        return connect_source(tenant.project, KINDS["twilio"], edit, by=tenant.owner)


def source_of(tenant: Tenant, kind: str) -> Source | None:
    with tenant.tx():
        return Source.objects.filter(project=tenant.project, kind=kind).first()


def context_for(tenant: Tenant, contact: Contact | None = ANNA, *, channel: str = "chat") -> ToolContext:
    return ToolContext(
        organization_id=tenant.organization.pk,
        project_id=tenant.project.pk,
        effect_id=uuid.uuid4(),
        key=KEY,
        conversation_id=None,
        turn_id=None,
        channel=channel,
        timezone="Europe/Rome",
        at=datetime.now(UTC),
        contact=contact,
        business="Da Nello",
    )
