// Verdicts: why each tool fired or didn't.
import { h, icon, refill, state } from "./dom.js";
import { numbered } from "./format.js";
import { fill, gettext, ngettext } from "./i18n.js";
import { expectedOf, keepButton } from "./keeping.js";
import { numbersOf, placeReply } from "./marks.js";
import { OUTCOMES, outcomeWord, reading, replyText, ruleOf } from "./turn.js";
import { heldIn, trace } from "./trace.js";

// Verdicts whose text leaves nothing to correct.
const UNCORRECTED = new Set(["lost_rerank", "no_words", "relayed"]);
// Conditions of the built-in tools. Those of own tools are shown as their author named them.
const CONDITIONS = {
  agentAsksNothing: gettext("The agent asks nothing"),
  agentPromised: gettext("The agent promises it"),
  agentSaidGoodbye: gettext("The agent says goodbye"),
  customerAgreed: gettext("The customer agreed"),
  customerAsked: gettext("The customer asked for it"),
  isApproved: gettext("A colleague approved it"),
  notRelatedToExistingBooking: gettext("It isn’t about an existing booking"),
};
const ORDER = { fired: 0, held: 1, outranked: 2, no_words: 3, not_fired: 4 };

export class Verdicts {
  constructor(element, { api, toast, canOperate, links, showEffects }) {
    this.element = element;
    Object.assign(this, { api, toast, canOperate, links, showEffects });
    this.opened = new Map();
    // Corrected outcomes, by turn and tool.
    this.corrections = new Map();
  }

  render(turn, store) {
    refill(
      this.element,
      JSON.stringify([
        turn.id,
        turn.verdicts,
        turn.promises.map(({ quote }) => quote),
        turn.effects.map(({ id, state: now }) => [id, now]),
        turn.status,
        turn.jobs.map((job) => job.state),
        turn.analysis?.length,
      ]),
      () => this.build(turn, store),
    );
  }

  build(turn, store) {
    if (!turn.verdicts.length && !turn.analysis) return h("p", { class: "pg-none" }, nothing(turn));
    const numbers = numbersOf(placeReply(turn, reading));
    const isSilent = (verdict) => !verdict.fired && !verdict.rule && !verdict.quote;
    const spoken = turn.verdicts
      .filter((verdict) => !isSilent(verdict))
      .sort((a, b) => rank(a, numbers) - rank(b, numbers));
    const silent = turn.verdicts.filter(isSilent);
    const firstHeld = spoken.find((verdict) => !verdict.fired && verdict.rule);
    const rows = spoken.map((verdict) =>
      this.row(turn, verdict, { number: numbers.get(verdict), isOpen: verdict.fired || verdict === firstHeld }),
    );
    return [
      !spoken.length && h("p", { class: "pg-none" }, nothing(turn)),
      h("div", { class: "mg-rows first vd" }, rows, this.silent(turn, silent), this.notOffered(turn)),
      h("div", { class: "mg-flow pg-foot" }, this.canOperate && turn.reply && this.keeping(turn, store), trace(turn)),
    ];
  }

  /** Saves the reply as a regression case with each tool's actual or corrected outcome. */
  keeping(turn, store) {
    const before = store.orderedMessages().filter((message) => message.seq < turn.reply.seq);
    const roles = { user: "customer", agent: "agent" };
    const content = () => ({
      answer: replyText(turn),
      channel: store.conversation.channel,
      conversation: before
        .filter((message) => message.role in roles)
        .slice(-100)
        .map(({ role, content: said }) => ({ role: roles[role], content: said })),
      expected: expectedOf(turn.verdicts, this.corrections.get(turn.id)),
      turn: turn.id,
    });
    return keepButton({ api: this.api, toast: this.toast, content, label: gettext("Keep as a regression case") });
  }

  /** Tools that couldn't fire in this conversation. */
  notOffered(turn) {
    const compiled = Object.entries(heldIn(turn.analysis, 1)?.tools ?? {});
    const closed = compiled.filter(([, tool]) => tool.why_not);
    if (!closed.length) return null;
    const summary = h(
      "summary",
      {},
      state("mute", "lock", gettext("Not offered")),
      h("span", { class: "t2" }, numbered(ngettext("%(number)s tool, off or not on this channel", "%(number)s tools, off or not on this channel", closed.length), closed.length)),
      h("span", { class: "mg-n" }),
    );
    return this.details(
      `${turn.id}:closed`,
      false,
      {},
      summary,
      list(closed.map(([name, tool]) => [name, tool.why_not])),
    );
  }

