// Keyboard shortcuts, inactive while typing or in a dialog; they can be turned off in the shortcuts list. Pages register theirs
// here, and “?” lists those of the current page.
import { h } from "./dom.js";

const STORED = "mg-single-keys";
const TYPING = "input:not([type=checkbox]), textarea, select, [contenteditable]";
// These repeat while held down.
const MOVES = new Set(["j", "k"]);
const COMMAND = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘" : "Ctrl";
const offered = [];
let dialog = null;
// If storage is blocked, the setting lasts until the page is left.
let chosen = "on";

// The server renders ⌘ on every platform.
if (COMMAND !== "⌘") for (const sign of document.querySelectorAll("kbd")) sign.textContent = sign.textContent.replace("⌘", COMMAND);

/**
 * Registers shortcuts: the keys ("J K"; "⌘ S" is shown per platform), a description, and a function by key. Without functions
 * a shortcut is only listed.
 */
export function offerKeys(...keys) {
  offered.push(...keys.map(([shown, says, acts = {}]) => ({ shown, says, acts })));
  if (dialog) return;
  dialog = h("dialog", { class: "sh-dialog", "aria-labelledby": "all-keys" });
  document.body.append(dialog);
  document.addEventListener("keydown", pressed);
  for (const opener of document.querySelectorAll("[data-keys-open]")) {
    opener.hidden = false;
    opener.addEventListener("click", open);
  }
}

function open() {
  document.querySelector("#person:popover-open")?.hidePopover();
  dialog.replaceChildren(list());
  dialog.showModal();
}

function list() {
  const box = h("input", { class: "form-check-input", type: "checkbox", name: "single", checked: areOn(), onchange: () => keep(box.checked) });
  return h(
    "form",
    { method: "dialog" },
    h("h2", { id: "all-keys" }, "Keyboard shortcuts"),
    h("dl", { class: "mg-kv" }, [...offered, { shown: "?", says: "This list" }].map(row)),
    h("label", { class: "form-check form-switch" }, box, h("span", { class: "form-check-label" }, "Use single-key shortcuts")),
    h("div", { class: "mg-flow end" }, h("button", { class: "btn btn-quiet" }, "Close")),
  );
}

const row = ({ shown, says }) => [
  h("dt", {}, shown.split(" ").flatMap((key) => [h("kbd", {}, key === "⌘" ? COMMAND : key), " "])),
  h("dd", {}, says),
];

function areOn() {
  try {
    return (localStorage.getItem(STORED) ?? chosen) !== "off";
  } catch {
    return chosen !== "off";
  }
}

function keep(on) {
  chosen = on ? "on" : "off";
  try {
    localStorage.setItem(STORED, chosen);
  } catch {
    // As above.
  }
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.target.closest?.(TYPING)) return;
  if (document.querySelector("dialog[open], :popover-open")) return;
  const key = event.key.toLowerCase();
  const act = key === "?" ? open : actOf(key);
  // When off, the list is still in the menu.
  if (!act || !areOn() || (event.repeat && !MOVES.has(key))) return;
  event.preventDefault();
  act();
}

const actOf = (key) => offered.find(({ acts }) => Object.hasOwn(acts, key))?.acts[key];
