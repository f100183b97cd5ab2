"""Effects that were planned at the snapshot, which the lost installation may have carried out since."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from tests.backup.conftest import empty_place, run
from tests.conftest import Tenant
from tools.models import Effect

pytestmark = pytest.mark.whole

APPROVED = {"requires_approval": True}


@pytest.fixture
def planned(tenant: Tenant) -> None:
    kinds = (("once", {}), ("idempotent", {}), ("once", APPROVED))
    with tenant.tx():
        for number, (delivery, definition) in enumerate(kinds):
            Effect.objects.create(
                project_id=tenant.project.pk,
                effect_key=str(number),
                tool="notify",
                kind="webhook",
                delivery=delivery,
                definition=definition,
            )


@pytest.mark.usefixtures("planned")
def test_only_what_can_be_repeated_or_awaits_approval_is_left_planned(key_file: Path, tmp_path: Path) -> None:
    file, key = str(tmp_path / "makegood.backup"), {"MAKEGOOD_BACKUP_KEY_FILE": str(key_file)}
    assert run("backup", file, **key).returncode == 0
    with empty_place("planned") as place:
        done = run("restore", file, **key, **place.env)
        assert "happened since: 1." in done.stdout
        with psycopg.connect(place.admin_url) as connection:
            rows = connection.execute("select state, is_uncertain from tools_effect order by effect_key").fetchall()
    assert rows == [("sending", True), ("planned", False), ("planned", False)]
