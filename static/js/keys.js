// Single keys, off while something is typed or a dialog is open, and switched off for good in the list of keys.
const KEY = "mg-single-keys";
const TYPING = "input, textarea, select, [contenteditable]";

export class Keys {
  constructor({ dialog, opener, bindings }) {
    this.dialog = dialog;
    this.bindings = { ...bindings, "?": () => this.open() };
    this.enabled = this.stored();
    this.box = dialog.querySelector("[name=single]");
    this.box.addEventListener("change", () => this.set(this.box.checked));
    opener.hidden = false;
    opener.addEventListener("click", () => this.open());
    document.addEventListener("keydown", (event) => this.pressed(event));
  }

  stored() {
    try {
      return localStorage.getItem(KEY) !== "off";
    } catch {
      return true;
    }
  }

  set(enabled) {
    this.enabled = enabled;
    try {
      localStorage.setItem(KEY, enabled ? "on" : "off");
    } catch {
      // Storage is blocked: the choice lasts as long as the page.
    }
  }

  open() {
    this.box.checked = this.enabled;
    this.dialog.showModal();
  }

  pressed(event) {
    if (!this.enabled || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.matches(TYPING) || document.querySelector("dialog[open], :popover-open")) return;
    const act = this.bindings[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  }
}
