// When a webhook may run: the agent calls it itself, or what it says, or a todo, sets it off.
import { h } from "../dom.js";

const MOMENTS = [
  ["turn", "While it answers", "The agent calls it and reads the answer, which has five seconds."],
  ["live", "In a live call", "The same, while a voice speaks."],
  ["commitment", "When it has promised it", "The conditions say when."],
  ["task", "For an approved todo", ""],
];
// What a definition means that says nothing of it; it stays out of the JSON.
const USUAL = ["commitment", "task"];

/** Whether commitments fire the tool, so that it needs conditions. */
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
          // What is wrong with the list as a whole is shown at its first box.
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
    { role: "group", "aria-label": "When it may run" },
    h("span", { class: "form-label" }, "When it may run"),
    h("div", { class: "mg-grid g2 tl-tight" }, MOMENTS.map(box)),
    fields.slot("moments"),
  );
}
