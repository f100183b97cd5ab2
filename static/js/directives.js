// The agent's directives: as a diff against this turn's, or as the prompt block.
import { h, icon, refill } from "./dom.js";
import { fieldLabel, fieldWords } from "./format.js";
import { fill, gettext } from "./i18n.js";

const FIELDS = [
  [gettext("Scenario"), (d) => [d.scenario]],
  [gettext("Step"), (d) => [d.step]],
  [gettext("Goal"), (d) => [d.goal]],
  [gettext("Instructions"), (d) => d.instructions],
  [gettext("Known"), (d) => d.known.map(({ field, value }) => fieldWords(field, value))],
  [gettext("To collect"), (d) => d.to_collect.map(fieldLabel)],
  [gettext("Tools pending"), (d) => d.tools_pending, true],
  [gettext("Don’t"), (d) => d.avoid],
];

export class Directives {
  constructor(element) {
    this.element = element;
    this.asPrompt = false;
  }

  render(turn, store) {
    this.shown = [turn, store];
    const source = turn.directives_used && store.turns.get(turn.directives_used.turn);
    refill(
      this.element,
      JSON.stringify([
        turn.id,
        turn.directives_used,
        turn.directives_written,
        turn.freshness,
        this.asPrompt,
        source?.seq,
        turn.jobs.map((job) => [job.lane, job.state]),
      ]),
      () => this.build(turn, source),
    );
  }

  build(turn, source) {
    const { directives_used: used, directives_written: written } = turn;
    if (!used && !written) return h("p", { class: "pg-none" }, nothing(turn));
    const head = h("div", { class: "mg-flow ts" }, h("span", { class: "t3" }, sentence(turn, source)), this.switch());
    const body = this.asPrompt
      ? h("pre", { class: "pg-block" }, asPrompt(written ?? used))
      : h(
          "dl",
          { class: "mg-fields" },
          FIELDS.map(([name, of, isCode]) =>
            field(name, { before: used ? of(used) : [], after: written ? of(written) : null, isCode }),
          ),
        );
    return h("div", { class: "pg-pad" }, head, body);
  }

  switch() {
    const button = (label, asPrompt) =>
      h(
        "button",
        {
          type: "button",
          "aria-pressed": String(this.asPrompt === asPrompt),
          onclick: (event) => this.choose(asPrompt, event),
        },
        label,
      );
    return h(
      "div",
      { class: "mg-seg ml", role: "group", "aria-label": gettext("Views") },
      button(gettext("Changes"), false),
      button(gettext("As prompt"), true),
    );
  }

  choose(asPrompt, event) {
    const index = [...event.target.parentElement.children].indexOf(event.target);
    this.asPrompt = asPrompt;
    this.render(...this.shown);
    this.element.querySelectorAll(".mg-seg button")[index].focus();
  }
}

function sentence({ seq, directives_used: used, directives_written: written, freshness }, source) {
  const from =
    used &&
    (source
      ? fill(gettext("Used the directives written after turn %(turn)s."), { turn: source.seq })
      : gettext("Used earlier directives."));
  const stale = {
    stale: gettext("It isn’t from the previous turn."),
    waiting: gettext("They were kept while waiting for a result."),
  }[freshness];
  const made = written
    ? fill(gettext("Written after turn %(turn)s, used from turn %(next)s."), { turn: seq, next: seq + 1 })
    : gettext("This turn wrote none.");
  return (written ? [made, from, from && stale] : [from, stale, made]).filter(Boolean).join(" ");
}

function nothing(turn) {
  const thoughts = turn.jobs.filter((job) => job.lane === "thoughts");
  if (thoughts.some((job) => job.state === "queued" || job.state === "running"))
    return h("span", { class: "mg-flow" }, icon("hourglass"), gettext("Directives appear here once they are written."));
  const last = thoughts.at(-1);
  if (last?.state === "skipped") return fill(gettext("Planning was skipped: %(why)s."), { why: last.error || gettext("waiting for a result") });
  return gettext("This turn used no directives and wrote none.");
}

/** A field as a line diff; without `after`, as plain lines. */
function field(name, { before, after, isCode }) {
  const old = before.filter(Boolean);
  const fresh = (after ?? before).filter(Boolean);
  if (!old.length && !fresh.length) return null;
  const lines = [
    ...fresh.filter((line) => old.includes(line)).map((line) => [null, line]),
    ...old.filter((line) => !fresh.includes(line)).map((line) => ["del", line]),
    ...fresh.filter((line) => !old.includes(line)).map((line) => ["add", line]),
  ];
  return [
    h("dt", {}, name),
    h(
      "dd",
      {},
      h(
        "ul",
        { class: "mg-diff" },
        lines.map(([kind, line]) =>
          h(
            "li",
            { class: kind },
            h(
              "span",
              { dir: "auto" },
              kind && h("span", { class: "visually-hidden" }, kind === "del" ? gettext("Removed: ") : gettext("Added: ")),
              isCode ? h("code", {}, line) : line,
            ),
          ),
        ),
      ),
    ),
  ];
}

function asPrompt(d) {
  const lines = [
    `<CurrentTaskAnalysis version="${d.version}">`,
    `scenario: ${d.scenario}`,
    `step: ${d.step}`,
    `goal of the next reply: ${d.goal}`,
    ...d.instructions.map((line, index) => `${index + 1}. ${line}`),
    ...d.known.map(({ field, value }) => `known: ${field}: ${value}`),
    `still to collect: ${d.to_collect.join(", ") || "nothing"}`,
    `tools pending: ${d.tools_pending.join(", ") || "none"}`,
    ...d.avoid.map((line) => `do not: ${line}`),
    "</CurrentTaskAnalysis>",
  ];
  return lines.join("\n");
}
