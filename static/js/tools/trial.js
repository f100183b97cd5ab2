// The trial: evaluates a written or past reply as if the agent had just said it. Nothing is sent.
import { h, icon, note, state } from "../dom.js";
import * as format from "../format.js";
import { gettext } from "../i18n.js";
import { expectedOf, keepButton } from "../keeping.js";
import { mark, marked, numbersOf, placeVerdicts } from "../marks.js";
import { reading } from "../turn.js";
import { PastAnswers } from "./past.js";
import { requestText, TITLES } from "./request.js";

// Same timeout as on the server: a model may take a while.
const TIMEOUT_MS = 90_000;
const at = (id) => document.getElementById(id);

export class Trial {
  constructor({ api, drafts, channel, nameOf, toast }) {
    Object.assign(this, { api, drafts, channel, nameOf, toast });
    this.from = "answer";
    this.past = new PastAnswers({ api, conversation: at("past-conversation"), turn: at("past-turn") });
    for (const button of at("try-from").children) button.addEventListener("click", () => this.choose(button.value));
    at("evaluate").addEventListener("click", () => this.evaluate());
  }

  choose(from) {
    this.from = from;
    at("try-answer").hidden = from !== "answer";
    at("try-past").hidden = from !== "past";
    for (const button of at("try-from").children) button.setAttribute("aria-pressed", String(button.value === from));
    if (from === "past") this.past.load();
  }

  /** {answer, conversation, channel} to evaluate, or null. */
  input() {
    if (this.from === "past") return this.past.chosen;
    const answer = at("answer").value.trim();
    const asked = at("asked").value.trim();
    return (
      answer && { answer, conversation: asked ? [{ role: "customer", content: asked }] : [], channel: this.channel }
    );
  }

  async evaluate() {
    const input = this.input();
    if (!input) return at(this.from === "past" ? "past-conversation" : "answer").focus();
    const began = performance.now();
    const tools = await this.drafts();
    if (!tools) return;
    at("evaluate").disabled = true;
    at("try-cost").replaceChildren(state("act", "loader-2", gettext("Reading")));
    try {
      const found = await this.api.send("POST", "/tools/evaluate", this.body(input, tools), { timeout: TIMEOUT_MS });
      at("try-cost").textContent = format.duration(performance.now() - began);
      this.show(input, found.verdicts, found.calls ?? []);
    } catch (error) {
      at("try-cost").textContent = "";
      at("try-result").replaceChildren(note("bad", "alert-circle", gettext("Couldn’t evaluate it."), error.message));
    } finally {
      at("evaluate").disabled = false;
    }
  }

  body({ answer, conversation, channel }, tools) {
    return { answer, conversation, channel, preview: true, ...(Object.keys(tools).length && { tools: { tools } }) };
  }

  show(input, verdicts, calls) {
    const spans = placeVerdicts(input.answer, verdicts, reading);
    const numbers = numbersOf(spans);
    const name = this.nameOf();
    const rank = (verdict) => (verdict.tool === name ? 0 : verdict.fired ? 1 : 2) * 100 + (numbers.get(verdict) ?? 99);
    const spoken = verdicts
      .filter((verdict) => verdict.fired || verdict.rule || verdict.tool === name)
      .sort((a, b) => rank(a) - rank(b));
    const words = marked(input.answer, spans, (span, text, after) => [
      mark({ tone: reading(span.rows[0]).tone, number: span.number, words: text }),
      after,
    ]);
    at("try-result").replaceChildren(
      h(
        "div",
        { class: "tl-res" },
        h("p", { class: "mg-reading", dir: "auto" }, words),
        spoken.length
          ? h(
              "div",
              { class: "mg-stack" },
              spoken.map((verdict) => this.verdict(verdict, numbers.get(verdict))),
            )
          : this.nothing(),
        calls.some(({ tool }) => tool === name) ? calledItself(name) : this.own(spoken, name),
      ),
      ...calls.map((call) => preview(call)),
      ...verdicts.filter((verdict) => verdict.preview).map((verdict) => preview(verdict)),
      this.keeping(input, verdicts),
    );
  }

  nothing() {
    return h(
      "p",
      { class: "t2" },
      state("mute", "circle-dotted", gettext("No tool")),
      gettext(" This reply doesn’t promise anything that a tool does."),
    );
  }

  /** Shown when the edited tool has no verdict. */
  own(spoken, name) {
    if (!name || spoken.some((verdict) => verdict.tool === name) || !spoken.length) return null;
    return h("p", { class: "ts t2" }, h("code", {}, name), gettext(" finds no matching words."));
  }

  verdict(verdict, number) {
    const { tone, icon: name, word, says } = reading(verdict);
    const conditions = Object.entries(verdict.conditions ?? {});
    return h(
      "div",
      { "data-verdict": verdict.tool },
      h(
        "div",
        { class: "mg-flow" },
        state(tone, name, verdict.fired ? gettext("Would fire") : word),
        h("code", {}, verdict.tool),
        h("span", { class: "mg-n ml" }, number ? String(number) : ""),
      ),
      conditions.length > 0 &&
        h(
          "div",
          { class: "mg-flow ts tl-in" },
          conditions.map(([condition, met]) => state(met ? "ok" : "bad", met ? "check" : "x", condition)),
        ),
      !verdict.fired && h("p", { class: "ts t3 tl-in" }, says ?? verdict.reason),
    );
  }

  keeping({ answer, conversation, channel }, verdicts) {
    const content = () => ({
      answer,
      channel,
      conversation: conversation.filter(({ role }) => role === "customer" || role === "agent"),
      expected: expectedOf(verdicts),
    });
    return h("div", { class: "mg-flow" }, keepButton({ api: this.api, toast: this.toast, content }));
  }
}

/** Shown for a tool that the agent calls itself. */
function calledItself(name) {
  return h(
    "p",
    { class: "ts t2" },
    h("code", {}, name),
    gettext(" is called by the agent during a reply. It would send this:"),
  );
}

/** The exact request that the fired tool would send. */
function preview({ tool, preview: shown }) {
  const text = requestText(shown);
  const copy = (event) => {
    const button = event.currentTarget;
    navigator.clipboard?.writeText(text).then(
      () => button.lastChild.replaceWith(gettext("Copied")),
      () => {},
    );
  };
  return h(
    "div",
    { class: "tl-preview", "data-preview": tool },
    h(
      "div",
      { class: "mg-flow" },
      h("h4", {}, TITLES[shown.action]),
      h("code", { class: "ts t3" }, tool),
      h("button", { type: "button", class: "btn btn-bare btn-sm ml", onclick: copy }, icon("copy"), gettext("Copy")),
    ),
    h("pre", { tabindex: "0" }, text),
  );
}
