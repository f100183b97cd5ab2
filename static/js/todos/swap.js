// Replaces the page with a fetched one, preserving scroll position, focus and open details.
const SCROLLS = ["board", "panel-scroll"];

export const parsed = (text) => new DOMParser().parseFromString(text, "text/html");

/** Replaces the whole of `root`. */
export function swap(root, page) {
  const fresh = page.getElementById(root.id);
  if (!fresh) return location.reload();
  const kept = keep(root);
  for (const { name, value } of [...fresh.attributes]) root.setAttribute(name, value);
  root.replaceChildren(...fresh.childNodes);
  document.title = page.title;
  swapCount(root, page);
  restore(kept);
}

/** Replaces the board but not the panel. */
export function swapBoard(root, page) {
  const [board, fresh] = [root.querySelector("#board"), page.getElementById("board")];
  if (!fresh) return;
  const kept = keep(root);
  board.replaceChildren(...fresh.childNodes);
  root.dataset.stamp = page.getElementById(root.id).dataset.stamp;
  swapCount(root, page);
  restore(kept);
}

/** Updates the count in the sidebar. */
export function swapCount(root, page) {
  const link = (within) => within.querySelector(`.mg-nav a[href="${root.dataset.board}"]`);
  const [shown, fresh] = [link(document), link(page)];
  if (shown && fresh && shown.innerHTML !== fresh.innerHTML) shown.replaceChildren(...fresh.childNodes);
}

function keep(root) {
  const active = document.activeElement;
  return {
    focus: root.contains(active) ? { row: active.dataset.row, id: active.id, key: active.dataset.key } : null,
    scrolls: SCROLLS.map((id) => [id, document.getElementById(id)?.scrollTop ?? 0, document.getElementById(id)?.scrollLeft ?? 0]),
    opened: [...root.querySelectorAll("details[open]")].map(place),
  };
}

function restore({ focus, scrolls, opened }) {
  for (const [id, top, left] of scrolls) document.getElementById(id)?.scrollTo({ top, left, behavior: "instant" });
  for (const details of document.querySelectorAll("#panel details")) details.open ||= opened.includes(place(details));
  if (!focus) return;
  const found =
    (focus.row && document.querySelector(`[data-row="${focus.row}"]`)) ||
    (focus.key && document.querySelector(`[data-key="${focus.key}"]`)) ||
    (focus.id && document.getElementById(focus.id)) ||
    null;
  found?.focus({ preventScroll: true });
}

/** Identifies a <details> by its id or its position in the run log. */
function place(details) {
  const [run, step] = [details.closest("[data-run]")?.dataset.run, details.closest("[data-step]")?.dataset.step];
  return details.id || `${run}/${step}/${[...details.parentElement.children].indexOf(details)}`;
}
