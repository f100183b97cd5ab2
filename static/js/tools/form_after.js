// The after-actions part of the form.
import { h, icon } from "../dom.js";

const TYPES = [
  ["send_urgent_message", "Tell the agent"],
  ["set_persona_attribute", "Set a customer field"],
  ["set_prompt_section", "Set a prompt section"],
];
const NAMES = { set_persona_attribute: ["attribute", "Field"], set_prompt_section: ["section", "Section"] };
const EMPTY = {
  send_urgent_message: { prefix: "" },
  set_persona_attribute: { attribute: "" },
  set_prompt_section: { section: "" },
};

export function afterActions(fields, definition) {
  const list = definition.after_actions ?? [];
  const set = (actions) => (fields.put(["after_actions"], actions.length ? actions : undefined), fields.changed(true));
  const move = (index, by) => {
    const moved = [...list];
    moved.splice(index + by, 0, ...moved.splice(index, 1));
    set(moved);
  };
  const button = (name, label, onclick) =>
    h("button", { type: "button", class: "btn btn-bare btn-icon btn-sm", "aria-label": label, onclick }, icon(name));
  const row = (action, index) =>
    h(
      "div",
      { class: "tl-after" },
      h("span", { class: "mg-n" }, String(index + 1)),
      h("div", { class: "mg-stack" }, one(fields, action, index)),
      fields.canEdit &&
        h(
          "span",
          { class: "tl-moves" },
          index > 0 && button("arrow-up", `Move step ${index + 1} up`, () => move(index, -1)),
          button("x", `Remove step ${index + 1}`, () => set(list.filter((_, at) => at !== index))),
        ),
    );
  const add = () => set([...list, { type: "send_urgent_message", options: { prefix: "" } }]);
  return h(
    "div",
    { role: "group", "aria-label": "Afterwards" },
    h("span", { class: "form-label" }, "After-actions"),
    Array.isArray(list) && list.map(row),
    fields.slot("after_actions"),
    fields.canEdit && h("button", { type: "button", class: "btn btn-bare btn-sm", onclick: add }, icon("plus"), "Step"),
  );
}

function one(fields, action, index) {
  const at = (...names) => ["after_actions", index, ...names];
  const type = fields.select(`Step ${index + 1}`, at("type"), TYPES, {
    change: (value) => fields.put(at(), { type: value, options: { ...EMPTY[value] } }),
    again: true,
  });
  const named = NAMES[action.type];
  if (!named)
    return [
      type,
      fields.input("Prefix", at("options", "prefix"), {
        placeholder: "The kitchen says",
        hint: "The response follows.",
      }),
    ];
  return [
    type,
    fields.input(named[1], at("options", named[0]), { mono: true }),
    fields.input("Part of the response", at("options", "path"), {
      mono: true,
      placeholder: "whole response",
      hint: "Dotted path, such as order.status",
    }),
    fields.area("Instruction for the model", at("options", "instruction"), {
      rows: 1,
      placeholder: "If empty, the value is used unchanged.",
    }),
  ];
}
