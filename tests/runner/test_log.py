"""The log of a start: a line for each step, and on a terminal the running steps below."""

from __future__ import annotations

import io
import json

import pytest

from config.runner.log import ServiceLog, open_service_log


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")


def test_a_step_is_one_line_without_a_terminal() -> None:
    stream = io.StringIO()
    with ServiceLog(stream).step("tables") as show:
        show("1/2")
        show("2/2")
    (line,) = stream.getvalue().splitlines()
    assert line[9:].startswith("makegood | tables: ready (")


def test_a_steps_progress_is_updated_in_place_on_a_terminal() -> None:
    stream = Terminal()
    with ServiceLog(stream).step("tables") as show:
        show("1/2")
    drawn = stream.getvalue().split("\r\x1b[K")
    assert drawn[:4] == ["", "tables …", "tables  1/2 …", ""]
    assert drawn[4].endswith(" s)\n")


def test_a_line_is_printed_above_the_running_steps() -> None:
    stream = Terminal()
    log = ServiceLog(stream)
    with log.step("PostgreSQL"), log.step("Redis"):
        log.say("a word")
    assert any(part.endswith("| a word\nPostgreSQL …  Redis …") for part in stream.getvalue().split("\r\x1b[K"))


def test_a_failed_step_is_not_reported_as_ready() -> None:
    stream = Terminal()
    with pytest.raises(RuntimeError), ServiceLog(stream).step("tables"):
        raise RuntimeError
    assert stream.getvalue().endswith("\r\x1b[K")
    assert "ready" not in stream.getvalue()


@pytest.mark.parametrize(("no_color", "is_colored"), [("", True), ("1", False)])
def test_names_are_colored_unless_no_color_is_set(
    no_color: str, is_colored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    stream = Terminal()
    ServiceLog(stream).say("a word")
    assert ("\x1b[36m" in stream.getvalue()) is is_colored


def test_a_dumb_terminal_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    stream = Terminal()
    with ServiceLog(stream).step("tables") as show:
        show("1/2")
    assert "\r" not in stream.getvalue()


def test_json_lines_are_passed_on_and_others_become_json() -> None:
    stream = io.StringIO()
    log = open_service_log(stream, form="json")
    log.line("web", '{"message": "ready"}')
    log.line("postgres", "listening")
    with log.step("tables"):
        pass
    ours, theirs, step = map(json.loads, stream.getvalue().splitlines())
    assert ours == {"message": "ready"}
    assert (theirs["process"], theirs["message"]) == ("postgres", "listening")
    assert step["message"].startswith("tables: ready")


def test_a_json_log_shows_no_password() -> None:
    """It is collected and kept. The login is in demo.json."""
    assert not open_service_log(io.StringIO(), form="json").shows_secrets
    assert open_service_log(io.StringIO(), form="text").shows_secrets
