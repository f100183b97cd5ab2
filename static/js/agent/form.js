// Saving: by key, in one field, and not without a warning when something typed would be lost.
import { offerKeys } from "../keys.js";

const KEPT = new Set(["csrfmiddlewaretoken"]);

/** A request holds at most a thousand fields, so a form goes out as one: its names and values in order. */
export function packWhole(form) {
  form.addEventListener("formdata", ({ formData }) => {
    const pairs = [...formData.entries()].filter(([name]) => !KEPT.has(name));
    for (const [name] of pairs) formData.delete(name);
    formData.append("entries", JSON.stringify(pairs));
  });
}

export function watchChanges(form) {
  let changed = "changed" in form.dataset;
  const note = () => {
    changed = true;
  };
  form.addEventListener("input", note);
  form.addEventListener("change", note);
  form.addEventListener("submit", () => {
    changed = false;
  });
  addEventListener("beforeunload", (event) => {
    if (changed) event.preventDefault();
  });
  offerKeys(["⌘ S", "Save"]);
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "s" || !(event.metaKey || event.ctrlKey) || event.altKey) return;
    event.preventDefault();
    form.requestSubmit();
  });
  showFirstError(form);
  return { note };
}

function showFirstError(form) {
  const wrong = form.querySelector("[aria-invalid=true]");
  if (!wrong) return;
  wrong.closest("details")?.setAttribute("open", "");
  wrong.focus({ preventScroll: true });
  wrong.scrollIntoView({ block: "center" });
}
