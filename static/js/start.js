// Loaded in the head, not deferred. Starts the page's modules once it is parsed, so that they don't delay its first paint;
// holds clicks and keys until they have run; and has a form sent once.
(() => {
  const TYPING = "input:not([type=checkbox]), textarea, select, [contenteditable]";
  // After this the response was lost, or was a download.
  const FORGOTTEN_MS = 10_000;
  const held = new Map();

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

  /** Shortcuts: single keys, ⌘ S, ⌘ ↵, and ↵ where it sends. Typing and moving the focus work without scripts. */
  function pressed(event) {
    const { key, target } = event;
    const isShortcut =
      event.ctrlKey || event.metaKey
        ? ["s", "Enter"].includes(key)
        : key.length === 1 && key !== " " && !event.altKey && !target.closest(TYPING);
    const sends = key === "Enter" && !event.shiftKey && !event.isComposing && target.matches("[enterkeyhint=send]");
    if (isShortcut || sends) hold(event, key, () => target.dispatchEvent(new KeyboardEvent("keydown", event)));
  }

  /** Otherwise a click would be lost, or a form submitted without the script that packs or confirms it. */
  function release() {
    document.removeEventListener("click", clicked, true);
    document.removeEventListener("keydown", pressed, true);
    for (const again of held.values()) again();
  }

  /** Modules run in the order of their links, and before the page's load event. */
  function startModules() {
    const scripts = [...document.querySelectorAll("link[rel=mg-module]")].map(({ href }) =>
      Object.assign(document.createElement("script"), { type: "module", async: false, src: href }),
    );
    const last = scripts.at(-1);
    if (!last) return release();
    last.onload = last.onerror = release;
    document.head.append(...scripts);
  }

  document.addEventListener("click", clicked, true);
  document.addEventListener("keydown", pressed, true);
  document.addEventListener("DOMContentLoaded", startModules);

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
