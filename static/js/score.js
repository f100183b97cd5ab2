// Draws a turn's lanes as SVG, animated while something runs.
import { now } from "./clock.js";
import { h, icon, s } from "./dom.js";
import * as format from "./format.js";
import { fill, gettext } from "./i18n.js";
import { layOut } from "./lanes.js";
import { isRunning } from "./turn.js";

const GAP_PX = 8;
const HEIGHT = 25;
const SENT_PX = 30;
// Half the width of the label "100 ms", which is centered on its tick.
const HALF_TICK_PX = 22;
const GROW_MS = matchMedia("(prefers-reduced-motion: reduce)").matches ? 1_000 : 100;
const ruler = document.createElement("canvas").getContext("2d");

export class Score {
  constructor(element) {
    this.element = element;
    this.shown = null;
    new ResizeObserver(() => this.draw()).observe(element);
  }

  /** `firstAt()` returns when the first token of a running reply arrived. */
  show(turn, { numberOf, firstAt }) {
    this.shown = { turn, numberOf, firstAt };
    this.draw();
    clearInterval(this.timer);
    if (isRunning(turn)) this.timer = setInterval(() => document.hidden || this.draw(), GROW_MS);
  }

  hide() {
    this.shown = null;
    clearInterval(this.timer);
  }

  draw() {
    if (!this.shown || !this.element.clientWidth) return;
    const { turn, numberOf, firstAt } = this.shown;
    const score = layOut(turn, { now: now(), firstAt: firstAt(), numberOf });
    ruler.font = `400 11.5px ${getComputedStyle(document.body).fontFamily}`;
    this.paint(turn, score);
    // Text can only be measured once it is in the page, so the first drawing estimates.
    if (this.laneWidth() !== this.width) this.paint(turn, score);
  }

  paint(turn, score) {
    this.width = this.laneWidth();
    const list = h(
      "ol",
      { class: "mg-score", "aria-label": fill(gettext("Timeline of turn %(turn)s, %(time)s"), { turn: turn.seq, time: format.duration(score.end) }) },
      this.axis(score),
      score.lanes.map((lane, index) => this.lane(score, lane, index)),
    );
    this.element.replaceChildren(list);
  }

  laneWidth() {
    const lane = this.element.querySelector("li > svg");
    return lane?.clientWidth || this.element.clientWidth - 160;
  }

  axis(score) {
    const labels = score.ticks.map((tick, index) => this.tick(score, tick, index));
    const sent =
      score.sent !== null && s("text", { x: percent(score.sent, score), y: 12, ...this.sentPlace(score) }, gettext("sent"));
    return h(
      "li",
      { class: "axis", "aria-hidden": "true" },
      h("span", { class: "nm" }),
      s("svg", { role: "presentation" }, labels, sent),
    );
  }

  tick(score, tick, index) {
    const x = (tick / score.axis) * this.width;
    const sentX = (score.sent / score.axis) * this.width;
    const end = Math.max(sentX + 3, 14) + SENT_PX + HALF_TICK_PX;
    const isTaken = index > 0 && score.sent !== null && x > sentX - 14 && x < end;
    if (isTaken) return null;
    const isLast = tick === score.axis;
    const label = tick === 0 ? "0" : axisLabel(tick, score.axis);
    return s(
      "text",
      { x: percent(tick, score), y: 12, "text-anchor": isLast ? "end" : index ? "middle" : null },
      label,
    );
  }

  sentPlace(score) {
    const isLate = (score.sent / score.axis) * this.width > this.width - SENT_PX - 4;
    return isLate ? { dx: -3, "text-anchor": "end" } : { dx: Math.max(3, 14 - (score.sent / score.axis) * this.width) };
  }

  lane(score, lane, index) {
    const name = h(
      "span",
      { class: "nm", title: lane.title },
      icon(lane.icon),
      lane.name,
      lane.number ? h("span", { class: "mg-n" }, lane.number) : null,
    );
    const drawing = s(
      "svg",
      { role: "img", "aria-label": spoken(lane) },
      this.grid(score),
      this.bars(score, lane),
      this.joints(score, index),
      this.text(score, { lane, index, name }),
    );
    return h("li", { class: lane.isCut ? "sup" : null, "data-w": lane.number, "data-lane": lane.kind }, name, drawing);
  }