  row(turn, verdict, { number, isOpen }) {
    const { tone, icon: name, word, gloss } = reading(verdict);
    const isVoid = verdict.void === "no_words";
    const summary = h(
      "summary",
      {},
      state(tone, name, word),
      h("code", {}, verdict.tool),
      h(
        "span",
        { class: "t2 ell", dir: "auto", title: isVoid ? null : verdict.quote },
        verdict.quote && !isVoid ? `“${verdict.quote}”` : verdict.reason,
      ),
      gloss && !isVoid && h("span", { class: "t3 nw vd-gloss" }, gloss),
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
      says && [rule ? fill(gettext("Rule %(number)s"), { number: rule }) : gettext("Why"), says],
      verdict.void === "no_words"
        ? [gettext("Model’s quote"), verdict.quote ? `“${verdict.quote}”` : gettext("None.")]
        : verdict.reason && [gettext("Reason"), verdict.reason],
      conditions.length > 0 && [
        gettext("Conditions"),
        h(
          "span",
          { class: "mg-flow" },
          conditions.map(([name, met]) => state(met ? "ok" : "bad", met ? "check" : "x", CONDITIONS[name] ?? name)),
        ),
      ],
      this.canOperate && !UNCORRECTED.has(ruleOf(verdict)) && [gettext("Should be"), this.correction(turn, verdict)],
      verdict.fired && [gettext("Then"), effects.length ? this.effectLink(effects) : gettext("Sent as a system event.")],
    ].filter(Boolean);
  }

  /** The corrected outcome for the regression case. */
  correction(turn, verdict) {
    const corrections = this.corrections.get(turn.id) ?? new Map();
    const standing = corrections.get(verdict.tool) ?? (verdict.fired ? "fired" : verdict.rule);
    const change = (event) => {
      corrections.set(verdict.tool, event.target.value);
      this.corrections.set(turn.id, corrections);
    };
    return h(
      "select",
      { class: "form-select vd-should", "aria-label": fill(gettext("What %(tool)s should be"), { tool: verdict.tool }), onchange: change },
      OUTCOMES.map(([value, words]) => h("option", { value, selected: value === standing }, words)),
    );
  }

  effectLink(effects) {
    const states = [...new Set(effects.map(outcomeWord))].join(", ");
    return h(
      "button",
      { type: "button", class: "pg-turn", onclick: this.showEffects },
      `${numbered(ngettext("%(number)s effect", "%(number)s effects", effects.length), effects.length)}, ${states}`,
    );
  }

  /** Offered tools that the reply doesn't mention, including those the model gave no verdict on. */
  silent(turn, read) {
    const judged = new Set(turn.verdicts.map(({ tool }) => tool));
    const offered = Object.entries(heldIn(turn.analysis, 1)?.tools ?? {});
    const left = offered.filter(([name, tool]) => !tool.why_not && !judged.has(name)).map(([tool]) => ({ tool }));
    const verdicts = [...read, ...left];
    if (!verdicts.length) return null;
    const summary = h(
      "summary",
      {},
      state("mute", "circle-dotted", gettext("Not mentioned")),
      h("span", { class: "t2" }, numbered(ngettext("%(number)s tool not mentioned in this reply", "%(number)s tools not mentioned in this reply", verdicts.length), verdicts.length)),
      h("span", { class: "mg-n" }),
    );
    const why = ({ tool, reason }) => [tool, reason || gettext("This reply doesn’t mention it.")];
    return this.details(`${turn.id}:silent`, false, {}, summary, list(verdicts.map(why)));
  }

  /** A row that keeps its open state when the turn is refetched. */
  details(key, isOpen, attributes, ...children) {
    const open = this.opened.get(key) ?? isOpen;
    return h(
      "details",
      { ...attributes, open, ontoggle: (event) => this.opened.set(key, event.target.open) },
      ...children,
    );
  }
}

const list = (rows) =>
  h(
    "dl",
    { class: "mg-kv ts" },
    rows.flatMap(([tool, why]) => [h("dt", {}, h("code", {}, tool)), h("dd", {}, why)]),
  );

const rank = (verdict, numbers) => ORDER[reading(verdict).kind] * 100 + (numbers.get(verdict) ?? 99);

function nothing(turn) {
  if (turn.status === "superseded") return gettext("No verdicts: this reply was superseded.");
  if (turn.status === "failed") return gettext("No reply could be written, so there is nothing to read.");
  const caller = turn.jobs.find((job) => job.lane === "tool_caller");
  if (caller?.state === "done") return gettext("This reply doesn’t mention any tool.");
  if (caller?.state === "failed") return gettext("Detection failed, so there are no verdicts yet.");
  return h(
    "span",
    { class: "mg-flow" },
    icon("hourglass"),
    gettext("Verdicts appear here once the reply has been read."),
  );
}
