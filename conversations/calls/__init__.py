"""Tools that the agent's model calls while it answers (W08-W11, T6).

`plan`: what a model called, as rows → `begin`: under the conversation's lock, with the checks of the ledger → carried out,
outside of any transaction → `ending`: the result, one commit each. `hops` is the loop around them, `left_behind` the sweep.
"""
