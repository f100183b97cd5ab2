// Why each tool fired or did not.
import { h, icon, refill, state } from "./dom.js";
import { plural } from "./format.js";
import { numbersOf, placeVerdicts } from "./marks.js";
import { reading, replyText } from "./turn.js";

const ORDER = { Fired: 0, "Held back": 1, Outranked: 2, "Not fired": 3 };

export class Verdicts {
  constructor(element, { showEffects }) {
    this.element = element;
    this.showEffects = showEffects;
    this.opened = new Map();
  }

  render(turn) {
    refill(
      this.element,
      JSON.stringify([
        turn.id,
        turn.verdicts,
        turn.effects.map(({ id, state: now }) => [id, now]),
        turn.status,
        turn.jobs.map((job) => job.state),
      ]),
      () => this.build(turn),
    );
  }

  build(turn) {
    if (!turn.verdicts.length) return h("p", { class: "pg-none" }, nothing(turn));
    const numbers = numbersOf(placeVerdicts(replyText(turn), turn.verdicts, reading));
    const isSilent = (verdict) => !verdict.fired && !verdict.rule && !verdict.quote;
    const spoken = turn.verdicts
      .filter((verdict) => !isSilent(verdict))
      .sort((a, b) => rank(a, numbers) - rank(b, numbers));
    const silent = turn.verdicts.filter(isSilent);
    const firstHeld = spoken.find((verdict) => !verdict.fired && verdict.rule);
    const rows = spoken.map((verdict) =>
      this.row(turn, verdict, { number: numbers.get(verdict), isOpen: verdict.fired || verdict === firstHeld }),
    );
    return h("div", { class: "mg-rows first vd" }, rows, silent.length > 0 && this.silent(turn, silent));
  }

  row(turn, verdict, { number, isOpen }) {
    const { tone, icon: name, word, gloss } = reading(verdict);
    const summary = h(
      "summary",
      {},
      state(tone, name, word),
      h("code", {}, verdict.tool),
      h(
        "span",
        { class: "t2 ell", dir: "auto", title: verdict.quote },
        verdict.quote ? `“${verdict.quote}”` : verdict.reason,
      ),
      gloss && h("span", { class: "t3 nw vd-gloss" }, gloss),
      h("span", { class: "mg-n" }, number ? String(number) : ""),
    );
    const facts = h(
      "dl",
      { class: "mg-kv ts" },
      this.facts(turn, verdict).flatMap(([term, ...value]) => [h("dt", {}, term), h("dd", {}, ...value)]),
    );
    return this.details(
      `${turn.id}:${verdict.tool}:${verdict.quote}`,
      isOpen,
      { "data-w": number, "data-verdict": verdict.tool },
      summary,
      facts,
    );
  }

  facts(turn, verdict) {
    const { rule, says } = reading(verdict);
    const conditions = Object.entries(verdict.conditions ?? {});
    const effects = turn.effects.filter((effect) => effect.tool === verdict.tool);
    return [
      says && [rule ? `Rule ${rule}` : "Why", says],
      verdict.reason && ["Reason", verdict.reason],
      conditions.length > 0 && [
        "Conditions",
        h(
          "span",
          { class: "mg-flow" },
          conditions.map(([name, met]) => state(met ? "ok" : "bad", met ? "check" : "x", name)),
        ),
      ],
      verdict.fired && ["Then", effects.length ? this.effectLink(effects) : "Sent as a system event."],
    ].filter(Boolean);
  }

  effectLink(effects) {
    const states = [...new Set(effects.map((effect) => effect.state))].join(", ");
    return h(
      "button",
      { type: "button", class: "pg-turn", onclick: this.showEffects },
      `${plural(effects.length, "effect")}, ${states}`,
    );
  }

  silent(turn, verdicts) {
    const summary = h(
      "summary",
      {},
      state("mute", "circle-dotted", "Not mentioned"),
      h("span", { class: "t2" }, `${plural(verdicts.length, "tool")}, no words in this reply`),
      h("span", { class: "mg-n" }),
    );
    const list = h(
      "dl",
      { class: "mg-kv ts" },
      verdicts.flatMap(({ tool, reason }) => [
        h("dt", {}, h("code", {}, tool)),
        h("dd", {}, reason || "No words of this reply speak of it."),
      ]),
    );
    return this.details(`${turn.id}:silent`, false, {}, summary, list);
  }

  /** A row that stays as the reader left it, though the turn is fetched again. */
  details(key, isOpen, attributes, ...children) {
    const open = this.opened.get(key) ?? isOpen;
    return h(
      "details",
      { ...attributes, open, ontoggle: (event) => this.opened.set(key, event.target.open) },
      ...children,
    );
  }
}

const rank = (verdict, numbers) => ORDER[reading(verdict).word] * 100 + (numbers.get(verdict) ?? 99);

function nothing(turn) {
  if (turn.status === "superseded") return "A superseded reply promises nothing: no verdicts.";
  if (turn.status === "failed") return "No reply could be written, so there are no words to read.";
  const caller = turn.jobs.find((job) => job.lane === "tool_caller");
  if (caller?.state === "done") return "No words of this reply speak of a tool.";
  if (caller?.state === "failed") return "The tool caller failed, so there are no verdicts yet.";
  return h(
    "span",
    { class: "mg-flow" },
    icon("hourglass"),
    "Verdicts appear here when the tool caller has read the reply.",
  );
}
