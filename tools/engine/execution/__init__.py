"""Carrying out what a tool does: the same for every tool, every moment and every origin (N49, D18)."""
