// The dialog for confirmations and one-time values.
import { h, icon } from "../dom.js";
import { gettext } from "../i18n.js";

const box = document.getElementById("dialog");

/** Shows `content` and resolves to the value of the pressed button, or "" for Esc. `buttons` are [value, label, class]. */
export function ask({ title, content, buttons, isWide = false }) {
  box.returnValue = "";
  box.classList.toggle("tl-wider", isWide);
  box.replaceChildren(
    h(
      "form",
      { method: "dialog" },
      h("h2", { id: "dialog-title" }, title),
      content,
      h(
        "div",
        { class: "mg-flow end" },
        buttons.map(([value, words, look]) => h("button", { class: `btn ${look}`, value }, words)),
      ),
    ),
  );
  box.showModal();
  return new Promise((resolve) => box.addEventListener("close", () => resolve(box.returnValue), { once: true }));
}

/** Names the secret headers that a save removed. */
export function sayRemoved(names) {
  return ask({
    title: gettext("Secret headers removed"),
    content: h(
      "div",
      { class: "mg-stack t2" },
      h("p", {}, gettext("The new address is on another server, so these secret headers were removed:")),
      h(
        "ul",
        { class: "tl-headers" },
        names.map((name) => h("li", {}, h("code", {}, name))),
      ),
      h("p", {}, gettext("Set them again under Secrets if the new server needs them.")),
    ),
    buttons: [["", gettext("Close"), "btn-primary"]],
  });
}

/** Shows a signing secret once. */
export function showSecret(secret) {
  const field = h("input", {
    class: "form-control tl-mono",
    readonly: true,
    value: secret,
    "aria-label": gettext("Signing secret"),
  });
  const label = h("span", { "aria-live": "polite" }, gettext("Copy"));
  const copy = async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(secret);
      label.textContent = gettext("Copied");
    } catch {
      // Without TLS the clipboard isn't available. The text is selected, so that the user can copy it.
      label.textContent = gettext("Press Ctrl C");
    }
  };
  return ask({
    title: gettext("Copy the signing secret now"),
    content: h(
      "div",
      { class: "mg-stack" },
      h(
        "p",
        { class: "t2" },
        gettext("It won’t be shown again. Your endpoint uses it to verify the header:"),
        " ",
        h("code", {}, "Webhook-Signature"),
      ),
      h(
        "div",
        { class: "tl-copy" },
        field,
        h("button", { type: "button", class: "btn btn-quiet", onclick: copy }, icon("copy"), label),
      ),
    ),
    buttons: [["done", gettext("Done"), "btn-primary"]],
  });
}
