// Single keys, off while something is typed or a dialog is open, and switched off for good in the list of keys. What a page has of
// them it offers here: “?” and the menu then list what works on this page and nothing else.
import { h } from "./dom.js";

const STORED = "mg-single-keys";
const TYPING = "input:not([type=checkbox]), textarea, select, [contenteditable]";
// Held down, they go on; anything else is done once.
const MOVES = new Set(["j", "k"]);
const COMMAND = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘" : "Ctrl";
const offered = [];
let dialog = null;
// Where storage is blocked the choice lasts as long as the page.
let chosen = "on";

// The server writes one sign for all.
if (COMMAND !== "⌘") for (const sign of document.querySelectorAll("kbd")) sign.textContent = sign.textContent.replace("⌘", COMMAND);

/**
 * Each is what one presses ("J K"; "⌘ S" is written as the device calls it), what that does in words, and by key the function
 * that does it. Without functions it is listed only: something else listens.
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
    h("h2", { id: "all-keys" }, "Keys"),
    h("dl", { class: "mg-kv" }, [...offered, { shown: "?", says: "This list" }].map(row)),
    h("label", { class: "form-check form-switch" }, box, h("span", { class: "form-check-label" }, "Single keys work when nothing is being typed")),
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
  // Switched off, the list is found in the menu.
  if (!act || !areOn() || (event.repeat && !MOVES.has(key))) return;
  event.preventDefault();
  act();
}

const actOf = (key) => offered.find(({ acts }) => Object.hasOwn(acts, key))?.acts[key];
