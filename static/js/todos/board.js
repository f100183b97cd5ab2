// The board: detail panel, keyboard actions and live updates.
import { h, icon } from "../dom.js";
import { gettext } from "../i18n.js";
import { offerKeys } from "../keys.js";
import { toaster } from "../toast.js";
import { Live } from "./live.js";
import { parsed, swap, swapBoard } from "./swap.js";

const MOVE_MS = 140;
const PENDING = "pending_review";
const [COMPLETE, FAIL] = ["complete", "fail"];
const root = document.getElementById("todos");
const toast = toaster(document.getElementById("toasts"));
const find = (selector) => root.querySelector(selector);
const panel = () => document.getElementById("panel");
const isPhone = () => matchMedia("(max-width: 767px)").matches;

/** Fetches a page, or submits a form, and shows the result in place. */
async function visit(url, { body, how = "pushState" } = {}) {
  clearTimeout(moving);
  root.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(url, { method: body ? "POST" : "GET", body, credentials: "same-origin" });
    const page = parsed(await response.text());
    if (!page.getElementById(root.id)) return location.assign(response.url);
    swap(root, page);
    history[how]({}, "", response.url);
    tellBriefly();
    if (body) find(".sel")?.focus({ preventScroll: true });
  } catch {
    toast.error(gettext("The server can’t be reached. Check your connection and try again."));
  } finally {
    root.removeAttribute("aria-busy");
  }
}

/** Shows success messages as toasts. Errors stay on the page until the next action. */
function tellBriefly() {
  for (const note of root.querySelectorAll("#panel-told > .mg-note[role][data-s=ok], .td-told > .mg-note[data-s=ok]")) {
    toast(note.querySelector("span").textContent, { undo: note.querySelector("form") });
    note.remove();
  }
}

/** Loads the current page. A todo under review is not replaced while the user reads it. */
async function refresh() {
  if (root.hasAttribute("aria-busy") || document.querySelector("dialog[open]")) return;
  const shown = location.href;
  const response = await fetch(shown, { credentials: "same-origin" }).catch(() => null);
  if (!response?.ok || root.hasAttribute("aria-busy") || shown !== location.href) return;
  const page = parsed(await response.text());
  if (isTicking()) swapBoard(root, page);
  else if (isOtherVersion(page)) offerVersion(page);
  else swapKeepingRefusals(page);
}

const isTicking = () => Boolean(find("[name=repeat]:checked"));

function isOtherVersion(page) {
  const [now, fresh] = [panel(), page.getElementById("panel")];
  return now && fresh && now.dataset.status === PENDING && fresh.dataset.status === PENDING && now.dataset.hash !== fresh.dataset.hash;
}

function offerVersion(page) {
  swapBoard(root, page);
  if (find(".td-news")) return;
  // The version on screen can no longer be approved.
  for (const button of root.querySelectorAll("#panel-foot button")) button.disabled = true;
  const show = h("button", { type: "button", class: "btn btn-quiet btn-sm ml", onclick: () => visit(location.href, { how: "replaceState" }) }, gettext("Show new version"));
  find("#panel-told").prepend(
    h("div", { class: "mg-note td-news", "data-s": "warn", role: "alert" }, icon("refresh"), h("b", { class: "tb" }, gettext("This todo changed while you were reading it.")), show),
  );
}

function swapKeepingRefusals(page) {
  const refused = [...root.querySelectorAll("#panel-told > .mg-note[role]:is([data-s=warn], [data-s=bad]):not(.td-news)")];
  const status = panel()?.dataset.status;
  swap(root, page);
  if (panel()?.dataset.status === status) find("#panel-told")?.prepend(...refused);
}

// J and K move the focus. If the panel is open, it follows.
let moving;

function move(by) {
  const rows = [...root.querySelectorAll("[data-row]")];
  const at = rows.indexOf(document.activeElement.closest?.("[data-row]") ?? find(".sel"));
  const next = rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + by))];
  if (!next) return;
  next.focus();
  next.scrollIntoView({ block: "nearest", inline: "nearest" });
  clearTimeout(moving);
  if (panel()) moving = setTimeout(() => visit(next.href, { how: "replaceState" }), MOVE_MS);
}

/**
 * Acts on the todo shown in the panel, never on one still loading. Without a panel, the key opens the focused card, and a
 * rejection asks for its reason there.
 */
async function press(key) {
  if (root.hasAttribute("aria-busy")) return;
  const card = document.activeElement.closest?.(".td-card");
  if (!panel() && card) await visit(card.href);
  else if (!panel()) return;
  else if (key !== "r") return act(key);
  if (key === "r") act(key);
}

function act(key) {
  const shown = panel() && (!moving || location.href === find(".sel")?.href);
  if (shown) find(`[data-key="${key}"]:not(:disabled)`)?.click();
}

function ask(kind) {
  const dialog = document.getElementById("ask");
  for (const part of dialog.querySelectorAll(`[data-${kind}]`)) part.textContent = part.dataset[kind];
  dialog.querySelector("[name=do]").value = kind;
  const [sure, reason] = [dialog.querySelector("[data-sure]"), dialog.querySelector("[name=reason]")];
  sure.classList.toggle("btn-primary", kind === COMPLETE);
  sure.classList.toggle("btn-danger-quiet", kind !== COMPLETE);
  reason.required = kind === FAIL;
  dialog.showModal();
  reason.focus();
}

root.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const asking = event.target.closest("[data-asks]");
  const link = event.target.closest(".td-card, #close");
  if (!asking && !link) {
    if (event.target.closest("[data-close]")) document.getElementById("ask").close();
    return;
  }
  event.preventDefault();
  if (asking) return ask(asking.dataset.asks);
  visit(link.href).then(() => isPhone() && panel()?.focus());
});

root.addEventListener("submit", (event) => {
  const form = event.target.closest("[data-act]");
  if (!form) return;
  event.preventDefault();
  if (root.hasAttribute("aria-busy")) return;
  const body = new FormData(form, event.submitter);
  form.closest("dialog")?.close();
  visit(location.href, { body });
});

addEventListener("popstate", () => visit(location.href, { how: "replaceState" }));

offerKeys(["J K", gettext("Next, previous todo"), { j: () => move(1), k: () => move(-1) }], ["↵", gettext("Open selected")]);
// Only members who can decide have the button for a new todo.
if (document.getElementById("new"))
  offerKeys(
    ["A", gettext("Approve"), { a: () => press("a") }],
    ["R", gettext("Reject"), { r: () => press("r") }],
    ["T", gettext("Assign to me and do it by hand"), { t: () => press("t") }],
    ["E", gettext("Edit"), { e: () => press("e") }],
    ["Y D", gettext("It happened, it didn’t happen"), { y: () => find('[data-key="y"]')?.click(), d: () => find('[data-key="d"]')?.click() }],
    ["N", gettext("New todo"), { n: () => document.getElementById("new").click() }],
  );
offerKeys(["esc", gettext("Close"), { escape: () => find("#close")?.click() }]);

new Live({ address: () => root.dataset.news, stamp: () => root.dataset.stamp, refresh });
tellBriefly();
root.dataset.ready = "yes";
