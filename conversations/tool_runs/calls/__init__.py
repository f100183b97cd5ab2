"""Tool calls made by the agent's model while it answers.

`tool_loop` is the loop: `plan` turns the model's calls into rows, `start` stores and starts them under the
conversation's lock, `results` stores each result. `orphans` is the sweep.
"""
