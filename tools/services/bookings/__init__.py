"""The booking book: when something is free, and who has it (N22-N24, N28)."""
