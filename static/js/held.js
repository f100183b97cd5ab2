// Loaded in the head and not deferred. What is clicked or pressed before the page's modules have run is held until they have:
// a click on a button that doesn't work yet would be lost, and a form would be sent past the script that packs or confirms it.
(() => {
  const TYPING = "input:not([type=checkbox]), textarea, select, [contenteditable]";
  const held = new Map();

  function hold(event, what, again) {
    event.preventDefault();
    event.stopImmediatePropagation();
    held.set(what, again);
  }

  /** Links, boxes and menus need no script. */
  function clicked(event) {
    const button = event.target.closest("button:not([popovertarget])");
    if (button) hold(event, button, () => button.click());
  }

  /** Single keys and ⌘ S, ⌘ ↵, and ↵ where it sends. What is typed, and what moves the focus, needs no script. */
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
  // Modules in the page run before this.
  document.addEventListener("DOMContentLoaded", () => {
    document.removeEventListener("click", clicked, true);
    document.removeEventListener("keydown", pressed, true);
    for (const again of held.values()) again();
  });
})();
