"""Twilio without a phone: it rings, follows the instructions of a call, and speaks ConversationRelay's protocol.

What the caller says is typed. `python -m offline_model.relay --help` says how.
"""
