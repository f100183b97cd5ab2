"""Notices of the signed-in member."""
