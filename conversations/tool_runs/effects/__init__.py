"""Effects after the turn: arguments, approval, outcome, after-actions."""
