// Charts: the values of a column on hover, focus and touch; arrow keys move between columns. Definitions of figures likewise.
import { h } from "./dom.js";

const EDGE = 4;

export function prepareCharts(root = document) {
  for (const chart of root.querySelectorAll("[data-chart]:not([data-ready])")) prepare(chart);
}

function prepare(chart) {
  chart.dataset.ready = "";
  const columns = [...chart.querySelectorAll(".ch-col")];
  const tip = chart.querySelector(".ch-tip");
  // One stop for Tab: the newest column, until another was focused.
  columns.forEach((column, at) => column.setAttribute("tabindex", at === columns.length - 1 ? "0" : "-1"));
  const show = (column) => {
    for (const one of columns) one.classList.toggle("on", one === column);
    tip.hidden = !column;
    if (column) place(chart, tip, column);
  };
  for (const column of columns) {
    // A finger enters before it presses: its first touch would count as the second.
    column.addEventListener("pointerenter", ({ pointerType }) => pointerType === "touch" || show(column));
    column.addEventListener("focus", () => {
      for (const one of columns) one.setAttribute("tabindex", one === column ? "0" : "-1");
      show(column);
    });
    column.addEventListener("blur", () => show(null));
    // The first touch shows the values, the second follows the link.
    column.addEventListener("pointerdown", () => (column.wasShown = !tip.hidden && column.classList.contains("on")));
    column.addEventListener("click", (event) => {
      if (event.pointerType !== "touch" || column.wasShown) return;
      event.preventDefault();
      show(column);
    });
  }
  chart.addEventListener("pointerleave", ({ pointerType }) => pointerType === "mouse" && show(null));
  chart.addEventListener("keydown", (event) => move(event, columns, () => show(null)));
  document.addEventListener("pointerdown", ({ target }) => chart.contains(target) || show(null));
}

const MOVES = {
  ArrowLeft: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  Home: () => 0,
  End: (_, last) => last,
};

function move(event, columns, hide) {
  if (event.key === "Escape") return hide();
  const at = columns.indexOf(event.target.closest(".ch-col"));
  const next = columns[MOVES[event.key]?.(at, columns.length - 1)];
  if (at < 0 || !next) return;
  event.preventDefault();
  next.focus();
}

function place(chart, tip, column) {
  const values = [...column.querySelectorAll("desc")].reverse();
  tip.replaceChildren(
    h("b", {}, column.dataset.name),
    ...values.map((one) => h("span", {}, h("i", { class: one.dataset.tone }), one.textContent, h("em", {}, one.dataset.value))),
  );
  const plot = chart.querySelector(".mg-chart").getBoundingClientRect();
  const whole = chart.getBoundingClientRect();
  const half = tip.offsetWidth / 2;
  const center = plot.left - whole.left + (plot.width * Number(column.dataset.at)) / 100;
  tip.style.left = `${Math.max(half - EDGE, Math.min(whole.width - half + EDGE, center))}px`;
}

// Definitions

const note = h("div", { class: "ch-note", role: "tooltip", hidden: true });
document.body.append(note);

const definitionOf = (event) => event.target.closest?.("[data-definition]");

function explain(button) {
  note.textContent = button.dataset.definition;
  note.hidden = false;
  const box = button.getBoundingClientRect();
  const below = box.bottom + 6;
  note.style.left = `${Math.max(14, Math.min(innerWidth - note.offsetWidth - 14, box.left))}px`;
  note.style.top = `${below + note.offsetHeight > innerHeight ? box.top - note.offsetHeight - 6 : below}px`;
}

for (const kind of ["pointerover", "focusin", "click"])
  document.addEventListener(kind, (event) => {
    const button = definitionOf(event);
    if (button) explain(button);
    else if (kind !== "focusin") note.hidden = true;
  });
document.addEventListener("focusout", () => (note.hidden = true));
document.addEventListener("keydown", ({ key }) => key === "Escape" && (note.hidden = true));
document.addEventListener("scroll", () => (note.hidden = true), { capture: true, passive: true });

prepareCharts();
