// The widget's styles, independent of the page's: one constructed style sheet, which no Content-Security-Policy blocks.
export const CSS = `
:host{all:initial;position:fixed;inset:0;z-index:2147483000;pointer-events:none;color-scheme:light dark;
--w-brand:#2b4acb;--w-on:#fff;--w-link-light:#2b4acb;--w-link-dark:#93a7ff;
--w-bg:light-dark(#fffefc,#1a1917);--w-soft:light-dark(#f5f3ee,#24221f);--w-line:light-dark(#e6e1d8,#35322e);--w-edge:light-dark(#8b8578,#827c72);
--w-ink:light-dark(#1d1b17,#efece5);--w-ink2:light-dark(#6a655a,#a39d92);--w-bad:light-dark(#a3271c,#ff9d92);--w-link:light-dark(var(--w-link-light),var(--w-link-dark));
font:400 15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;color:var(--w-ink)}
:host([data-scheme=light]){color-scheme:light}:host([data-scheme=dark]){color-scheme:dark}
*{box-sizing:border-box}p,ul{margin:0}ul{list-style:none;padding:0}[hidden]{display:none!important}
button,input,textarea{font:inherit;color:inherit}button{cursor:pointer;border:0;background:none;padding:0}a{color:var(--w-link)}
:focus-visible{outline:2px solid var(--w-link);outline-offset:2px}
.i{width:18px;height:18px;fill:none;stroke:currentColor;stroke-width:1.75;stroke-linecap:round;stroke-linejoin:round;flex:none}
.vh{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.w{pointer-events:auto;position:absolute;inset-block-end:24px;right:24px;width:384px;height:min(760px,calc(100% - 48px));display:flex;flex-direction:column;background:var(--w-bg);border-radius:20px;overflow:hidden;box-shadow:0 0 0 1px light-dark(#1d1b1714,#ffffff2e),0 24px 64px -16px #1d1b1766;animation:up .24s ease-out}
.left .w,.left .launch{right:auto;left:24px}
.launch{pointer-events:auto;position:absolute;right:24px;inset-block-end:24px;width:60px;height:60px;border-radius:20px;background:var(--w-brand);color:var(--w-on);display:grid;place-items:center;box-shadow:0 0 0 1px #fff3,0 12px 32px -8px #1d1b1780;animation:up .24s ease-out}
.launch .i{width:28px;height:28px}.launch:hover{filter:brightness(1.08)}.launch:focus-visible,.top :focus-visible,.composer button:focus-visible{outline-color:var(--w-on);box-shadow:0 0 0 4px var(--w-brand)}
.dot{position:absolute;inset-block-start:-3px;inset-inline-end:-3px;min-width:20px;height:20px;padding:0 5px;border-radius:10px;background:#b3261e;color:#fff;font-size:12px;font-weight:600;line-height:20px;text-align:center}
.top{display:flex;align-items:center;gap:12px;padding:16px 12px 14px 18px;background:var(--w-brand);color:var(--w-on)}
.top b{font-weight:600;display:block;line-height:1.3}.top small{font-size:13px;display:flex;align-items:center;gap:6px}.top small::before{content:"";width:7px;height:7px;border-radius:50%;background:currentColor}
.top div{min-width:0;flex:1}.top button{width:44px;height:44px;border-radius:12px;display:grid;place-items:center}.top button:hover{background:#0002}
.av{width:38px;height:38px;border-radius:11px;border:1.5px solid;display:grid;place-items:center;font-weight:600;font-size:14px;flex:none}
.log{flex:1;overflow:auto;overscroll-behavior:contain;padding:14px 18px 18px;display:flex;flex-direction:column;gap:12px}.log:focus-visible{outline-offset:-3px}
.opening{display:grid;gap:12px}.day,.notice{font-size:12px;color:var(--w-ink2);text-align:center}
.me{align-self:flex-end;max-width:82%;display:grid;gap:4px;justify-items:end}.me>p{background:var(--w-brand);color:var(--w-on);padding:8px 14px;border-radius:18px 18px 5px 18px}.me a{color:inherit}
.a{display:grid;gap:8px;max-width:94%;justify-items:start}.a>p{background:var(--w-soft);padding:9px 14px;border-radius:18px 18px 18px 5px}
[dir=rtl] .me>p{border-radius:18px 18px 18px 5px}[dir=rtl] .a>p{border-radius:18px 18px 5px 18px}
.a>p,.me>p{white-space:pre-wrap;overflow-wrap:anywhere;max-width:100%}.a>.blocks{display:grid;gap:8px;width:100%}.a.op>p{background:none;box-shadow:inset 0 0 0 1.5px var(--w-line)}.who{font-size:12px;color:var(--w-ink2)}
.busy{display:inline-flex;align-items:center;gap:8px;color:var(--w-ink2);font-size:13px}.busy i{width:6px;height:6px;border-radius:50%;background:currentColor;animation:beat 1.2s infinite}.busy i+i{animation-delay:.2s}.busy i+i+i{animation-delay:.4s}
.bad{font-size:13px;color:var(--w-bad)}.bad button{text-decoration:underline;min-height:28px;padding:0 4px}
.picks{display:flex;flex-wrap:wrap;gap:8px}.picks button{border:1.5px solid var(--w-link);color:var(--w-link);border-radius:18px;padding:6px 14px;min-height:44px;text-align:start}.picks button:hover,.esc:hover,a.card:hover{background:var(--w-soft)}
.orders{border:1px solid var(--w-line);border-radius:14px;overflow:hidden;font-size:14px}.orders li{padding:11px 14px;display:grid;gap:2px}.orders li+li{border-top:1px solid var(--w-line)}.orders li>div:first-child{display:flex;justify-content:space-between;align-items:center;gap:8px}
.orders b,.card b{font-weight:600}.orders small{color:var(--w-ink2);font-size:13px}.orders a{display:inline-flex;align-items:center;gap:3px;font-weight:500;text-decoration:none;padding-top:3px;justify-self:start}.orders .i{width:15px;height:15px}
.s{font-size:12px;font-weight:500;padding:1px 8px;border-radius:20px}.s.go{background:light-dark(#fdf1d8,#2e2412);color:light-dark(#8a5200,#f0b95a)}.s.ok{background:light-dark(#e6f5ec,#15291f);color:light-dark(#14713f,#5fd39a)}.s.bad{background:light-dark(#fbe9e7,#331a17)}.s::first-letter{text-transform:uppercase}
.card{display:grid;gap:2px;border:1px solid var(--w-line);border-radius:14px;padding:11px 14px 12px;padding-inline-start:46px;position:relative;text-decoration:none;font-size:14px;color:inherit}.card .i{position:absolute;inset-inline-start:14px;top:14px;width:20px;height:20px;color:var(--w-link)}.card small{font-size:12px;color:var(--w-ink2)}.card span{color:var(--w-ink2);font-size:13px;line-height:1.45}
.files{display:flex;flex-wrap:wrap;gap:8px}.files img{display:block;max-width:220px;max-height:180px;border-radius:14px;border:1px solid var(--w-line)}.file{display:flex;align-items:center;gap:8px;border:1px solid var(--w-line);border-radius:14px;padding:9px 14px;min-height:44px;font-size:14px;overflow-wrap:anywhere}
.esc{display:flex;align-items:center;justify-content:center;gap:8px;border:1.5px solid var(--w-link);color:var(--w-link);font-weight:600;border-radius:12px;padding:9px 14px;min-height:44px}
.lead{display:grid;gap:10px;border:1px solid var(--w-line);border-radius:14px;padding:14px;font-size:14px}.lead label{display:grid;gap:4px}.lead label span{font-weight:500;font-size:13px}.lead input{border:1px solid var(--w-edge);background:var(--w-bg);border-radius:10px;padding:0 12px;min-height:44px;font-size:16px;width:100%}.lead [aria-invalid=true]{border-color:var(--w-bad)}
.problem{color:var(--w-bad);font-size:13px}.problem:empty{display:none}.long{padding:8px 18px 0}.acts{display:flex;gap:8px;justify-content:flex-end}.acts button{min-height:44px;padding:0 16px;border-radius:12px;font-weight:600}.acts .go{background:var(--w-brand);color:var(--w-on)}.acts button:disabled{opacity:.6}
.rate{display:grid;gap:8px;justify-items:center;border:1px solid var(--w-line);border-radius:14px;padding:12px 14px;font-size:14px;text-align:center}.stars{display:flex}.stars button{width:44px;height:44px;display:grid;place-items:center;color:var(--w-edge);border-radius:12px}.stars .i{width:26px;height:26px}.stars .on{color:var(--w-link)}.stars .on .i{fill:currentColor}.thanks:empty{display:none}.rate form{display:grid;gap:8px;width:100%;text-align:start}.rate form label{font-weight:500;font-size:13px}.rate textarea{border:1px solid var(--w-edge);background:var(--w-bg);border-radius:10px;padding:10px 12px;font-size:16px;width:100%;resize:none}
.note{border-radius:14px;padding:11px 14px;background:light-dark(#e6f5ec,#15291f);color:light-dark(#14713f,#5fd39a);font-size:14px}
.bar{padding:8px 18px;font-size:13px;background:var(--w-soft);border-top:1px solid var(--w-line)}
.calling>.log,.calling>.composer,.calling>.latest,.calling>.bar{display:none}
.latest{position:absolute;inset-inline:0;margin-inline:auto;inset-block-end:80px;width:44px;height:44px;border-radius:50%;background:var(--w-bg);border:1px solid var(--w-edge);display:grid;place-items:center}
.over::after{content:"";position:absolute;inset:6px;border:2px dashed var(--w-link);border-radius:16px;pointer-events:none}.me .files{justify-content:flex-end}
.chips{width:100%;display:grid;grid-template-columns:minmax(0,1fr);gap:8px;max-height:240px;overflow:auto}.chips li{display:flex;align-items:center;gap:8px;border:1px solid var(--w-line);border-radius:14px;padding:4px;font-size:14px}.face{width:44px;height:44px;border-radius:10px;overflow:hidden;background:var(--w-soft);display:grid;place-items:center;flex:none}.face canvas{width:100%;height:100%}.name{flex:1;min-width:0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}.chips progress{width:56px;height:6px;accent-color:var(--w-link)}.composer .again{width:auto;padding:0 8px;background:none;color:var(--w-bad);text-decoration:underline}.composer .bare{background:none;color:var(--w-ink2)}.composer .bare:hover{background:var(--w-soft)}.composer button[type]:focus-visible{outline-color:var(--w-link);box-shadow:none}.composer .busy{opacity:.5}
.composer{display:flex;flex-wrap:wrap;align-items:flex-end;gap:8px;padding:10px 12px 12px;border-top:1px solid var(--w-line)}.composer textarea{flex:1;min-width:0;border:1px solid var(--w-edge);background:var(--w-soft);border-radius:14px;padding:10px 14px;min-height:44px;max-height:132px;font-size:16px;line-height:1.4;resize:none;field-sizing:content}textarea::placeholder{color:var(--w-ink2);opacity:1}.composer button{width:44px;height:44px;border-radius:14px;background:var(--w-brand);color:var(--w-on);display:grid;place-items:center;flex:none}
@keyframes up{from{opacity:0;transform:translateY(12px)}}@keyframes beat{50%{opacity:.25}}
@media (max-width:520px){.w,.left .w{inset:0;width:auto;height:auto;border-radius:0}.composer{padding-block-end:max(12px,env(safe-area-inset-bottom))}.launch{right:16px;inset-block-end:16px}.left .launch{left:16px}}
@media (prefers-reduced-motion:reduce){*{animation:none!important}}
@media (forced-colors:active){.launch,.w,.me>p,.a>p,.composer button,.acts .go{border:1px solid}}
`;
