"""Analysis of a reply, without side effects: detection, verdicts, conflicts and ranking."""
