// The after-actions part of the form.
import { h, icon } from "../dom.js";
import { fill, gettext } from "../i18n.js";

const TYPES = [
  ["send_urgent_message", gettext("Tell the agent")],
  ["set_persona_attribute", gettext("Set a customer field")],
  ["set_prompt_section", gettext("Set a prompt section")],
];
const NAMES = { set_persona_attribute: ["attribute", gettext("Field")], set_prompt_section: ["section", gettext("Section")] };
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
          index > 0 && button("arrow-up", fill(gettext("Move step %(number)s up"), { number: index + 1 }), () => move(index, -1)),
          button("x", fill(gettext("Remove step %(number)s"), { number: index + 1 }), () => set(list.filter((_, at) => at !== index))),
        ),
    );
  const add = () => set([...list, { type: "send_urgent_message", options: { prefix: "" } }]);
  return h(
    "div",
    { role: "group", "aria-label": gettext("Afterwards") },
    h("span", { class: "form-label" }, gettext("After-actions")),
    Array.isArray(list) && list.map(row),
    fields.slot("after_actions"),
    fields.canEdit && h("button", { type: "button", class: "btn btn-bare btn-sm", onclick: add }, icon("plus"), gettext("Step")),
  );
}

function one(fields, action, index) {
  const at = (...names) => ["after_actions", index, ...names];
  const type = fields.select(fill(gettext("Step %(number)s"), { number: index + 1 }), at("type"), TYPES, {
    change: (value) => fields.put(at(), { type: value, options: { ...EMPTY[value] } }),
    again: true,
  });
  const named = NAMES[action.type];
  if (!named)
    return [
      type,
      fields.input(gettext("Prefix"), at("options", "prefix"), {
        placeholder: gettext("The kitchen says"),
        hint: gettext("The response follows."),
      }),
    ];
  return [
    type,
    fields.input(named[1], at("options", named[0]), { mono: true }),
    fields.input(gettext("Part of the response"), at("options", "path"), {
      mono: true,
      placeholder: gettext("whole response"),
      hint: gettext("Dotted path, such as order.status"),
    }),
    fields.area(gettext("Instruction for the model"), at("options", "instruction"), {
      rows: 1,
      placeholder: gettext("If empty, the value is used unchanged."),
    }),
  ];
}
