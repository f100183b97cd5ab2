from __future__ import annotations

from operations.finding import Section, State


def bad_ones(section: Section) -> list[str]:
    """The sentences of what is wrong."""
    return [finding.says for finding in section.findings if finding.state is State.BAD]


def warnings(section: Section) -> list[str]:
    """The sentences of what is worth a look."""
    return [finding.says for finding in section.findings if finding.state is State.WARN]
