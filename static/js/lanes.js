// A turn as lanes on a time axis, in milliseconds from its start. Pure functions, no DOM.
import { fill, gettext, ngettext } from "./i18n.js";
import * as format from "./format.js";
import { isInOutbox, observedWords, outcomeWord, properEnd } from "./turn.js";

const SLACK_MS = 60;
const HOUR_MS = 3_600_000;
const WAITED_MS = 40;
const AXES = [0.1, 0.2, 0.5, 1, 2, 3, 5, 10, 15, 20, 30, 60, 120, 180, 300, 600, 1800, 3600].map(
  (value) => value * 1000,
);
const TICKS = {
  0.1: 0.02,
  0.2: 0.05,
  0.5: 0.1,
  1: 0.2,
  2: 0.5,
  3: 1,
  5: 1,
  10: 2,
  15: 5,
  20: 5,
  30: 5,
  60: 10,
  120: 30,
  180: 30,
  300: 60,
  600: 120,
  1800: 300,
  3600: 600,
};
const NAMES = {
  reply: ["message-2", gettext("Reply")],
  observer: ["eye", gettext("Observer")],
  thoughts: ["bulb", gettext("Thoughts")],
  tool_caller: ["tool", gettext("Tool caller")],
  follow_up: ["history", gettext("Follow-up")],
  summary: ["file-text", gettext("Summary")],
};

/** The name of a job's lane. */
export const laneName = (lane) => NAMES[lane]?.[1] ?? format.words(lane);
const RANK = ["reply", "call", "observer", "thoughts", "tool_caller", "effect", "result", "other"];
const KINDS = [
  ["availab", "calendar-search"],
  ["book", "calendar-time"],
  ["meeting", "calendar-time"],
  ["sms", "device-mobile-message"],
  ["mail", "mail"],
  ["transfer", "phone"],
  ["webhook", "webhook"],
];

/** The icon of an effect, by its kind and tool. */
const effectIcon = ({ kind, tool }) => KINDS.find(([word]) => `${kind} ${tool}`.includes(word))?.[1] ?? "bolt";

/**
 * {axis, ticks, sent, lanes, joints} of a turn. `numberOf` maps a tool to its verdict's number; `now` and `firstAt` (the first
 * token of a running reply) are clock times in milliseconds.
 */
export function layOut(turn, { now, firstAt, numberOf }) {
  const zero = new Date(turn.created_at).getTime();
  const at = (iso) => (iso ? new Date(iso) - zero : null);
  const context = {
    turn,
    at,
    now: now - zero,
    firstToken: at(turn.first_token_at) ?? (firstAt && firstAt - zero),
    numberOf,
  };
  const lanes = [...jobLanes(context), ...callLanes(context), ...effectLanes(context)].sort(
    (a, b) => RANK.indexOf(rankOf(a)) - RANK.indexOf(rankOf(b)) || a.start - b.start,
  );
  const end = properEnd([...lanes, { start: 0, end: at(turn.replied_at) ?? 0 }]);
  for (const lane of lanes) lane.isLater = lane.start > end;
  const axis = AXES.find((value) => value >= end * 1.01) ?? Math.ceil(end / HOUR_MS) * HOUR_MS;
  const step = (TICKS[axis / 1000] ?? Math.ceil(axis / HOUR_MS / 6) * 3600) * 1000;
  const ticks = Array.from({ length: Math.floor(axis / step) + 1 }, (_, index) => index * step);
  return { axis, ticks, end, sent: at(turn.replied_at), lanes, joints: joints(lanes) };
}

/** Top to bottom in causal order. */
function rankOf(lane) {
  if (lane.isResult) return "result";
  return RANK.includes(lane.kind) ? lane.kind : "other";
}

function jobLanes(context) {
  const seen = new Map();
  const jobs = context.turn.jobs.filter((job) => job.lane !== "effect");
  return jobs
    .sort((a, b) => new Date(a.started_at ?? a.created_at) - new Date(b.started_at ?? b.created_at))
    .map((job) => {
      const nth = seen.get(job.lane) ?? 0;
      if (job.state !== "superseded") seen.set(job.lane, nth + 1);
      return jobLane(context, job, nth);
    });
}

