"""The flows of a turn: the reply; then observer, thoughts and tool caller in parallel; then effects."""
