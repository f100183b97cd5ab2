// Files of a message: images as pictures, everything else by name.
import { h, icon } from "./dom.js";
import { gettext } from "./i18n.js";

/** A size in kB or MB. */
export const sizeOf = (bytes) =>
  bytes < 1024 * 1024 ? `${Math.max(1, Math.round(bytes / 1024))} kB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;

/** The files of a message; null if it has none. The page's own host serves them, whichever name it has. */
export function attachments(files) {
  if (!files?.length) return null;
  return h("ul", { class: "mg-files", "aria-label": gettext("Attached files") }, files.map((file) => h("li", {}, shown(file))));
}

/** The customer's words, without the lines that stand for files shown beside them. */
export function wordsOf({ content, attachments: files = [] }) {
  const lines = files.map(({ name }) => `[File: ${name}]`);
  return content.split("\n").filter((line) => !lines.includes(line)).join("\n");
}

function shown({ name, content_type, size, url }) {
  const href = new URL(url).pathname;
  const isImage = content_type.startsWith("image/");
  const inside = isImage
    ? [h("img", { src: href, alt: name, loading: "lazy", width: "180", height: "120" })]
    : [icon("file-text"), h("span", { class: "ell" }, name), h("small", { class: "t3 nw" }, sizeOf(size))];
  return h("a", { href, target: "_blank", rel: "noopener", class: isImage ? "picture" : null, title: name }, inside);
}
