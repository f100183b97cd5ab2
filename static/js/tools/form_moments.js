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
  // Problems of the whole list are shown at its first checkbox.
  const box = ([name, label, hint], index) =>
    fields.box(label, index ? `moments.${name}` : "moments", {
      hint,
      checked: standing().includes(name),
      write: (isOn) => write(name, isOn),
    });
  return h(
    "div",
    { role: "group", "aria-label": gettext("When it may run") },
    h("span", { class: "form-label" }, gettext("When it may run")),
    h("div", { class: "mg-grid g2 tl-tight" }, MOMENTS.map(box)),
    fields.slot("moments"),
  );
}
