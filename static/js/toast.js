import { h, icon } from "./dom.js";

const SHOWN_MS = 5_000;
// Toasts shown at once.
const MOST = 2;

/** `toast(text)` shows a confirmation that disappears by itself. */
export const toaster = (region) => (text) => {
  const toast = h("div", { class: "sh-toast" }, icon("check"), text);
  region.append(toast);
  while (region.children.length > MOST) region.firstElementChild.remove();
  setTimeout(() => toast.remove(), SHOWN_MS);
};