  grid(score) {
    const lines = score.ticks.slice(1, -1).map((tick) => vertical(percent(tick, score)));
    return score.sent === null ? lines : [...lines, vertical(percent(score.sent, score), { class: "bar" })];
  }

  bars(score, lane) {
    if (lane.isLater) return [];
    const bars = lane.bars.map(({ from, to, tone, top = 8, height = 9 }) =>
      box(score, { from, to, top, height, class: tone, rx: Math.min(2, height / 2) }),
    );
    if (lane.isFramed)
      bars.unshift(box(score, { from: lane.start, to: lane.end, top: 2.5, height: 20, class: "fw", rx: 3 }));
    if (lane.isCut)
      bars.push(
        box(score, { from: lane.start, to: lane.end, top: 8.5, height: 8, class: "fx", rx: 2 }),
        s("line", {
          class: "cut",
          x1: percent(lane.start - score.axis * 0.006, score),
          x2: percent(lane.end + score.axis * 0.006, score),
          y1: 12.5,
          y2: 12.5,
        }),
      );
    if (lane.ring !== undefined) bars.push(s("circle", { class: "tk", cx: percent(lane.ring, score), cy: 12.5, r: 4 }));
    return bars;
  }

  joints(score, index) {
    return score.joints
      .filter((joint) => joint.from <= index && index <= joint.to)
      .map((joint) =>
        vertical(percent(joint.at, score), {
          class: "lk",
          y1: joint.from === index ? 18 : 0,
          y2: joint.to === index ? 8 : HEIGHT,
        }),
      );
  }

  /** Label placement: right of the bar, else left, else the duration only, else next to the lane's name. */
  text(score, { lane, index, name }) {
    if (lane.isLater)
      return label({
        x: 0,
        strong: fill(gettext("%(time)s later"), { time: format.duration(lane.start) }),
        detail: [lane.strong, lane.detail].filter(Boolean).join(", "),
      });
    const start = (Math.max(0, lane.bars[0]?.from ?? lane.start) / score.axis) * this.width;
    const joints = score.joints
      .filter((joint) => joint.from === index && joint.at < lane.end + score.axis * 0.05)
      .map((joint) => joint.at);
    const edge = Math.max(lane.end, ...joints);
    const end = (edge / score.axis) * this.width;
    const details = [lane.detail, shorten(lane.detail), lane.detail.split(/[:,]/)[0], lane.strong ? "" : lane.brief];
    for (const detail of details) {
      const one = { strong: lane.strong, detail };
      const needs = GAP_PX + ruler.measureText(`${one.strong ?? ""}  ${one.detail}`).width + 4;
      if (end + needs <= this.width) return label({ x: percent(edge, score), dx: GAP_PX, ...one });
      if (start - needs >= 0)
        return label({ x: percent((start / this.width) * score.axis, score), dx: -GAP_PX, anchor: "end", ...one });
    }
    name.append(h("span", { class: "mg-n" }, lane.strong ?? lane.brief));
    return null;
  }
}

const percent = (ms, { axis }) => `${((ms / axis) * 100).toFixed(2)}%`;

const vertical = (x, attributes = {}) => s("line", { x1: x, x2: x, y1: 0, y2: HEIGHT, ...attributes });

const box = (score, { from, to, top, height, ...rest }) =>
  s("rect", {
    x: percent(from, score),
    y: top,
    width: percent(Math.max(to - from, score.axis * 0.003), score),
    height,
    ...rest,
  });

const label = ({ x, dx = 0, anchor = null, strong, detail }) =>
  s(
    "text",
    { x, y: 16.5, dx, "text-anchor": anchor },
    strong && s("tspan", { class: "k" }, strong),
    detail && s("tspan", { dx: strong ? 9 : null }, detail),
  );

const shorten = (detail) => (detail.length > 34 ? `${detail.slice(0, 33).trimEnd()}…` : detail);

/** Axis labels in a common unit. */
function axisLabel(tick, axis) {
  if (axis < 1_000) return fill(gettext("%(number)s ms"), { number: Math.round(tick) });
  if (axis > 180_000) return fill(gettext("%(number)s min"), { number: format.count(tick / 60_000) });
  return fill(gettext("%(number)s s"), { number: format.count(+(tick / 1000).toFixed(1)) });
}

function spoken(lane) {
  const span = fill(gettext("%(start)s to %(end)s"), { start: format.duration(lane.start), end: format.duration(lane.end) });
  return [lane.title, span, lane.detail].filter(Boolean).join(", ");
}
