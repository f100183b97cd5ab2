// DOM building without innerHTML: API data only ever becomes text.
const SVG = "http://www.w3.org/2000/svg";
const sprite = document.documentElement.dataset.sprite;
const LINK = /https?:\/\/[^\s<>"“”]+[^\s<>"“”.,;:!?)\]’]/g;

function assemble(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An HTML element. Null and false attributes are omitted; `onclick` and the like take a function. */
export const h = (tag, attributes, ...children) => assemble(document.createElement(tag), attributes, children);

/** An SVG element, by the same rules. */
export const s = (tag, attributes, ...children) => assemble(document.createElementNS(SVG, tag), attributes, children);

export const icon = (name) =>
  s("svg", { class: "mg-i", "aria-hidden": "true" }, s("use", { href: `${sprite}#${name}` }));

/** A status: icon, word and color together, never color alone. */
export const state = (tone, name, word, { fill = false } = {}) =>
  h("span", { class: fill ? "mg-st fill" : "mg-st", "data-s": tone }, icon(name), word);

export const note = (tone, name, title, ...sentence) =>
  h(
    "div",
    { class: "mg-note", "data-s": tone },
    icon(name),
    h("div", {}, h("b", { class: "tb" }, title), h("p", { class: "ts t2" }, ...sentence)),
  );

/** Text as nodes, with http(s) URLs as links that open in a new tab. */
export function linked(text) {
  const nodes = [];
  let from = 0;
  for (const match of text.matchAll(LINK)) {
    nodes.push(text.slice(from, match.index));
    nodes.push(h("a", { href: match[0], target: "_blank", rel: "noopener noreferrer" }, match[0]));
    from = match.index + match[0].length;
  }
  nodes.push(text.slice(from));
  return nodes.filter((node) => node !== "");
}

const PRESSED = ":is(a, button, label, select, summary):active";

/** Runs `draw` once no pointer is pressed; replacing an element under the pointer would lose its click. */
export function whenReleased(draw) {
  if (document.querySelector(PRESSED)) requestAnimationFrame(() => whenReleased(draw));
  else draw();
}

/** Replaces an element's content only when `signature` changes, to preserve focus and scroll. */
export function refill(element, signature, build) {
  if (element.signature === signature) return;
  element.signature = signature;
  element.replaceChildren(...[build()].flat(2).filter(Boolean));
}
