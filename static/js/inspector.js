// The turn inspector: header, transcript with marks, timeline, failures, tabs.
import { laneName } from "./lanes.js";
import { Calls } from "./calls.js";
import { Directives } from "./directives.js";
import { h, note, refill, state } from "./dom.js";
import { Effects } from "./effects.js";
import * as format from "./format.js";
import { fill, gettext, ngettext } from "./i18n.js";
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
      h("span", {}, fill(gettext("Turn %(number)s"), { number: turn.seq })),
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
    const failed = ngettext(
      "%(flow)s failed after %(number)s attempt.",
      gettext("%(flow)s failed after %(number)s attempts."),
      job.attempts,
    );
    const title = fill(failed, { flow: laneName(job.lane), number: job.attempts });
    const button =
      this.runAgain &&
      h(
        "button",
        {
          type: "button",
          class: "btn btn-quiet btn-sm",
          onclick: (event) => this.again(event.currentTarget, job, turn),
        },
        gettext("Run again"),
      );
    const box = note("bad", "alert-triangle", title, job.error || gettext("No reason was given."));
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
    return ["mute", "arrow-back-up", next ? fill(gettext("Superseded by turn %(number)s"), { number: next.seq }) : gettext("Superseded")];
  }
  if (turn.status === "failed") return ["bad", "alert-triangle", gettext("Failed")];
  if (turn.status === "queued") return ["warn", "hourglass", gettext("Queued")];
  if (isReplying(turn)) return ["act", "loader-2", gettext("Replying")];
  if (isRunning(turn)) return ["act", "loader-2", under(turn)];
  if (failedJobs(turn).length) return ["bad", "alert-triangle", gettext("Done, with failures")];
  return ["ok", "check", fill(gettext("Done in %(time)s"), { time: format.roughly(tookOf(turn)) })];
}

function under(turn) {
  const names = [...new Set(openJobs(turn).map((job) => laneName(job.lane)))];
  if (!names.length && turn.waits.some(({ waiting }) => waiting)) return gettext("Waiting for a result");
  return names.length === 1
    ? fill(gettext("%(flow)s running"), { flow: names[0] })
    : names.length
      ? fill(gettext("%(number)s flows running"), { number: names.length })
      : gettext("Effect running");
}

function numbers(turn) {
  const calls = turn.model_calls;
  const tokens = calls.reduce((sum, call) => sum + call.input_tokens + call.output_tokens, 0);
  const priced = calls.filter((call) => call.cost !== null);
  const cost = priced.reduce((sum, call) => sum + Number(call.cost), 0);
  const first = turn.first_token_at && format.duration(format.between(turn.created_at, turn.first_token_at));
  return [
    [gettext("First token"), first || "–", gettext("From the customer’s message to the first word of the reply")],
    [gettext("Model calls"), format.count(calls.length), null],
    [gettext("Tokens"), format.count(tokens), gettext("In and out, over all model calls")],
    [
      gettext("Cost"),
      priced.length ? format.money(cost) : "–",
      priced.length < calls.length ? gettext("No price is set for some of the models") : null,
    ],
  ];
}
