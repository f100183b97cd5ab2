"""The board, the list, one todo and its approval, standing rules, and types in the settings."""
