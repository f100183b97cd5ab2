"""Labeled pairs for the rules of the prompts, and the score of each rule."""
