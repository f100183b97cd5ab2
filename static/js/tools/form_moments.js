// When a tool may run: during a reply, during a call, after a promise or for an approved todo.
import { h } from "../dom.js";
import { gettext } from "../i18n.js";

const MOMENTS = [
  ["turn", gettext("During a reply"), gettext("The agent calls it and waits up to five seconds for the response.")],
  ["live", gettext("During a live call"), gettext("The same, on a voice call.")],
  ["commitment", gettext("After a promise"), gettext("When the conditions are met.")],
  ["task", gettext("For approved todos"), ""],
];
// The default, which is left out of the JSON.
const USUAL = ["commitment", "task"];

/** True if promises fire the tool, which then needs conditions. */
export const isPromised = ({ moments }) => !Array.isArray(moments) || !moments.length || moments.includes("commitment");

export function moments(fields, definition) {
  const standing = () => (Array.isArray(definition.moments) ? definition.moments : USUAL);
  const write = (name, isOn) => {
    const chosen = MOMENTS.map(([one]) => one).filter((one) => (one === name ? isOn : standing().includes(one)));
    fields.put(["moments"], String(chosen) === String(USUAL) ? undefined : chosen);
    fields.changed(true);
  };
  const box = ([name, label, hint], index) => {
    const id = fields.id();
    return h(
      "div",
      {},
      h(
        "label",
        { class: "form-check", for: id },
        h("input", {
          id,
          type: "checkbox",
          class: "form-check-input",
          // Problems of the whole list are shown at its first checkbox.
          "data-path": index ? `moments.${name}` : "moments",
          "aria-describedby": hint && `${id}-h`,
          checked: standing().includes(name),
          disabled: !fields.canEdit,
          onchange: (event) => write(name, event.target.checked),
        }),
        h("span", { class: "form-check-label" }, label),
      ),
      hint && h("p", { class: "form-hint", id: `${id}-h` }, hint),
    );
  };
  return h(
    "div",
    { role: "group", "aria-label": gettext("When it may run") },
    h("span", { class: "form-label" }, gettext("When it may run")),
    h("div", { class: "mg-grid g2 tl-tight" }, MOMENTS.map(box)),
    fields.slot("moments"),
  );
}
