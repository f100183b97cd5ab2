"""A browser's offer, as Chromium makes it, without its addresses."""

from __future__ import annotations

FINGERPRINT = ":".join(["AB"] * 32)
LINES = f"""v=0
o=- 4611733054762223410 2 IN IP4 127.0.0.1
s=-
t=0 0
a=group:BUNDLE 0
a=extmap-allow-mixed
a=msid-semantic: WMS stream
m=audio 9 UDP/TLS/RTP/SAVPF 111 0 8
c=IN IP4 0.0.0.0
a=rtcp:9 IN IP4 0.0.0.0
a=ice-ufrag:F7gI
a=ice-pwd:x9cml6RvRClJSNHVmq1r3tk8
a=ice-options:trickle
a=fingerprint:sha-256 {FINGERPRINT}
a=setup:actpass
a=mid:0
a=sendrecv
a=msid:stream track
a=rtcp-mux
a=rtpmap:111 opus/48000/2
a=fmtp:111 minptime=10;useinbandfec=1
a=rtpmap:0 PCMU/8000
a=rtpmap:8 PCMA/8000
a=ssrc:2832729514 cname:Zj5feXkeAcdTkdHn
"""
OFFER = LINES.replace("\n", "\r\n")
