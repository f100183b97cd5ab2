import { h, icon } from "./dom.js";

const SHOWN_MS = 5_000;
// Who is quick reads the newest; more than that would cover what they do.
const MOST = 2;

/** `toast(text)` for what was done; it goes by itself. */
export const toaster = (region) => (text) => {
  const toast = h("div", { class: "sh-toast" }, icon("check"), text);
  region.append(toast);
  while (region.children.length > MOST) region.firstElementChild.remove();
  setTimeout(() => toast.remove(), SHOWN_MS);
};
