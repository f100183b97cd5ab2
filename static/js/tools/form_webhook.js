// The webhook part of the form: URL, fields and delivery.
import { h, icon } from "../dom.js";
import { fill, gettext } from "../i18n.js";

const METHODS = ["POST", "PUT", "PATCH", "GET", "DELETE"];
const TYPES = ["string", "integer", "number", "boolean"];
const BODILESS = new Set(["GET", "DELETE"]);
const OPTIONS = ["action", "options"];

export function webhook(fields, options = {}) {
  const at = (...names) => [...OPTIONS, ...names];
  const method = options.method ?? "POST";
  const part = BODILESS.has(method) ? "query" : "body";
  return [
    h(
      "div",
      { class: "tl-url" },
      fields.select(
        gettext("Method"),
        at("method"),
        METHODS.map((name) => [name, name]),
        { standing: method, again: true },
      ),
      fields.input(gettext("Address"), at("url"), {
        mono: true,
        placeholder: "https://example.com/kitchen",
        inputmode: "url",
        spellcheck: "false",
      }),
    ),
    schema(fields, part),
    more(fields, part),
    h(
      "div",
      { class: "mg-grid g2 tl-tight" },
      fields.select(gettext("If the response is lost"), at("delivery"), deliveries(method, options.delivery)),
      fields.input(gettext("Timeout (seconds)"), at("timeout_seconds"), {
        type: "number",
        placeholder: "10",
        min: 1,
        max: 30,
      }),
      fields.input(gettext("Agent wait (seconds)"), at("wait_seconds"), {
        type: "number",
        placeholder: gettext("automatic"),
        min: 0,
        max: 600,
      }),
      fields.check(gettext("Responds later by callback"), at("callback"), {
        hint: gettext("It returns 202 and posts the result later."),
      }),
    ),
  ];
}

/** Options for a lost response. By default, only GET is retried. */
function deliveries(method, standing) {
  const usual = method === "GET" ? "idempotent" : "once";
  const value = (name) => (name === usual && standing !== name ? undefined : name);
  return [
    [value("once"), gettext("Ask a person")],
    [value("idempotent"), method === "GET" ? gettext("Retry: it changes nothing") : gettext("Retry with the same key")],
  ];
}

/** Table of fields taken from the conversation. More complex schemas are edited as JSON. */
function schema(fields, part) {
  const path = [...OPTIONS, part];
  const standing = fields.at(path);
  const title = h(
    "span",
    { class: "form-label" },
    part === "body" ? gettext("Body fields from the conversation") : gettext("Query fields from the conversation"),
  );
  if (standing !== undefined && Object.keys(standing).length && !isPlain(standing))
    return h(
      "div",
      {},
      title,
      h("p", { class: "t2 ts" }, gettext("This schema is too complex for the form. Edit it in the JSON view.")),
      fields.slot(path.join(".")),
    );
  const properties = standing?.properties ?? {};
  const add = () => {
    const names = Object.keys(properties);
    fields.put(path, {
      type: "object",
      properties: { ...properties, [`field${names.length + 1}`]: { type: "string", description: "" } },
      required: [...(standing?.required ?? []), `field${names.length + 1}`],
    });
    fields.changed(true);
  };
  return h(
    "div",
    { role: "group", "aria-label": gettext("Fields from the conversation") },
    title,
    h(
      "div",
      { class: "tl-conds" },
      Object.keys(properties).map((name) => property(fields, path, name)),
    ),
    fields.slot(path.join(".")),
    fields.canEdit &&
      h("button", { type: "button", class: "btn btn-bare btn-sm", onclick: add }, icon("plus"), gettext("Field")),
  );
}

function property(fields, path, name) {
  const standing = fields.at(path);
  const isRequired = (standing.required ?? []).includes(name);
  const replace = (properties, required) => (
    fields.put(path, { ...standing, properties, required }),
    fields.changed(true)
  );
  const required = () => standing.required ?? [];
  const rename = (to) => {
    if (!to || to === name || to in standing.properties) return;
    const entries = Object.entries(standing.properties).map(([key, value]) => [key === name ? to : key, value]);
    replace(
      Object.fromEntries(entries),
      required().map((key) => (key === name ? to : key)),
    );
  };
  const drop = () => {
    const { [name]: _, ...rest } = standing.properties;
    replace(
      rest,
      required().filter((key) => key !== name),
    );
  };
  const need = (event) =>
    replace(
      standing.properties,
      event.target.checked ? [...required(), name] : required().filter((key) => key !== name),
    );
  return h(
    "div",
    { class: "tl-cond tl-prop" },
    fields.bare(gettext("Name"), [...path, "properties", name], {
      value: name,
      mono: true,
      label: fill(gettext("Name of field %(name)s"), { name }),
      commit: rename,
    }),
    h(
      "div",
      { class: "mg-flow tl-prop-more" },
      h(
        "select",
        {
          class: "form-select",
          "aria-label": fill(gettext("Type of %(name)s"), { name }),
          disabled: !fields.canEdit,
          onchange: (event) => (
            fields.put([...path, "properties", name, "type"], event.target.value),
            fields.changed(false)
          ),
        },
        TYPES.map((type) => h("option", { selected: type === standing.properties[name].type }, type)),
      ),
      h(
        "label",
        { class: "form-check" },
        h("input", {
          type: "checkbox",
          class: "form-check-input",
          checked: isRequired,
          disabled: !fields.canEdit,
          onchange: need,
        }),
        h("span", { class: "form-check-label" }, "required"),
      ),
    ),
    fields.canEdit &&
      h(
        "button",
        { type: "button", class: "btn btn-bare btn-icon btn-sm", "aria-label": fill(gettext("Remove %(name)s"), { name }), onclick: drop },
        icon("x"),
      ),
    fields.bareArea(fill(gettext("Description of %(name)s"), { name }), [...path, "properties", name, "description"], {
      placeholder: gettext("What the kitchen has to know"),
    }),
    fields.slot([...path, "properties", name].join(".")),
  );
}

const isPlain = (schema) =>
  schema.type === "object" &&
  Object.keys(schema).every((key) => ["type", "properties", "required", "additionalProperties"].includes(key)) &&
  Object.values(schema.properties ?? {}).every(
    (property) =>
      property &&
      TYPES.includes(property.type) &&
      Object.keys(property).every((key) => ["type", "description"].includes(key)),
  );

/** Mentions parts that this form doesn't show. */
function more(fields, shown) {
  const others = ["query", "headers", "body"].filter(
    (part) => part !== shown && Object.keys(fields.at([...OPTIONS, part]) ?? {}).length,
  );
  return [
    ...["query", "headers", "body"]
      .filter((part) => part !== shown)
      .map((part) => fields.slot([...OPTIONS, part].join("."))),
    others.length > 0 && h("p", { class: "t3 ts" }, fill(gettext("It also sends %(parts)s, shown in the JSON view."), { parts: others.join(", ") })),
  ];
}
