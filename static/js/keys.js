// Keyboard shortcuts, inactive while typing or in a dialog. Single keys can be turned off in the list and in the profile, where
// the setting is stored. Pages register theirs here, and “?” lists those of the current page.
import { h } from "./dom.js";
import { gettext } from "./i18n.js";

const setting = document.querySelector("meta[name=single-keys]");
const TYPING = "input:not([type=checkbox]), textarea, select, [contenteditable]";
// These repeat while held down.
const MOVES = new Set(["j", "k"]);
const COMMAND = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘" : "Ctrl";
const offered = [];
let dialog = null;

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
    opener.addEventListener("click", openKeys);
  }
}

/** Opens the list of shortcuts. */
export function openKeys() {
  document.querySelector("#person:popover-open")?.hidePopover();
  dialog.replaceChildren(list());
  dialog.showModal();
}

function list() {
  const box = h("input", { class: "form-check-input", type: "checkbox", name: "single", checked: areOn(), onchange: () => keep(box.checked) });
  return h(
    "form",
    { method: "dialog" },
    h("h2", { id: "all-keys" }, gettext("Keyboard shortcuts")),
    h("dl", { class: "mg-kv" }, [...offered, { shown: "?", says: gettext("This list") }].map(row)),
    h("label", { class: "form-check form-switch" }, box, h("span", { class: "form-check-label" }, gettext("Use single-key shortcuts"))),
    h("div", { class: "mg-flow end" }, h("button", { class: "btn btn-quiet" }, gettext("Close"))),
  );
}

const row = ({ shown, says }) => [
  h("dt", {}, shown.split(" ").flatMap((key) => [h("kbd", {}, key === "⌘" ? COMMAND : key), " "])),
  h("dd", {}, says),
];

const areOn = () => setting?.content !== "off";

function keep(on) {
  if (!setting) return;
  setting.content = on ? "on" : "off";
  const headers = { Accept: "application/json", "X-CSRFToken": document.querySelector("meta[name=csrf-token]").content };
  const body = new URLSearchParams(on ? { single_keys: "on" } : {});
  fetch(setting.dataset.url, { method: "POST", credentials: "same-origin", headers, body, keepalive: true });
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.target.closest?.(TYPING)) return;
  if (document.querySelector("dialog[open], :popover-open")) return;
  const key = event.key.toLowerCase();
  const act = key === "?" ? openKeys : actOf(key);
  // When off, the list is still in the menu.
  if (!act || !areOn() || (event.repeat && !MOVES.has(key))) return;
  event.preventDefault();
  act();
}

const actOf = (key) => offered.find(({ acts }) => Object.hasOwn(acts, key))?.acts[key];
