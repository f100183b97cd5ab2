"""Approvals: who may approve, approving, standing rules, and completion by hand."""
