// Helpers for turns.
import { now } from "./clock.js";
import { fieldLabel, fieldWords, seconds, words } from "./format.js";
import { fill, gettext } from "./i18n.js";

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
  turn.observed.map(({ field, value, quote }) => noticed(field, value, quote));

/** What was learned about a customer: the field's name, and its value if the text doesn't show it. */
export const noticed = (field, value, text) => (text.includes(value) ? fieldLabel(field) : fieldWords(field, value));

const RULES = {
  in_progress: {
    rule: 1,
    gloss: gettext("already under way"),
    says: gettext("What is already under way isn’t started again."),
  },
  completed: { rule: 2, gloss: gettext("said as done"), says: gettext("What the agent says is done isn’t done again.") },
  future_step: {
    rule: 3,
    gloss: gettext("a later step"),
    says: gettext("A later step of a sequence. It becomes due when the agent gets there."),
  },
  offer: { rule: 4, gloss: gettext("an offer"), says: gettext("An offer or a question isn’t a promise yet.") },
  subject: { rule: 5, gloss: gettext("someone else does it"), says: gettext("The agent isn’t the one who acts in this sentence.") },
  negation: { gloss: gettext("said it won’t"), says: gettext("The agent says it won’t do it.") },
  quotation: { gloss: gettext("quoted"), says: gettext("The agent repeats someone’s words.") },
  condition: { gloss: gettext("a condition isn’t met"), says: gettext("Not all conditions of the tool are met.") },
  no_words: { gloss: gettext("not mentioned in this reply") },
  relayed: { gloss: gettext("a tool’s words"), says: gettext("These words come from a tool. Passing them on isn’t a promise.") },
  lost_rerank: { gloss: gettext("outranked") },
  held: { gloss: gettext("a repeat"), says: gettext("The same was already done for this customer.") },
};

// Decisions that don't follow from the reply's text: of the check of quotes, the ranking and the ledger.
export const NOT_READ = new Set(["no_words", "relayed", "lost_rerank", "held"]);

// Words that are no promise of the agent.
const NO_PROMISE = new Set(["quotation", "relayed", "negation", "subject"]);

/** Possible outcomes of a tool: "fired", or the rule that blocks it. */
export const OUTCOMES = [
  ["fired", gettext("Fires")],
  ...Object.entries(RULES)
    .filter(([name]) => !NOT_READ.has(name))
    .map(([name, { gloss }]) => [name, fill(gettext("Held back: %(why)s"), { why: gloss })]),
];

const LOOKS = {
  fired: { kind: "fired", icon: "bolt", word: gettext("Fired") },
  held: { kind: "held", icon: "hand-stop", word: gettext("Held back") },
  outranked: { kind: "outranked", icon: "arrows-split-2", word: gettext("Outranked") },
  no_words: { kind: "no_words", icon: "circle-minus", word: gettext("Not mentioned") },
  not_fired: { kind: "not_fired", icon: "circle-dotted", word: gettext("Not fired") },
};

/** The reason why a verdict is void, otherwise its rule. */
export const ruleOf = (verdict) => verdict.void ?? verdict.rule;

/** A verdict's kind, tone, icon and word, with its rule's gloss and sentence. */
export function reading(verdict) {
  const rule = ruleOf(verdict);
  const known = RULES[rule];
  if (verdict.fired) return { ...LOOKS.fired, tone: "ok", gloss: null };
  if (rule === "no_words") return { ...LOOKS.no_words, tone: "mute", ...known };
  if (rule === "lost_rerank") return { ...LOOKS.outranked, tone: "mute", ...known };
  if (NO_PROMISE.has(rule)) return { ...LOOKS.held, tone: "mute", ...known };
  if (known) return { ...LOOKS.held, tone: "warn", ...known };
  // A rule of a newer server.
  if (rule) return { ...LOOKS.held, tone: "warn", gloss: words(rule) };
  return { ...LOOKS.not_fired, tone: "mute", gloss: null };
}

/** The current wait: {reason, until}. */
export function waitingFor({ reason, until }) {
  const waits = reason
    ? fill(gettext("The agent is waiting for the result of %(tool)s."), { tool: reason })
    : gettext("The agent is waiting for a result.");
  return until ? `${waits} ${fill(gettext("Until %(time)s at the latest."), { time: seconds(until) })}` : waits;
}

const EFFECT_STATES = {
  planned: gettext("planned"),
  sending: gettext("sending"),
  done: gettext("done"),
  failed: gettext("failed"),
  unknown: gettext("unknown"),
  held: gettext("held back"),
  cancelled: gettext("canceled"),
};

/** The word for an effect's state, inside a sentence. */
const stateWord = (state) => EFFECT_STATES[state] ?? words(state);
/** True if the effect is only noted, because no service is connected. */
export const isInOutbox = ({ state, result }) => state === "done" && result?.outbox === true;
/** The outcome of an effect within a sentence. */
export const outcomeWord = (effect) => (isInOutbox(effect) ? gettext("outbox, not sent") : stateWord(effect.state));
