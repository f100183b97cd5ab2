"""The offline model: a small rule-based server that speaks the Chat Completions wire format.

It reads the same prompts a real model gets and answers in the same shapes, over HTTP; it knows no app and no Django.
"""
