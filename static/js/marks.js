// Locating quotes in a text, and numbering them.
import { h, linked } from "./dom.js";

const SAME = {
  "“": '"',
  "”": '"',
  "„": '"',
  "«": '"',
  "»": '"',
  "‘": "'",
  "’": "'",
  "‛": "'",
  "–": "-",
  "—": "-",
  "…": "...",
};
const EDGES = /^[\s"'.,;:!?-]+|[\s"'.,;:!?-]+$/g;

/** The normalized text, with each character's original position. */
function plain(text) {
  const characters = [];
  const places = [];
  for (let place = 0; place < text.length; place += 1) {
    const character = /\s/.test(text[place]) ? " " : (SAME[text[place]] ?? text[place].toLowerCase());
    if (character === " " && characters.at(-1) === " ") continue;
    for (const one of character) {
      characters.push(one);
      places.push(place);
    }
  }
  return { spelling: characters.join(""), places };
}

/** {start, end} of the quote in the text; null if it isn't there. */
export function locate(text, quote) {
  const { spelling, places } = plain(text);
  const wanted = plain(quote ?? "").spelling.replace(EDGES, "");
  const at = wanted ? spelling.indexOf(wanted) : -1;
  return at < 0 ? null : { start: places[at], end: places[at + wanted.length - 1] + 1 };
}

const overlap = (a, b) => a.start < b.end && b.start < a.end;

/**
 * Positions of several quotes in reading order, numbered from 1. `rows` are [{quote, ...}], most important first. A quote that
 * overlaps an earlier one joins its mark.
 */
export function place(text, rows) {
  const spans = [];
  for (const row of rows) {
    const found = locate(text, row.quote);
    if (!found) continue;
    const taken = spans.find((span) => overlap(span, found));
    if (!taken) spans.push({ ...found, rows: [row] });
    else taken.rows.push(row);
  }
  spans.sort((a, b) => a.start - b.start);
  spans.forEach((span, index) => (span.number = index + 1));
  return spans;
}

const RANK = { ok: 0, warn: 1, mute: 2 };

/** The marks of a reply's verdicts. `read` maps a verdict to its tone. */
export const placeVerdicts = (text, verdicts, read) => place(text, ranked(verdicts, read));

/** Verdicts by importance. A void verdict has no words to mark. */
const ranked = (verdicts, read) =>
  verdicts.filter((verdict) => verdict.void !== "no_words").sort((a, b) => RANK[read(a).tone] - RANK[read(b).tone]);

/**
 * The spans of a turn's reply: its promises, numbered as in the transcript, then verdicts that belong to no promise. A verdict about
 * a promise's words shares its span.
 */
export function placeReply(turn, read) {
  const text = turn.reply?.content ?? "";
  const promises = turn.promises.filter(({ message }) => message === turn.reply?.id);
  const spans = place(text, [...promises, ...ranked(turn.verdicts, read)]);
  const isPromised = (span) => span.rows.some(isPromise);
  [...spans.filter(isPromised), ...spans.filter((span) => !isPromised(span))].forEach(
    (span, index) => (span.number = index + 1),
  );
  return spans;
}

/** True for a promise among the rows of a span; verdicts have no state. */
export const isPromise = (row) => "state" in row;

/** Verdict or promise → mark number, for quotes that were found. */
export const numbersOf = (spans) => new Map(spans.flatMap((span) => span.rows.map((row) => [row, span.number])));

/** The text as nodes; `mark(span, words, after)` builds each mark, and `after` is punctuation to keep on the same line. */
export function marked(text, spans, mark) {
  const nodes = [];
  let from = 0;
  for (const span of spans) {
    const after = /^[.,;:!?…)”"»]*/.exec(text.slice(span.end))[0];
    nodes.push(...linked(text.slice(from, span.start)), mark(span, linked(text.slice(span.start, span.end)), after));
    from = span.end + after.length;
  }
  return [...nodes, ...linked(text.slice(from))];
}

/** A mark. With a number it is highlighted together with its lane and verdict. */
export const mark = ({ tone, number, words }) =>
  h(
    "mark",
    { class: "mg-mark", "data-s": tone === "mute" ? "off" : tone, "data-w": number },
    words,
    number && h("sup", {}, String(number)),
  );