function jobLane(context, job, nth) {
  const [icon, name] = NAMES[job.lane] ?? ["cpu", format.words(job.lane)];
  const isOpen = job.state === "queued" || job.state === "running";
  const start = context.at(job.started_at) ?? context.at(job.created_at);
  const end = Math.max(start, context.at(job.finished_at) ?? (isOpen ? context.now : start));
  const isResult = nth > 0 && job.lane === "reply";
  const lane = {
    key: job.id,
    kind: job.lane,
    icon,
    name: isResult ? fill(gettext("%(name)s, result"), { name }) : name,
    isResult,
    start,
    end,
    bars: [],
    ...endings(job, end - start),
  };
  const calls = callsWithin(context, job.lane, { start, end });
  if (job.state === "superseded") lane.isCut = true;
  else if (job.state === "failed") lane.bars.push({ from: start, to: end, tone: "fb" });
  else if (job.started_at) fillBars(context, lane, { job, calls, nth });
  addQueueing(context, lane, job);
  lane.detail = `${lane.detail}${lane.again}`.replace(/^, /, "");
  return lane;
}

/** The label of a lane: duration and outcome. */
function endings(job, length) {
  const words = {
    queued: [null, gettext("queued")],
    running: [format.length(length), gettext("running")],
    done: [format.length(length), ""],
    failed: [format.length(length), fill(gettext("failed: %(why)s"), { why: job.error || gettext("no reason given") })],
    superseded: [null, job.error || gettext("superseded by a newer message")],
    skipped: [null, fill(gettext("skipped: %(why)s"), { why: job.error || gettext("nothing to do") })],
  }[job.state];
  const again =
    job.attempts > 1 && (job.state === "running" || job.state === "done") ? fill(gettext(", attempt %(number)s"), { number: job.attempts }) : "";
  return { strong: words?.[0] ?? null, detail: words?.[1] ?? job.state, brief: job.state, again };
}

function callsWithin({ turn, at }, laneName, { start, end }) {
  const skills = { reply: ["reply"], tool_caller: ["detect"] }[laneName] ?? [laneName];
  return turn.model_calls
    .filter((call) => skills.includes(call.skill))
    .map((call) => ({
      from: at(call.started_at),
      first: at(call.started_at) + (call.first_token_ms ?? call.total_ms),
      to: at(call.started_at) + call.total_ms,
      hasFirst: call.first_token_ms !== null,
    }))
    .filter((call) => call.from >= start - SLACK_MS && call.to <= end + SLACK_MS)
    .sort((a, b) => a.from - b.from);
}

function fillBars(context, lane, { job, calls, nth }) {
  if (job.lane === "reply") fillReply(context, lane, { job, calls, nth });
  else if (job.lane === "tool_caller") fillToolCaller(context, lane, { job, calls });
  else fillFlow(context, lane, { job });
}

/** Pale until the first token, solid while writing. Finished calls are exact; a running one uses the turn's times. */
function fillReply({ firstToken }, lane, { job, calls, nth }) {
  let drawn = lane.start;
  for (const call of calls) {
    lane.bars.push({ from: drawn, to: call.first, tone: "fs" }, { from: call.first, to: call.to, tone: "f" });
    drawn = call.to;
  }
  // The first token of text; tool calls before it have none.
  const token = (nth ? null : firstToken) ?? calls.find((call) => call.hasFirst)?.first ?? null;
  if (job.state === "running" || !calls.length) {
    const first = Math.min(Math.max(token ?? lane.end, drawn), lane.end);
    lane.bars.push({ from: drawn, to: first, tone: "fs" }, { from: first, to: lane.end, tone: "f" });
  }
  if (token !== null && token <= lane.end) {
    lane.ring = token;
    lane.detail = [fill(gettext("first token %(time)s"), { time: format.duration(nth ? token - lane.start : token) }), lane.detail]
      .filter(Boolean)
      .join(", ");
  }
}

/** Parallel detections as thin bars, then the tool caller's own time. */
function fillToolCaller({ turn }, lane, { job, calls }) {
  if (calls.length)
    lane.bars.push({
      from: lane.start,
      to: Math.min(...calls.map((call) => call.from)),
      tone: "fkl",
      top: 7,
      height: 10.5,
    });
  const height = calls.length > 1 ? Math.min(4.5, 11 / calls.length - 1) : 9;
  calls.forEach((call, index) =>
    lane.bars.push({
      from: call.from,
      to: call.to,
      tone: "fk",
      top: calls.length > 1 ? 7 + index * (height + 1.5) : 8,
      height,
    }),
  );
  const drawn = Math.max(lane.start, ...calls.map((call) => call.to));
  lane.bars.push({ from: drawn, to: lane.end, tone: calls.length ? "fkl" : "fk", top: 7, height: 10.5 });
  if (job.state !== "done") return;
  const fired = turn.verdicts.filter((verdict) => verdict.fired).length;
  const detections = format.numbered(ngettext("%(number)s detection", "%(number)s detections", calls.length), calls.length);
  const result = fired ? fill(ngettext("%(number)s fired", "%(number)s fired", fired), { number: fired }) : gettext("nothing fired");
  lane.detail = calls.length ? `${detections}, ${result}` : result;
}

