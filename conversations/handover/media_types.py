"""Types of voice messages, audio and videos, recognized by their content, and how long they are."""

from __future__ import annotations

OGG, MP3, M4A, MP4 = "audio/ogg", "audio/mpeg", "audio/mp4", "video/mp4"
WEBA, WEBM = "audio/webm", "video/webm"
# A file with another ending gets the first.
ENDINGS: dict[str, tuple[str, ...]] = {
    OGG: (".ogg", ".oga", ".opus"),
    MP3: (".mp3",),
    M4A: (".m4a",),
    MP4: (".mp4", ".m4v"),
    WEBA: (".weba", ".webm"),
    WEBM: (".webm",),
}
# Brands of MP4 files that browsers play. QuickTime, HEIC and AVIF have others.
BRANDS = frozenset({b"isom", b"iso2", b"iso4", b"iso5", b"iso6", b"mp41", b"mp42", b"avc1", b"dash", b"MSNV"}) | {
    *(b"M4A ", b"M4B ", b"M4V ", b"3gp4", b"3gp5", b"3gp6", b"3g2a")
}
OPUS, VORBIS = b"OpusHead", b"\x01vorbis"
OPUS_RATE = 48_000
# The beginning of a file, with the names of its codecs.
HEAD = 64 * 1024
DAY = 86_400


def detect_media(content: bytes) -> str | None:
    """The type of an audio file or a video; None for anything else."""
    head = content[:HEAD]
    if head.startswith(b"OggS"):
        return OGG if OPUS in head[:128] or VORBIS in head[:128] else None
    if head[4:8] == b"ftyp" and head[8:12] in BRANDS:
        return MP4 if b"vide" in content else M4A
    if head.startswith(b"\x1aE\xdf\xa3") and b"webm" in head[:64]:
        return WEBM if b"V_VP" in head or b"V_AV1" in head else WEBA
    return MP3 if head.startswith(b"ID3") or _is_mpeg_frame(head) else None


def is_media(content_type: str) -> bool:
    return content_type.startswith(("audio/", "video/"))


def seconds_of(content: bytes) -> int | None:
    """How long an Ogg or MP4 file plays, in whole seconds; None if that can't be read."""
    length = _ogg_length(content) if content.startswith(b"OggS") else _mp4_length(content)
    return round(length) or 1 if 0 < length < DAY else None


def _is_mpeg_frame(head: bytes) -> bool:
    """True for the header of an MPEG audio frame of layer III, with a bit rate and a sampling rate."""
    is_layer_3 = len(head) > 2 and head[0] == 0xFF and head[1] in (0xFA, 0xFB, 0xF2, 0xF3)
    return is_layer_3 and 0x10 <= head[2] < 0xF0 and head[2] & 0x0C != 0x0C


def _ogg_length(content: bytes) -> float:
    """The position of the last page, over the sampling rate."""
    last, vorbis = content.rfind(b"OggS"), content.find(VORBIS, 0, 128)
    rate = OPUS_RATE if vorbis < 0 else int.from_bytes(content[vorbis + 12 : vorbis + 16], "little")
    samples = int.from_bytes(content[last + 6 : last + 14], "little", signed=True)
    return samples / rate if rate else 0


def _mp4_length(content: bytes) -> float:
    """The duration in the movie header, over its time scale."""
    at = content.find(b"mvhd")
    if at < 0:
        return 0
    scale, size = (at + 24, 8) if content[at + 4 : at + 5] == b"\x01" else (at + 16, 4)
    rate = int.from_bytes(content[scale : scale + 4], "big")
    return int.from_bytes(content[scale + 4 : scale + 4 + size], "big") / rate if rate else 0
