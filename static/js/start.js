// Loaded in the head, not deferred. Starts the page's modules after its first paint, which they would delay; holds clicks,
// keys and changes of fields until they have run; and has a form sent once.
(() => {
  const TYPING = "input:not([type=checkbox]), textarea, select, [contenteditable]";
  // The longest wait for the first paint, from the end of parsing
  const UNPAINTED_MS = 500;
  // After this the response was lost, or was a download.
  const FORGOTTEN_MS = 10_000;
  // What to do again, by the button that was clicked, or by the event of a key
  const held = new Map();
  // The fields that changed, with the types of their events
  const changes = new Map();

  function hold(event, what, again) {
    event.preventDefault();
    event.stopImmediatePropagation();
    held.set(what, again);
  }

  /** Links, checkboxes and menus work without scripts. */
  function clicked(event) {
    const button = event.target.closest("button:not([popovertarget])");
    if (button) hold(event, button, () => button.click());
  }

  /** Shortcuts: single keys, Esc, ⌘ K, ⌘ S, ⌘ ↵, and ↵ where it sends. Typing and moving the focus work without scripts. */
  function pressed(event) {
    const { key, target } = event;
    // The browser closes what is open.
    const goesBack = key === "Escape" && !document.querySelector(":modal, :popover-open");
    const isShortcut =
      event.ctrlKey || event.metaKey
        ? ["k", "s", "Enter"].includes(key)
        : key.length === 1 && key !== " " && !event.altKey && !target.closest(TYPING);
    const sends = key === "Enter" && !event.shiftKey && !event.isComposing && target.matches("[enterkeyhint=send]");
    if (isShortcut || goesBack || sends) hold(event, event, () => press(event, target));
  }

  /** A field that a shortcut before it has opened gets the character. */
  function press(event, target) {
    const field = document.activeElement;
    const isTyped = field !== target && event.key.length === 1 && typeof field.selectionStart === "number";
    if (!isTyped) return void target.dispatchEvent(new KeyboardEvent("keydown", event));
    field.setRangeText(event.key, field.selectionStart, field.selectionEnd, "end");
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }

  /** Fields change without scripts, which learn of it when they run. */
  function changed({ target, type }) {
    changes.set(target, (changes.get(target) ?? new Set()).add(type));
  }

  /** Otherwise a click would be lost, or a form submitted without the script that packs or confirms it. */
  function release() {
    for (const [type, hears] of LISTENERS) document.removeEventListener(type, hears, true);
    for (const link of links()) link.remove();
    for (const [field, types] of changes)
      for (const type of types) field.dispatchEvent(new Event(type, { bubbles: true }));
    for (const again of held.values()) again();
  }

  /** The modules of the page, until they have run. */
  function links() {
    return [...document.querySelectorAll("link[rel=mg-module]")];
  }

  /** Modules run in the order of their links. */
  function startModules() {
    const scripts = links().map(({ href }) =>
      Object.assign(document.createElement("script"), { type: "module", async: false, src: href }),
    );
    const last = scripts.at(-1);
    if (!last) return release();
    last.onload = last.onerror = release;
    document.head.append(...scripts);
  }

  /** Nothing is painted in a tab in the background. */
  function startOncePainted() {
    if (document.hidden) return startModules();
    const painted = new PerformanceObserver(start);
    painted.observe({ type: "paint", buffered: true });
    const timer = setTimeout(start, UNPAINTED_MS);

    function start() {
      painted.disconnect();
      clearTimeout(timer);
      startModules();
    }
  }

  const LISTENERS = Object.entries({ click: clicked, keydown: pressed, input: changed, change: changed });
  for (const [type, hears] of LISTENERS) document.addEventListener(type, hears, true);
  document.addEventListener("DOMContentLoaded", startOncePainted);

  function forget(form) {
    delete form.dataset.sent;
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    // Skip forms sent by scripts, which guard themselves, and selects that submit on change.
    const mayChange = form.matches("[data-submits]") || event.submitter?.matches("[data-again]");
    if (event.defaultPrevented || form.method !== "post" || mayChange) return;
    if ("sent" in form.dataset) return void event.preventDefault();
    form.dataset.sent = "";
    setTimeout(() => forget(form), FORGOTTEN_MS);
  });
  // Allow resubmission after navigating back.
  addEventListener("pageshow", () => document.querySelectorAll("form[data-sent]").forEach(forget));
})();
