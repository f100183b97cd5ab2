"""Approvals: permissions, granting, validity, standing rules, and completion by hand."""
