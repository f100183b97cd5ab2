// One dialog for everything that has to be asked or shown once.
import { h, icon } from "../dom.js";

const box = document.getElementById("dialog");

/** Shows `content` under a title; resolves to the value of the button that closed it, "" for Esc. `buttons` are [value, words, class]. */
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

/** A signing secret, which is not shown again. */
export function showSecret(secret) {
  const field = h("input", {
    class: "form-control tl-mono",
    readonly: true,
    value: secret,
    "aria-label": "Signing secret",
  });
  const label = h("span", { "aria-live": "polite" }, "Copy");
  const copy = async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(secret);
      label.textContent = "Copied";
    } catch {
      // The clipboard is closed to pages without TLS: the words are selected, the keys do the rest.
      label.textContent = "Press Ctrl C";
    }
  };
  return ask({
    title: "Copy the signing secret now",
    content: h(
      "div",
      { class: "mg-stack" },
      h(
        "p",
        { class: "t2" },
        "It is shown this once. Your endpoint checks the header ",
        h("code", {}, "Webhook-Signature"),
        " with it, so that it knows who calls.",
      ),
      h(
        "div",
        { class: "tl-copy" },
        field,
        h("button", { type: "button", class: "btn btn-quiet", onclick: copy }, icon("copy"), label),
      ),
    ),
    buttons: [["done", "I have it", "btn-primary"]],
  });
}
