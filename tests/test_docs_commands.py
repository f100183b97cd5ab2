"""Runs every API command of the documentation against the product, page by page."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import Tenant
from tests.processes import ForkServer, free_port, until

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^ *```sh\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
# A rejected call fails the command, and the first failure ends the page.
STRICT = 'set -eu -o pipefail\ncurl() { command curl --fail-with-body "$@"; }\n'
ENDPOINT_PORT = "9099"


def blocks(page: Path) -> list[str]:
    return [textwrap.dedent(block) for block in BLOCK.findall(page.read_text())]


def api_commands(page: Path) -> str:
    """The page's API calls, after the variables that the API page sets for all pages."""
    variables = next(block for block in blocks(DOCS / "api.md") if "BASE=" in block)
    return STRICT + variables + "".join(block for block in blocks(page) if "$BASE" in block)


@pytest.fixture
def home(tmp_path: Path, tenant: Tenant, processes: ForkServer) -> Path:
    """The reader's working directory, which contains the data directory of a running copy."""
    _, url = processes.web()
    processes.worker()
    (tmp_path / ".data").mkdir()
    (tmp_path / ".data" / "demo.json").write_text(json.dumps({"base_url": url, "api_key": tenant.key}))
    return tmp_path


def run(script: str, *, home: Path) -> str:
    done = subprocess.run(["bash", "-c", script], cwd=home, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@contextmanager
def endpoint(script: str, *, port: int, home: Path) -> Iterator[None]:
    """Run the page's own endpoint while its commands run."""
    process = subprocess.Popen(["bash", "-c", f"exec {script}"], cwd=home, stdout=subprocess.DEVNULL)
    until(lambda: listens(port), what="the endpoint")
    yield
    process.send_signal(signal.SIGKILL)
    process.wait()


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_the_readme_shows_an_effect_and_adds_a_tool(home: Path) -> None:
    shown = run(api_commands(ROOT / "README.md"), home=home)
    assert '"tool": "send_sms_tool"' in shown
    assert '"signing_secret": "whsec_' in shown


def test_the_readmes_tool_fires_on_what_the_demos_model_says(home: Path) -> None:
    said = """curl -s $BASE/api/v1/tools/evaluate -H "$AUTH" -H "$JSON" -d '{"answer": "I will pass it on to my colleagues."}' """
    shown = run(api_commands(ROOT / "README.md") + said + "| jq -c '.verdicts[] | [.tool, .fired]'", home=home)
    assert '["tell_colleagues",true]' in shown


def test_the_api_page_streams_a_reply(home: Path) -> None:
    assert "event: done" in run(api_commands(DOCS / "api.md"), home=home)


def test_the_knowledge_page_finds_an_article_despite_a_typo(home: Path) -> None:
    assert '"slug": "do-you-have-a-piano"' in run(api_commands(DOCS / "knowledge.md"), home=home)


def test_the_custom_tools_page_reports_the_endpoints_response(home: Path) -> None:
    port = free_port()
    server = next(block for block in blocks(DOCS / "custom-tools.md") if "HTTPServer" in block)
    with endpoint(server.replace(ENDPOINT_PORT, str(port)), port=port, home=home):
        shown = run(api_commands(DOCS / "custom-tools.md").replace(ENDPOINT_PORT, str(port)), home=home)
    assert "agent: The colleagues answered: A colleague calls within the hour." in shown


def test_the_events_page_shows_an_acknowledged_event(home: Path) -> None:
    port = free_port()
    server = next(block for block in blocks(DOCS / "events.md") if "HTTPServer" in block)
    with endpoint(server.replace(ENDPOINT_PORT, str(port)), port=port, home=home):
        shown = run(api_commands(DOCS / "events.md").replace(ENDPOINT_PORT, str(port)), home=home)
    assert '"state": "acknowledged"' in shown
    assert '"acknowledged_at": "2' in shown


def test_the_voice_page_connects_a_bridge(home: Path) -> None:
    bridge = "".join(block for block in blocks(DOCS / "voice.md") if "$CALL" in block)
    shown = run(api_commands(DOCS / "api.md").partition("ID=")[0] + bridge, home=home)
    assert '"search_knowledge"' in shown
    assert '"status": "done"' in shown


def test_the_todo_page_runs_a_todo(home: Path) -> None:
    assert "only reached the outbox" in run(api_commands(DOCS / "todos.md"), home=home)
