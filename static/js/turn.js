// Helpers for turns.
import { now } from "./clock.js";
import { seconds, words } from "./format.js";

const OPEN_JOB = new Set(["queued", "running"]);
const LATER_MS = 60_000;
const SETTLE_MS = 5_000;
const OPEN_EFFECT = new Set(["planned", "sending"]);

export const isReplying = (turn) => turn.status === "queued" || turn.status === "replying";

/** The call that the reply is waiting for, if any. */
export const openCall = (turn) => turn.steps.flatMap((step) => step.calls).find((call) => !call.finished_at);

export const openJobs = (turn) => turn.jobs.filter((job) => OPEN_JOB.has(job.state));

export const isRunning = (turn) =>
  isReplying(turn) || openJobs(turn).length > 0 || turn.effects.some((effect) => OPEN_EFFECT.has(effect.state));

/** A reply was just withdrawn: its worker stores what was written a moment later, without an event. */
export const isSettling = (turn) =>
  turn.status === "superseded" && !turn.partial && now() - new Date(turn.finished_at) < SETTLE_MS;

export const failedJobs = (turn) => turn.jobs.filter((job) => job.state === "failed");

/** The end of the turn proper, in the unit of `spans` [{start, end}]; excludes what starts much later, such as a follow-up. */
export function properEnd(spans) {
  let end = 1;
  for (const span of [...spans].sort((a, b) => a.start - b.start))
    if (span.start <= end + LATER_MS) end = Math.max(end, span.end);
  return end;
}

/** The turn's duration in milliseconds, once nothing is running. */
export function tookOf(turn) {
  const zero = new Date(turn.created_at);
  const span = (from, to) => ({ start: new Date(from ?? to) - zero, end: new Date(to) - zero });
  const works = [...turn.jobs, ...turn.effects]
    .filter((work) => work.finished_at)
    .map((work) => span(work.started_at, work.finished_at));
  return properEnd(turn.replied_at ? [...works, span(turn.created_at, turn.replied_at)] : works);
}

export const replyText = (turn) => turn.reply?.content ?? "";

export const observedWords = (turn) =>
  turn.observed.map(({ field, value, quote }) => (quote.includes(value) ? field : `${field}: ${value}`));

const RULES = {
  in_progress: {
    rule: 1,
    gloss: "already under way",
    says: "Something that is already under way is not started again.",
  },
  completed: { rule: 2, gloss: "said as done", says: "Something said as done is not done again." },
  future_step: {
    rule: 3,
    gloss: "a later step",
    says: "A later step of a sequence. It becomes due when the agent gets there.",
  },
  offer: { rule: 4, gloss: "an offer", says: "An offer or a question is not a promise yet." },
  subject: { rule: 5, gloss: "someone else does it", says: "The agent is not the one who acts in this sentence." },
  negation: { gloss: "said not to", says: "The agent says that it will not do it." },
  quotation: { gloss: "quoted", says: "The agent repeats someone’s words." },
  condition: { gloss: "a condition is not met", says: "Not every condition of the tool is met." },
  no_words: { gloss: "no words for it in this reply" },
  relayed: { gloss: "a tool’s words", says: "A tool told these words. Passing them on is no promise of the agent." },
  lost_rerank: { gloss: "outranked" },
  held: { gloss: "a repeat", says: "The same was already done for this customer." },
};

// Decisions that don't follow from the reply's text: of the check of quotes, the ranking and the ledger.
export const NOT_READ = new Set(["no_words", "relayed", "lost_rerank", "held"]);

// Words that are no promise of the agent.
const NO_PROMISE = new Set(["quotation", "relayed", "negation", "subject"]);

/** Possible outcomes of a tool: "fired", or the rule that blocks it. */
export const OUTCOMES = [
  ["fired", "Fires"],
  ...Object.entries(RULES)
    .filter(([name]) => !NOT_READ.has(name))
    .map(([name, { gloss }]) => [name, `Held back: ${gloss}`]),
];

/** A verdict's tone, icon and word, with its rule's gloss and sentence. */
export function reading(verdict) {
  const known = RULES[verdict.rule];
  if (verdict.fired) return { tone: "ok", icon: "bolt", word: "Fired", gloss: null };
  if (verdict.rule === "no_words") return { tone: "mute", icon: "circle-minus", word: "No words", ...known };
  if (verdict.rule === "lost_rerank") return { tone: "mute", icon: "arrows-split-2", word: "Outranked", ...known };
  if (NO_PROMISE.has(verdict.rule)) return { tone: "mute", icon: "hand-stop", word: "Held back", ...known };
  if (known) return { tone: "warn", icon: "hand-stop", word: "Held back", ...known };
  // A rule of a newer server.
  if (verdict.rule) return { tone: "warn", icon: "hand-stop", word: "Held back", gloss: words(verdict.rule) };
  return { tone: "mute", icon: "circle-dotted", word: "Not fired", gloss: null };
}

/** The current wait: {reason, until}. */
export function waitingFor({ reason, until }) {
  const what = reason ? `what ${reason} brings` : "a result";
  return `The agent waits for ${what}${until ? `, until ${seconds(until)} at the latest` : ""}`;
}