function fillFlow({ turn }, lane, { job }) {
  lane.bars.push({ from: lane.start, to: lane.end, tone: "fk" });
  if (job.state !== "done") return;
  if (job.lane === "observer") lane.detail = observedWords(turn).join(", ") || gettext("nothing new");
  if (job.lane === "thoughts")
    lane.detail = turn.directives_written ? fill(gettext("directives v%(version)s"), { version: turn.directives_written.version }) : gettext("no directives");
}

/** A thin line for the time in the queue. */
function addQueueing({ turn, at, now }, lane, job) {
  const from = Math.max(0, at(job.created_at));
  const to = at(job.started_at) ?? (job.state === "queued" ? now : from);
  if (to - from > WAITED_MS && job.state !== "skipped")
    lane.bars.unshift({ from, to, tone: "fkl", top: 11.5, height: 2 });
  if (job.lane === "reply" && turn.status === "queued") lane.detail = gettext("waiting for a worker");
}

/** Tool calls of the reply's model without an effect; the others are drawn as effects. */
function callLanes({ turn, at, now }) {
  const calls = turn.steps.flatMap((step) => step.calls).filter((call) => !call.effect);
  return calls.map((call) => {
    const start = at(call.created_at);
    const end = Math.max(start, at(call.finished_at) ?? now);
    return {
      key: call.id,
      kind: "call",
      icon: "tool",
      name: gettext("Tool call"),
      title: format.toolTitle(call.tool),
      start,
      end,
      bars: [{ from: start, to: end, tone: call.is_error ? "fb" : call.finished_at ? "fo" : "fol" }],
      strong: format.length(end - start),
      detail: call.is_error ? fill(gettext("%(tool)s: error"), { tool: format.toolTitle(call.tool) }) : format.toolTitle(call.tool),
      brief: format.toolTitle(call.tool),
    };
  });
}

function effectLanes(context) {
  return context.turn.effects.map((effect) => {
    const { at, now, numberOf } = context;
    const start = at(effect.started_at ?? effect.created_at);
    const end = Math.max(
      start,
      at(effect.finished_at) ?? (["planned", "sending"].includes(effect.state) ? now : start),
    );
    const tone = isInOutbox(effect) ? "fwn" : { planned: "fkl", sending: "fol", done: "fo", failed: "fb", unknown: "fwn" }[effect.state];
    const isCut = effect.state === "held" || effect.state === "cancelled";
    const strong = isCut || effect.state === "planned" ? null : format.length(end - start);
    const number = numberOf(effect.tool);
    const wait = context.turn.waits.find((one) => one.effect === effect.id);
    const detail = [outcomeWord(effect), wait && waitWord(wait), !number && format.toolTitle(effect.tool)].filter(Boolean).join(", ");
    const bars = tone ? [{ from: start, to: end, tone }] : [];
    return {
      key: effect.id,
      kind: effect.origin === "turn" ? "call" : "effect",
      icon: effectIcon(effect),
      name: effect.origin === "turn" ? gettext("Tool call") : gettext("Effect"),
      title: format.toolTitle(effect.tool),
      number,
      start,
      end,
      bars,
      strong,
      detail,
      brief: effect.state,
      isCut,
      isFramed: Boolean(wait),
    };
  });
}

const waitWord = ({ waiting, outcome }) =>
  waiting ? gettext("awaited") : outcome === "timeout" ? gettext("wait timed out") : gettext("was awaited");

/** Causal links: tool caller to effects, effect to the reply with its result. */
function joints(lanes) {
  const found = [];
  const reply = lanes.findIndex((lane) => lane.kind === "reply");
  lanes.forEach((lane, index) => {
    if (lane.kind === "call" && !lane.isCut && reply >= 0) found.push({ at: lane.start, from: reply, to: index });
  });
  const effects = lanes.filter((lane) => lane.kind === "effect" && !lane.isCut);
  for (const effect of effects) {
    const caller = lanes.findLast((lane) => lane.kind === "tool_caller" && lane.start <= effect.start);
    if (caller) found.push({ at: effect.start, from: lanes.indexOf(caller), to: lanes.indexOf(effect) });
  }
  const done = effects.filter((lane) => lane.brief === "done");
  const result = lanes.find((lane) => lane.isResult && done.some((effect) => effect.end <= lane.start + SLACK_MS));
  const cause = result && done.findLast((effect) => effect.end <= result.start + SLACK_MS);
  if (cause) found.push({ at: Math.max(cause.end, 0), from: lanes.indexOf(cause), to: lanes.indexOf(result) });
  return found.filter((joint) => joint.from < joint.to);
}
