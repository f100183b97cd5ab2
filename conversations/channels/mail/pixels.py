"""Pictures of e-mails that only decorate, told by their size."""

from __future__ import annotations

from conversations.handover.image_size import read_size

# A logo, an icon or a tracking pixel has no more.
SMALLEST_AREA = 14_400
SMALLEST_SIDE = 40
# A picture whose size can't be read is judged by its bytes.
SMALLEST_BYTES = 2_000


def is_small(content: bytes) -> bool:
    """True for a picture that decorates: an icon, a line, a logo."""
    size = read_size(content)
    if size is None:
        return len(content) < SMALLEST_BYTES
    width, height = size
    return min(width, height) < SMALLEST_SIDE or width * height < SMALLEST_AREA
