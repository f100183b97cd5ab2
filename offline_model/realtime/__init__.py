"""A provider of phone calls without a phone: the call verbs and the control protocol of OpenAI's Realtime API.

The caller's words are typed, and the model's are scripted. `python -m offline_model.realtime --port 8091` serves it.
"""
