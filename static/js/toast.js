import { h, icon } from "./dom.js";
import { gettext } from "./i18n.js";

const SHOWN_MS = 5_000;
// Time to read an error, and to decide about an undo.
const LONG_MS = 12_000;
// Toasts shown at once.
const MOST = 2;

/**
 * `toast(text)` shows a confirmation that disappears by itself, with a form that undoes the action if given. `toast.error(text)`
 * shows a failure, which can be dismissed.
 */
export function toaster(region) {
  const show = (toast, ms) => {
    region.append(toast);
    while (region.children.length > MOST) region.firstElementChild.remove();
    setTimeout(() => toast.remove(), ms);
  };
  const toast = (text, { undo = null } = {}) =>
    show(h("div", { class: "sh-toast" }, icon("check"), text, undo), undo ? LONG_MS : SHOWN_MS);
  toast.error = (text) => {
    const close = h("button", { type: "button", "aria-label": gettext("Dismiss"), onclick: () => failed.remove() }, icon("x"));
    const failed = h("div", { class: "sh-toast", role: "alert", "data-s": "bad" }, icon("alert-circle"), h("span", {}, text), close);
    show(failed, LONG_MS);
  };
  return toast;
}
