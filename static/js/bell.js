// The bell: its count, the list below it, and notices of the browser. Without push messages, they come while a page is open.
import { h, icon } from "./dom.js";
import { ask } from "./ended.js";
import { gettext } from "./i18n.js";

const EVERY_MS = 20_000;
const bell = document.getElementById("bell");
const list = document.getElementById("bell-list");

async function look() {
  const response = await ask();
  if (!response?.ok) return;
  const { unread } = await response.json();
  const badge = bell.querySelector("[data-unread]");
  badge.hidden = !unread;
  badge.querySelector("[data-number]").textContent = unread;
  if (unread && mayShow()) await showInBrowser();
}

const mayShow = () => "Notification" in window && Notification.permission === "granted";

/** The server gives out each notice once, so that of several tabs one shows it. */
async function showInBrowser() {
  const headers = { "X-CSRFToken": document.querySelector("meta[name=csrf-token]").content };
  const response = await fetch(bell.dataset.browser, { method: "POST", headers, credentials: "same-origin" }).catch(() => null);
  if (!response?.ok) return;
  const { notices } = await response.json();
  for (const { id, title, text, url } of notices) {
    const shown = new Notification(title, { body: text, tag: id });
    shown.addEventListener("click", () => {
      window.focus();
      location.assign(url);
    });
  }
}

async function open() {
  list.showPopover();
  list.setAttribute("aria-busy", "true");
  const response = await fetch(bell.href, { credentials: "same-origin" }).catch(() => null);
  list.removeAttribute("aria-busy");
  if (!response?.ok) return location.assign(bell.href);
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const found = page.getElementById("notice-list");
  if (!found) return location.assign(bell.href);
  const all = h("a", { href: bell.href, class: "nt-all" }, icon("list"), gettext("All notifications"));
  list.replaceChildren(...found.childNodes, all);
  list.querySelector("button, a")?.focus();
}

bell.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  if (list.matches(":popover-open")) list.hidePopover();
  else open();
});
list.addEventListener("toggle", ({ newState }) => {
  bell.setAttribute("aria-expanded", String(newState === "open"));
  if (newState === "closed" && list.contains(document.activeElement)) bell.focus();
});
bell.setAttribute("aria-expanded", "false");
document.addEventListener("visibilitychange", () => document.hidden || look());
setInterval(look, EVERY_MS);
if (mayShow()) {
  look();
  import("./push.js").then(({ renew }) => renew(bell.dataset.push)).catch(() => {});
}
