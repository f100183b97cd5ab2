"""Tools that the agent's model calls while it answers.

`tool_loop` is the loop: `plan` turns what a model called into rows, `start` stores and starts them under the conversation's
lock, `ending` stores each result. `orphans` is the sweep.
"""
