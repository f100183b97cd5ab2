"""What the tools tell the floors above. Sent inside the transaction that makes the change, which a receiver's error undoes.

promise_answered  promise: Promise  a person has said that they kept it, or that it is no longer wanted
"""

from __future__ import annotations

from django.dispatch import Signal

promise_answered = Signal()
