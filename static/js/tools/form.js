// The usual parts of a definition as a form. What it doesn't know it leaves as it is in the JSON.
import { h, icon, whenReleased } from "../dom.js";
import { afterActions } from "./form_after.js";
import { Fields } from "./form_fields.js";
import { isPromised, moments } from "./form_moments.js";
import { webhook } from "./form_webhook.js";

const ACTIONS = [
  ["send_webhook", "Call a webhook"],
  ["send_urgent_message", "Tell the agent at once"],
  ["send_event", "Send the event of its name"],
];

export class DefinitionForm {
  constructor({ root, draft, canEdit }) {
    this.root = root;
    this.draft = draft;
    this.canEdit = canEdit;
    draft.listen((_, from) => from !== this && whenReleased(() => this.render()));
    this.render();
  }

  /** Draws everything anew; afterwards only what is typed changes. */
  render() {
    const { document: definition } = this.draft;
    if (!definition) {
      this.fields = null;
      this.root.replaceChildren(
        h(
          "p",
          { class: "t2" },
          "The text is no JSON object yet, so there is no form of it. Put it right in the JSON view.",
        ),
      );
      return;
    }
    const had = this.focused();
    this.fields = new Fields({
      definition,
      canEdit: this.canEdit,
      onChange: (again) => this.changed(definition, again),
    });
    this.root.replaceChildren(...this.parts(this.fields, definition).flat(2).filter(Boolean));
    this.show(this.draft.problems);
    if (had) this.root.querySelector(`[data-path="${CSS.escape(had)}"]`)?.focus();
  }

  focused() {
    return this.root.contains(document.activeElement) ? document.activeElement.dataset.path : null;
  }

  changed(definition, again) {
    this.draft.write(JSON.stringify(definition, null, 2), again ? null : this);
  }

  parts(fields, definition) {
    const type = definition.action?.type ?? "send_event";
    const options = fields.at(["action", "options"]);
    return [
      fields.area("What does it do?", ["description"], { rows: 2 }),
      type === "send_webhook" && moments(fields, definition),
      (isPromised(definition) || hasConditions(definition)) && conditions(fields, definition),
      h(
        "div",
        { class: "mg-grid g2 tl-tight" },
        fields.select(
          "Reads",
          ["useConversationHistory"],
          [
            [false, "The latest answer"],
            [true, "The whole conversation"],
          ],
        ),
        fields.input("Competes under tag", ["conflictPolicy", "tag"], {
          placeholder: "None",
          clear: ["conflictPolicy"],
          hint: "Of the tools with one tag, one fires in a turn.",
        }),
      ),
      fields.select("Then", ["action", "type"], ACTIONS, {
        standing: type,
        change: (value) => {
          definition.action = value === "send_event" ? { type: value } : { type: value, options: {} };
          // Only a webhook has a choice.
          delete definition.moments;
        },
        again: true,
      }),
      type === "send_webhook" && webhook(fields, options),
      type === "send_urgent_message" && [
        fields.input("Begins with", ["action", "options", "prefix"], { placeholder: "Kitchen" }),
        fields.area("Message", ["action", "options", "message"], {
          rows: 2,
          hint: "Left empty, the agent hears its own words again.",
        }),
      ],
      type !== "send_event" && afterActions(fields, definition),
      fields.check("A colleague approves each use first", ["requires_approval"], {
        hint: "It becomes a todo with exactly its arguments, and runs when somebody says yes.",
      }),
    ];
  }

  /** Puts each problem beside its field; what belongs to no field is returned. */
  show(problems) {
    return this.fields ? this.fields.show(problems) : problems;
  }
}

const hasConditions = (definition) => Object.keys(definition.conditions ?? {}).length > 0;

function conditions(fields, definition) {
  definition.conditions ??= {};
  const names = Object.keys(definition.conditions);
  const rename = (from, to) => {
    const entries = Object.entries(definition.conditions);
    definition.conditions = Object.fromEntries(entries.map(([name, value]) => [name === from ? to : name, value]));
  };
  const add = () => {
    const name = ["agentPromised", "customerAgreed", "condition"].find((one) => !(one in definition.conditions));
    const free = name ?? `condition${names.length + 1}`;
    definition.conditions[free] = { type: "boolean", description: "" };
    fields.changed(true);
  };
  const row = (name) =>
    h(
      "div",
      { class: "tl-cond" },
      fields.bare("Name", ["conditions", name], {
        value: name,
        mono: true,
        label: `Name of condition ${name}`,
        commit: (to) => to && to !== name && !(to in definition.conditions) && (rename(name, to), fields.changed(true)),
      }),
      fields.bareArea(`What ${name} says`, ["conditions", name, "description"]),
      fields.canEdit &&
        h(
          "button",
          {
            type: "button",
            class: "btn btn-bare btn-icon btn-sm",
            "aria-label": `Remove ${name}`,
            onclick: () => (delete definition.conditions[name], fields.changed(true)),
          },
          icon("x"),
        ),
      fields.slot(`conditions.${name}`),
    );
  return h(
    "div",
    { role: "group", "aria-label": "Conditions" },
    h("span", { class: "form-label" }, "Conditions, all must hold"),
    h("div", { class: "tl-conds" }, names.map(row)),
    fields.slot("conditions"),
    fields.canEdit &&
      h("button", { type: "button", class: "btn btn-bare btn-sm", onclick: add }, icon("plus"), "Condition"),
  );
}
