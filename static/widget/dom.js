// DOM helpers. Server data only ever becomes text nodes; there is no markup and no inline style.
const SVG = "http://www.w3.org/2000/svg";
const LINK = /https?:\/\/[^\s<>"“”]+[^\s<>"“”.,;:!?)\]’]/g;
const REL = "noopener noreferrer nofollow";

// Tabler icons (MIT), as paths in a 24 by 24 box.
const ICONS = {
  chat: "M8 9h8M8 13h6M18 4a3 3 0 0 1 3 3v8a3 3 0 0 1 -3 3h-5l-5 3v-3h-2a3 3 0 0 1 -3 -3v-8a3 3 0 0 1 3 -3z",
  phone: "M5 4h4l2 5l-2.5 1.5a11 11 0 0 0 5 5l1.5 -2.5l5 2v4a2 2 0 0 1 -2 2a16 16 0 0 1 -15 -15a2 2 0 0 1 2 -2",
  close: "M18 6l-12 12M6 6l12 12",
  send: "M12 5v14M18 11l-6 -6M6 11l6 -6",
  down: "M12 5v14M18 13l-6 6M6 13l6 6",
  person: "M8 7a4 4 0 1 0 8 0a4 4 0 0 0 -8 0M6 21v-2a4 4 0 0 1 4 -4h4a4 4 0 0 1 4 4v2",
  article: "M14 3v4a1 1 0 0 0 1 1h4M17 21h-10a2 2 0 0 1 -2 -2v-14a2 2 0 0 1 2 -2h7l5 5v11a2 2 0 0 1 -2 2zM9 9h1M9 13h6M9 17h6",
  clip: "M15 7l-6.5 6.5a1.5 1.5 0 0 0 3 3l6.5 -6.5a3 3 0 0 0 -6 -6l-6.5 6.5a4.5 4.5 0 0 0 9 9l6.5 -6.5",
  star: "M12 17.75l-6.172 3.245l1.179 -6.873l-5 -4.867l6.9 -1l3.086 -6.253l3.086 6.253l6.9 1l-5 4.867l1.179 6.873l-6.158 -3.245",
  out: "M17 7l-10 10M8 7h9v9",
};

function assemble(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Creates an HTML element. Null and false attributes are omitted; `onclick` and the like take a function. */
export const h = (tag, attributes, ...children) => assemble(document.createElement(tag), attributes, children);

export const icon = (name) => drawn(ICONS[name]);

/** An icon from the path of its strokes. */
export function drawn(strokes) {
  const path = assemble(document.createElementNS(SVG, "path"), { d: strokes }, []);
  return assemble(document.createElementNS(SVG, "svg"), { class: "i", viewBox: "0 0 24 24", "aria-hidden": "true" }, [path]);
}

/** A string or number as text, else "". */
export const words = (value) => (typeof value === "string" || typeof value === "number" ? String(value) : "");

/** The absolute http or https URL, or null; other schemes are never followed. */
export function pageAddress(value, base) {
  try {
    const url = new URL(words(value), base);
    return words(value) && /^https?:$/.test(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/** A link that opens in a new tab, or a plain element if the URL is not valid. */
export function link(address, attributes, ...children) {
  const href = pageAddress(address);
  return href ? h("a", { ...attributes, href, target: "_blank", rel: REL }, ...children) : h("div", attributes, ...children);
}

/** Text as nodes, with its http(s) URLs as links. */
export function linked(text) {
  const nodes = [];
  let from = 0;
  for (const match of text.matchAll(LINK)) {
    nodes.push(text.slice(from, match.index), link(match[0], {}, match[0]));
    from = match.index + match[0].length;
  }
  return [...nodes, text.slice(from)].filter((node) => node !== "");
}
