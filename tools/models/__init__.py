"""What was found in a reply, and what became of it."""

from tools.models.effect import Effect, EffectState
from tools.models.verdict import Verdict

__all__ = ["Effect", "EffectState", "Verdict"]
