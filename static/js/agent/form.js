// Saving the settings form: shortcut, packing into one field, warning about unsaved changes.
import { gettext } from "../i18n.js";
import { offerKeys } from "../keys.js";

const KEPT = new Set(["csrfmiddlewaretoken"]);

/** Packs the form's names and values into one field, because a request holds at most a thousand fields. */
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
  offerKeys(["⌘ S", gettext("Save")]);
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
