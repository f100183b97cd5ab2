"""Tests of the pages of staff."""
