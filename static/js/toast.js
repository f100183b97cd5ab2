import { h, icon } from "./dom.js";

const SHOWN_MS = 5_000;

/** `toast(text)` for what was done; it goes by itself. */
export const toaster = (region) => (text) => {
  const toast = h("div", { class: "sh-toast" }, icon("check"), text);
  region.append(toast);
  setTimeout(() => toast.remove(), SHOWN_MS);
};
