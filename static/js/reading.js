// The exchange of a turn, with quoted evidence marked in place.
import { h, icon, linked, refill, state } from "./dom.js";
import { fieldWords } from "./format.js";
import { gettext } from "./i18n.js";
import { isPromise, mark, marked, place, placeReply } from "./marks.js";
import { holder, promiseState } from "./promise_state.js";
import { isReplying, noticed, reading, replyText } from "./turn.js";

const gloss = (tone, name, text) => h("small", { "data-s": tone }, icon(name), text);

export class Reading {
  constructor(element) {
    this.said = h("div", { class: "pg-said" });
    this.answer = h("div", {});
    element.append(this.said, this.answer);
  }

  render(turn, store) {
    const asked = store.messages.get(turn.message) ?? null;
    refill(this.said, JSON.stringify([turn.id, asked, turn.observed]), () => customer(asked, turn.observed));
    const draft = store.drafts.get(turn.id)?.text ?? "";
    const { status, partial, verdicts, promises } = turn;
    refill(this.answer, JSON.stringify([turn.id, status, partial, replyText(turn), verdicts, promises, draft]), () =>
      answer(turn, draft),
    );
  }
}

function customer(asked, observed) {
  if (!asked) return h("p", { class: "t3 ts" }, gettext("Started by the agent, without a message from the customer."));
  const spans = place(asked.content, observed);
  const found = new Set(spans.flatMap((span) => span.rows));
  const words = marked(asked.content, spans, (span, text, after) => [
    h(
      "span",
      { class: "mg-gl" },
      mark({ tone: "act", words: text }),
      after,
      gloss("act", "eye", span.rows.map(({ field, value }) => noticed(field, value, asked.content)).join(", ")),
    ),
  ]);
  const others = observed.filter((row) => !found.has(row));
  return [
    h("p", { class: "pg-asked", dir: "auto" }, words),
    others.length > 0 &&
      h(
        "p",
        { class: "mg-flow ts" },
        state("act", "eye", gettext("Noticed")),
        others.map((row) => h("span", { class: "mg-tag", title: row.quote }, fieldWords(row.field, row.value))),
      ),
  ];
}

function answer(turn, draft) {
  if (turn.status === "superseded") return withdrawn(turn);
  if (turn.status === "failed" && turn.reply) return apology(turn);
  if (turn.reply) return h("p", { class: "mg-reading", dir: "auto" }, glossed(turn));
  if (draft) return h("p", { class: "mg-reading", dir: "auto" }, linked(draft), h("span", { class: "mg-caret" }));
  if (isReplying(turn))
    return h(
      "p",
      { class: "mg-reading t3 pg-expected" },
      h("span", { class: "mg-live", "data-s": "act" }),
      gettext("Waiting for the first token"),
    );
  return h("p", { class: "mg-reading t3" }, gettext("No reply was sent."));
}

function withdrawn(turn) {
  return [
    turn.partial
      ? h("p", { class: "mg-reading pg-withdrawn", dir: "auto" }, h("s", {}, turn.partial))
      : h("p", { class: "mg-reading t3" }, gettext("Nothing written yet.")),
    h("p", { class: "ts t3" }, gettext("Discarded before it was complete, because a newer message arrived. The customer doesn’t see it.")),
  ];
}

function apology({ reply }) {
  return [
    h("p", { class: "mg-reading t2", dir: "auto" }, reply.content),
    h("p", { class: "ts t3" }, gettext("No reply could be written. The customer got this message instead.")),
  ];
}

function glossed(turn) {
  return marked(turn.reply.content, placeReply(turn, reading), (span, text, after) => {
    const verdicts = span.rows.filter((row) => !isPromise(row));
    const unserved = span.rows.filter((row) => isPromise(row) && !row.tool);
    const tone = verdicts.length ? reading(verdicts[0]).tone : promiseState(span.rows[0], turn)[0];
    return h(
      "span",
      { class: "mg-gl" },
      mark({ tone, number: span.number, words: text }),
      after,
      verdicts.slice(0, 3).map(verdictGloss),
      unserved.map((promise) => promiseGloss(promise, turn)),
    );
  });
}

function verdictGloss(verdict) {
  const { tone, icon: name, gloss: words } = reading(verdict);
  return gloss(tone, name, words ? `${verdict.tool}, ${words}` : verdict.tool);
}

/** The gloss of a promise that no tool serves. */
function promiseGloss(promise, turn) {
  const [tone, name, word] = promiseState(promise, turn);
  return gloss(tone, name, holder(promise) ?? word);
}
