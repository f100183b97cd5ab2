"""Silent wires between the product and one of its servers."""

from __future__ import annotations

from dataclasses import dataclass

from tests.wires.hosts import Network


@dataclass(frozen=True)
class Fault:
    """The directions in which packets are lost."""

    name: str
    loses_questions: bool
    loses_answers: bool

    def begin(self, network: Network, server: str) -> None:
        if self.loses_questions:
            network.black_hole("product", server)
        if self.loses_answers:
            network.black_hole(server, "product")

    def __str__(self) -> str:
        return self.name


CUT = Fault("cut", loses_questions=True, loses_answers=True)
LOST_QUESTIONS = Fault("lost-questions", loses_questions=True, loses_answers=False)
LOST_ANSWERS = Fault("lost-answers", loses_questions=False, loses_answers=True)
