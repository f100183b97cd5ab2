"""What the ground tells the floors above. Sent while the change is made, which a receiver's error undoes.

member_changed  user: User, organization_id: UUID, role: Role | None  another role in that organization, or none any more
"""

from __future__ import annotations

from django.dispatch import Signal

member_changed = Signal()
