"""The widget's settings and its theme."""
