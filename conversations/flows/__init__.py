"""The flows of a turn: the reply, then observer, thoughts and tool caller side by side, then effects."""
