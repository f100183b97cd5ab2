// The form for a definition. Parts it doesn't cover stay unchanged in the JSON.
import { h, icon, whenReleased } from "../dom.js";
import { fill, gettext } from "../i18n.js";
import { afterActions } from "./form_after.js";
import { Fields } from "./form_fields.js";
import { isPromised, moments } from "./form_moments.js";
import { webhook } from "./form_webhook.js";

const ACTIONS = [
  ["send_webhook", gettext("Call a webhook")],
  ["send_urgent_message", gettext("Send the agent a message")],
  ["send_event", gettext("Send a system event")],
];

export class DefinitionForm {
  constructor({ root, draft, canEdit }) {
    this.root = root;
    this.draft = draft;
    this.canEdit = canEdit;
    draft.listen((_, from) => from !== this && whenReleased(() => this.render()));
    this.render();
  }

  /** Renders the whole form; typing then changes only the draft. */
  render() {
    const { document: definition } = this.draft;
    if (!definition) {
      this.fields = null;
      this.root.replaceChildren(
        h(
          "p",
          { class: "t2" },
          gettext("The definition isn’t a valid JSON object. Fix it in the JSON view."),
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
      fields.area(gettext("Description"), ["description"], {
        rows: 2,
        placeholder: gettext("Tells the kitchen about an allergy or a diet."),
      }),
      type === "send_webhook" && moments(fields, definition),
      (isPromised(definition) || hasConditions(definition)) && conditions(fields, definition),
      h(
        "div",
        { class: "mg-grid g2 tl-tight" },
        fields.select(
          gettext("Reads"),
          ["useConversationHistory"],
          [
            [false, gettext("Latest reply")],
            [true, gettext("Whole conversation")],
          ],
        ),
        fields.input(gettext("Tag"), ["conflictPolicy", "tag"], {
          placeholder: gettext("None"),
          clear: ["conflictPolicy"],
          hint: gettext("One tool per tag fires in a turn."),
        }),
      ),
      fields.select(gettext("Then"), ["action", "type"], ACTIONS, {
        standing: type,
        change: (value) => {
          definition.action = value === "send_event" ? { type: value } : { type: value, options: {} };
          // Only webhooks have a choice.
          delete definition.moments;
        },
        again: true,
      }),
      type === "send_webhook" && webhook(fields, options),
      type === "send_urgent_message" && [
        fields.input(gettext("Prefix"), ["action", "options", "prefix"], { placeholder: gettext("Kitchen") }),
        fields.area(gettext("Message"), ["action", "options", "message"], {
          rows: 2,
          placeholder: gettext("The kitchen knows about the allergy."),
          hint: gettext("If empty, the agent’s own words are repeated to it."),
        }),
      ],
      type !== "send_event" && afterActions(fields, definition),
      fields.check(gettext("Conversation act"), ["keeps_promise"], {
        hint: gettext("Such as a goodbye or a lookup. It creates no promise and isn’t counted."),
        on: false,
      }),
      fields.check(gettext("Require approval"), ["requires_approval"], {
        hint: gettext("Each use becomes a todo and runs once approved."),
      }),
    ];
  }

  /** Shows each problem at its field and returns those without one. */
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
      fields.bare(gettext("Name"), ["conditions", name], {
        value: name,
        mono: true,
        label: fill(gettext("Name of condition %(name)s"), { name }),
        commit: (to) => to && to !== name && !(to in definition.conditions) && (rename(name, to), fields.changed(true)),
      }),
      fields.bareArea(fill(gettext("Description of %(name)s"), { name }), ["conditions", name, "description"], {
        placeholder: gettext("The agent commits, in this answer, to tell the kitchen now."),
      }),
      fields.canEdit &&
        h(
          "button",
          {
            type: "button",
            class: "btn btn-bare btn-icon btn-sm",
            "aria-label": fill(gettext("Remove %(name)s"), { name }),
            onclick: () => (delete definition.conditions[name], fields.changed(true)),
          },
          icon("x"),
        ),
      fields.slot(`conditions.${name}`),
    );
  return h(
    "div",
    { role: "group", "aria-label": gettext("Conditions") },
    h("span", { class: "form-label" }, gettext("Conditions (all must be met)")),
    h("div", { class: "tl-conds" }, names.map(row)),
    fields.slot("conditions"),
    fields.canEdit &&
      h("button", { type: "button", class: "btn btn-bare btn-sm", onclick: add }, icon("plus"), gettext("Condition")),
  );
}
