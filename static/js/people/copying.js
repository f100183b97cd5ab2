/** Binds buttons with `data-copies` to copy the field with that id. */
import { gettext } from "../i18n.js";
export function bindCopying() {
  for (const button of document.querySelectorAll("[data-copies]")) button.addEventListener("click", () => copy(button));
}

async function copy(button) {
  const field = document.getElementById(button.dataset.copies);
  field.select();
  const label = button.querySelector("span");
  label.textContent = await written(field.value);
}

async function written(text) {
  try {
    await navigator.clipboard.writeText(text);
    return gettext("Copied");
  } catch {
    // Pages without TLS have no clipboard access; select the text for the keyboard shortcut.
    return gettext("Press Ctrl C");
  }
}
