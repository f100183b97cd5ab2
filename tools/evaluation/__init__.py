"""How well a model detects commitments: labelled answers, the real detection skill over them, and the score."""
