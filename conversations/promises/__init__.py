"""Promises: from the verdicts, through the ones no tool can keep, to making good."""
