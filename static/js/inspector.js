// The turn inspector: header, transcript with marks, timeline, failures, tabs.
import { Calls } from "./calls.js";
import { Directives } from "./directives.js";
import { h, note, refill, state } from "./dom.js";
import { Effects } from "./effects.js";
import * as format from "./format.js";
import { numbersOf, placeReply } from "./marks.js";
import { Promises } from "./promises.js";
import { Reading } from "./reading.js";
import { Score } from "./score.js";
import { countCalls, Steps } from "./steps.js";
import { Tabs } from "./tabs.js";
import { failedJobs, isReplying, isRunning, openJobs, reading, tookOf } from "./turn.js";
import { Verdicts } from "./verdicts.js";

const at = (id) => document.getElementById(id);

export class Inspector {
  constructor({ api, toast, step, runAgain, refresh, canOperate, links }) {
    this.runAgain = runAgain;
    this.tabs = new Tabs(at("tabs"));
    this.reading = new Reading(at("reading"));
    this.score = new Score(at("score"));
    const showEffects = () => this.tabs.open("effects");
    this.verdicts = new Verdicts(at("verdicts"), { api, toast, canOperate, links, showEffects });
    this.promises = new Promises(at("promises"), { links, showEffects });
    this.directives = new Directives(at("directives"));
    this.effects = new Effects(at("effects"), { api, toast, refresh, canOperate, links });
    this.steps = new Steps(at("steps"), { links });
    this.calls = new Calls(at("calls"), { api, toast });
    at("earlier").addEventListener("click", () => step(-1));
    at("later").addEventListener("click", () => step(1));
  }

  render(store) {
    const { turn } = store;
    at("turn").hidden = !turn;
    at("turn-empty").hidden = Boolean(turn);
    if (turn) this.show(turn, store);
    else this.score.hide();
  }

  show(turn, store) {
    const turns = store.orderedTurns();
    at("earlier").disabled = turns[0] === turn;
    at("later").disabled = turns.at(-1) === turn;
    const fresh = JSON.stringify(turn);
    this.reading.render(turn, store);
    this.directives.render(turn, store);
    this.effects.render(turn, store);
    if (this.known === fresh && at("score").childElementCount) return;
    this.known = fresh;
    this.head(turn, store);
    this.score.show(turn, { numberOf: numberByTool(turn), firstAt: () => store.drafts.get(turn.id)?.firstAt ?? null });
    this.failures(turn);
    this.verdicts.render(turn, store);
    this.promises.render(turn);
    this.steps.render(turn);
    this.calls.render(turn);
    this.counts(turn);
  }

  head(turn, store) {
    refill(at("turn-title"), JSON.stringify([turn.seq, progress(turn, store)]), () => [
      h("span", {}, `Turn ${turn.seq}`),
      state(...progress(turn, store), { fill: true }),
    ]);
    refill(at("turn-nums"), JSON.stringify(numbers(turn)), () =>
      numbers(turn).map(([name, value, title]) => h("div", { title }, h("dt", {}, name), h("dd", {}, value))),
    );
  }

  counts(turn) {
    const { directives_used: used, directives_written: written } = turn;
    this.tabs.count("verdicts", turn.verdicts.length || "");
    this.tabs.count("promises", turn.promises.length || "");
    this.tabs.count(
      "directives",
      written ? `${used ? `v${used.version} → ` : ""}v${written.version}` : used ? `v${used.version}` : "",
    );
    this.tabs.count("effects", turn.effects.length || "");
    this.tabs.count("steps", countCalls(turn) || "");
    this.tabs.count("calls", turn.model_calls.length || "");
  }

  failures(turn) {
    const failed = failedJobs(turn);
    at("failures").hidden = !failed.length;
    refill(at("failures"), JSON.stringify(failed), () => failed.map((job) => this.failure(turn, job)));
  }

  failure(turn, job) {
    const title = `${format.words(job.lane)} failed after ${format.plural(job.attempts, "attempt")}.`;
    const button =
      this.runAgain &&
      h(
        "button",
        {
          type: "button",
          class: "btn btn-quiet btn-sm",
          onclick: (event) => this.again(event.currentTarget, job, turn),
        },
        "Run again",
      );
    const box = note("bad", "alert-triangle", title, job.error || "No reason was given.");
    if (button) box.append(button);
    return box;
  }

  async again(button, job, turn) {
    button.disabled = true;
    await this.runAgain(job.id, turn.id);
    button.disabled = false;
  }
}

/** Tool → mark number, for the effect lanes. */
function numberByTool(turn) {
  const numbers = numbersOf(placeReply(turn, reading));
  const fired = new Map(
    [...numbers].filter(([verdict]) => verdict.fired).map(([verdict, number]) => [verdict.tool, number]),
  );
  return (tool) => fired.get(tool) ?? null;
}

function progress(turn, store) {
  if (turn.status === "superseded") {
    const next = store.turns.get(turn.superseded_by);
    return ["mute", "arrow-back-up", next ? `Superseded by turn ${next.seq}` : "Superseded"];
  }
  if (turn.status === "failed") return ["bad", "alert-triangle", "Failed"];
  if (turn.status === "queued") return ["warn", "hourglass", "Queued"];
  if (isReplying(turn)) return ["act", "loader-2", "Replying"];
  if (isRunning(turn)) return ["act", "loader-2", under(turn)];
  if (failedJobs(turn).length) return ["bad", "alert-triangle", "Done, with failures"];
  return ["ok", "check", `Done in ${format.roughly(tookOf(turn))}`];
}

function under(turn) {
  const names = [...new Set(openJobs(turn).map((job) => format.words(job.lane)))];
  if (!names.length && turn.waits.some(({ waiting }) => waiting)) return "Waits for a result";
  return names.length === 1 ? `${names[0]} runs` : names.length ? `${names.length} flows run` : "Effect runs";
}

function numbers(turn) {
  const calls = turn.model_calls;
  const tokens = calls.reduce((sum, call) => sum + call.input_tokens + call.output_tokens, 0);
  const priced = calls.filter((call) => call.cost !== null);
  const cost = priced.reduce((sum, call) => sum + Number(call.cost), 0);
  const first = turn.first_token_at && format.duration(format.between(turn.created_at, turn.first_token_at));
  return [
    ["First token", first || "–", "From the customer’s message to the first word of the reply"],
    ["Model calls", format.count(calls.length), null],
    ["Tokens", format.count(tokens), "In and out, over all model calls"],
    [
      "Cost",
      priced.length ? format.money(cost) : "–",
      priced.length < calls.length ? "No price is set for some of the models" : null,
    ],
  ];
}
