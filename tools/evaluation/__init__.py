"""Evaluation of commitment detection: labelled answers, read by the real detection skill, and the score."""
