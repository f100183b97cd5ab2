"""The pause before a dead program is restarted."""

from __future__ import annotations

from config.runner.child import Backoff


def test_pauses_double_up_to_ten_seconds() -> None:
    backoff = Backoff()
    assert [backoff.after_death(lived_s=0.1) for _ in range(8)] == [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10.0, 10.0]


def test_a_program_that_ran_for_a_while_restarts_at_once() -> None:
    backoff = Backoff()
    for _ in range(5):
        backoff.after_death(lived_s=0.1)
    assert backoff.after_death(lived_s=60) == 0.2
