// The definition being edited: a JSON text shared by the editor and the form.
export class Draft {
  constructor({ text, version }) {
    this.text = text;
    this.saved = text;
    this.version = version;
    this.problems = [];
    this.listeners = [];
  }

  listen(listener) {
    this.listeners.push(listener);
  }

  /** Sets the text on behalf of `from`, which is not notified. */
  write(text, from) {
    if (text === this.text) return;
    this.text = text;
    this.tell(from);
  }

  tell(from) {
    for (const listener of this.listeners) listener(this, from);
  }

  /** The parsed object, or null if the text isn't a JSON object. */
  get document() {
    try {
      const value = JSON.parse(this.text);
      return value && typeof value === "object" && !Array.isArray(value) ? value : null;
    } catch {
      return null;
    }
  }

  get isChanged() {
    return !sameJson(this.text, this.saved);
  }

  get mistakes() {
    return this.problems.filter((problem) => problem.tone === "bad");
  }

  wasSaved({ definition, version }) {
    this.version = version;
    this.saved = this.text;
    if (!sameJson(JSON.stringify(definition), this.text)) this.saved = this.text = pretty(definition);
    this.tell(null);
  }
}

// Display order of keys; keep in sync with tools/engine/custom/definition_text.py. The server doesn't preserve any.
const FIELDS = [
  "description",
  "conditions",
  "useConversationHistory",
  "conflictPolicy",
  "moments",
  "action",
  "after_actions",
  "keeps_promise",
  "requires_approval",
];
const PARTS = [
  "type",
  "description",
  "url",
  "method",
  "query",
  "headers",
  "body",
  "properties",
  "items",
  "required",
  "options",
];

function inOrder(value, names = PARTS) {
  if (Array.isArray(value)) return value.map((item) => inOrder(item));
  if (!value || typeof value !== "object") return value;
  const rank = (name) => (names.includes(name) ? names.indexOf(name) : names.length);
  const sorted = Object.keys(value).sort((a, b) => rank(a) - rank(b));
  return Object.fromEntries(sorted.map((name) => [name, inOrder(value[name])]));
}

export const pretty = (definition) => JSON.stringify(inOrder(definition, FIELDS), null, 2);

/** Sorts keys, so that equal definitions have equal texts. */
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (!value || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted(value[name])]),
  );
}

function sameJson(a, b) {
  if (a === b) return true;
  try {
    return JSON.stringify(sorted(JSON.parse(a))) === JSON.stringify(sorted(JSON.parse(b)));
  } catch {
    return false;
  }
}
