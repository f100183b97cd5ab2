// The JSON editor: line numbers, syntax colors and problems next to their lines.
import { h, icon } from "../dom.js";
import { fill, gettext } from "../i18n.js";
import { indexOf, lineOf, placeOf, placesOf } from "./scan.js";

const TOKENS = /("(?:[^"\\\n]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)|([{}[\],:])/g;

const LEAST_ROOM_PX = 90;

export class JsonEditor {
  constructor({ root, problems, caret, onChange }) {
    this.input = root.querySelector("textarea");
    this.text = root.querySelector(".je-text");
    this.gutter = root.querySelector(".je-gutter");
    this.list = problems;
    this.caret = caret;
    this.problems = [];
    this.input.addEventListener("input", () => (this.draw(), onChange(this.input.value)));
    this.input.addEventListener("keydown", (event) => this.indent(event));
    for (const type of ["keyup", "click", "focus"]) this.input.addEventListener(type, () => this.tellPlace());
    new ResizeObserver(() => this.fit()).observe(root);
    this.draw();
  }

  get value() {
    return this.input.value;
  }

  set value(text) {
    if (text === this.input.value) return;
    this.input.value = text;
    this.draw();
  }

  /** Shows problems, each {path, message, tone}, at their lines. */
  show(problems) {
    const places = placesOf(this.value);
    this.problems = problems.map((problem) => ({ ...problem, ...placeOf(this.value, problem, places) }));
    this.list.replaceChildren(...this.problems.map((problem) => this.item(problem)));
    this.draw();
  }

  item(problem) {
    const go = () => this.goTo(problem);
    return h(
      "li",
      { "data-s": problem.tone },
      icon(problem.tone === "bad" ? "alert-circle" : "alert-triangle"),
      h(
        "span",
        {},
        h(
          "button",
          { type: "button", class: "pg-turn", onclick: go },
          fill(gettext("Line %(line)s, column %(column)s"), { line: problem.line, column: problem.column }),
        ),
        " ",
        problem.message,
      ),
    );
  }

  goTo(place) {
    const at = indexOf(this.value, place);
    this.input.focus();
    this.input.setSelectionRange(at, at);
    this.tellPlace();
    this.gutter.children[place.line - 1]?.scrollIntoView({ block: "center" });
  }

  tellPlace() {
    const { line, column } = lineOf(this.value, this.input.selectionStart);
    this.caret.textContent = fill(gettext("Line %(line)s, column %(column)s"), { line, column });
  }

  /** Indents a new line like the previous one, one level deeper after an opening bracket. */
  indent(event) {
    if (event.key !== "Enter" || event.isComposing || event.ctrlKey || event.metaKey || this.input.readOnly) return;
    event.preventDefault();
    const before = this.value.slice(0, this.input.selectionStart);
    const inset = /(?:^|\n)([ \t]*)[^\n]*$/.exec(before)[1];
    // Deprecated, but the only way that preserves undo.
    document.execCommand("insertText", false, `\n${inset}${/[{[]\s*$/.test(before) ? "  " : ""}`);
  }

  draw() {
    const lines = this.value.split("\n");
    const wrong = new Map();
    for (const problem of this.problems) if (!wrong.has(problem.line)) wrong.set(problem.line, problem);
    this.text.replaceChildren(...lines.map((line, index) => drawn(line, wrong.get(index + 1))));
    this.gutter.replaceChildren(
      ...lines.map((_, index) => h("span", { "data-s": wrong.get(index + 1)?.tone ?? null }, String(index + 1))),
    );
    this.fit();
  }

  /** Fits messages into the space right of their lines; the list below shows those that don't fit. */
  fit() {
    const room = this.text.parentElement.getBoundingClientRect().right;
    for (const told of this.text.querySelectorAll(".je-told")) {
      const left = room - told.getBoundingClientRect().left - 10;
      told.hidden = left < LEAST_ROOM_PX;
      told.style.maxWidth = `${Math.max(0, left)}px`;
    }
  }
}

/** One line, with the faulty part underlined and the message after it. */
function drawn(line, problem) {
  if (!problem) return h("span", { class: "je-line" }, coloured(line), "\n");
  const { tone, message, column, length } = problem;
  const [from, to] = [column - 1, column - 1 + length];
  return h(
    "span",
    { class: "je-line je-wrong", "data-s": tone },
    coloured(line.slice(0, from)),
    h("span", { class: "je-words" }, coloured(line.slice(from, to)), from >= line.length && " "),
    coloured(line.slice(to)),
    h("span", { class: "je-told" }, message),
    "\n",
  );
}

function coloured(line) {
  const nodes = [];
  let from = 0;
  for (const match of line.matchAll(TOKENS)) {
    const [whole, string, colon, scalar] = match;
    nodes.push(line.slice(from, match.index));
    if (string) nodes.push(h("span", { class: colon ? "je-key" : "je-string" }, string), colon ?? "");
    else nodes.push(h("span", { class: scalar ? "je-scalar" : "je-mark" }, whole));
    from = match.index + whole.length;
  }
  return [...nodes, line.slice(from)];
}
