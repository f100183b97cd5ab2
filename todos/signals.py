"""What todos tell the floors above. Both are sent inside the transaction that makes the change, which a receiver's error undoes.

todo_changed    todo: Todo, what: str      an entry was added to the todo's history; `what` is the entry's word
effect_changed  todo: Todo, effect: Effect  an effect that a todo runs went over into another state
"""

from __future__ import annotations

from django.dispatch import Signal

todo_changed = Signal()
effect_changed = Signal()
