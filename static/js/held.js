// Loaded in the head, not deferred. Holds clicks and keys until the page's modules have run; otherwise a click would be lost,
// or a form submitted without the script that packs or confirms it.
(() => {
  const TYPING = "input:not([type=checkbox]), textarea, select, [contenteditable]";
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

  document.addEventListener("click", clicked, true);
  document.addEventListener("keydown", pressed, true);
  // Runs after the page's modules.
  document.addEventListener("DOMContentLoaded", () => {
    document.removeEventListener("click", clicked, true);
    document.removeEventListener("keydown", pressed, true);
    for (const again of held.values()) again();
  });
})();
