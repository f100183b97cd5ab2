"""Readings and wordings that several rooms of conversations share."""
