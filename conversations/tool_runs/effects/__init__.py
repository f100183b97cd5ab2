"""Effects after the turn: arguments, approval, the outcome, the after-actions."""
