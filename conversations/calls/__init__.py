"""Tools that the agent's model calls while it answers.

`hops` is the loop: `plan` turns what a model called into rows, `begin` stores and starts them under the conversation's lock,
`ending` stores each result. `left_behind` is the sweep.
"""
