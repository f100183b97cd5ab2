// The styles of a call's card, in the colors of the widget or of our own pages.
export const CALL_CSS = `
.mgc{--c-bg:var(--w-bg,var(--mg-surface));--c-soft:var(--w-soft,var(--mg-sunken));--c-line:var(--w-line,var(--mg-line-2));--c-ink:var(--w-ink,var(--mg-ink));--c-ink2:var(--w-ink2,var(--mg-ink-2));--c-bad:var(--w-bad,var(--mg-bad));--c-link:var(--w-link,var(--mg-accent));
display:flex;flex-direction:column;gap:12px;flex:1;min-height:0;padding:16px 18px;background:var(--c-bg);color:var(--c-ink)}
.mgc [hidden]{display:none!important}.mgc p{margin:0}
.mgc-head{display:flex;align-items:baseline;justify-content:space-between;gap:12px}.mgc-state{font-weight:600}.mgc-clock{font-variant-numeric:tabular-nums;color:var(--c-ink2)}
.mgc-lines{flex:1;min-height:96px;overflow:auto;display:flex;flex-direction:column;gap:10px}.mgc-lines p{display:grid;gap:2px}.mgc-lines b{font-size:12px;font-weight:500;color:var(--c-ink2)}.mgc-lines span{white-space:pre-wrap;overflow-wrap:anywhere}
.mgc-problem{color:var(--c-bad)}.mgc-problem:empty{display:none}.mgc-problem a{display:block;font-weight:600;font-size:1.15em;color:var(--c-link)}
.mgc-acts{display:flex;gap:8px;flex-wrap:wrap}.mgc-acts button{display:flex;align-items:center;justify-content:center;gap:8px;flex:1;min-height:44px;padding:0 14px;border-radius:12px;font:inherit;font-weight:600;cursor:pointer;border:1.5px solid var(--c-line);background:var(--c-bg);color:var(--c-ink);white-space:nowrap}
.mgc-acts svg{width:18px;height:18px;fill:none;stroke:currentColor;stroke-width:1.75;stroke-linecap:round;stroke-linejoin:round;flex:none}
.mgc-acts .mgc-end{background:#b3261e;border-color:#b3261e;color:#fff}.mgc-mute[aria-pressed=true]{background:var(--c-ink);border-color:var(--c-ink);color:var(--c-bg)}
.mgc-acts button:focus-visible,.mgc-lines:focus-visible{outline:2px solid var(--c-link);outline-offset:2px}
`;
