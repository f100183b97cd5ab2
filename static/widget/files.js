// Files of a message: images as pictures, everything else by name.
import { h, icon, link, pageAddress, words } from "./dom.js";

/** The words of a message, without those that stand for files shown beside them. */
export function wordsOf({ content, attachments }) {
  const names = (attachments ?? []).map(({ name }) => name);
  const lines = names.map((name) => `[File: ${name}]`);
  if (content === names.join(", ")) return "";
  return content.split("\n").filter((line) => !lines.includes(line)).join("\n");
}

/** The files of a message; null if it has none. */
export function renderFiles(files) {
  const shown = (files ?? []).filter(({ url }) => pageAddress(url)).map((file) => h("li", {}, fileLink(file)));
  return shown.length ? h("ul", { class: "files" }, shown) : null;
}

function fileLink(file) {
  if (!words(file.content_type).startsWith("image/")) return nameLink(file);
  const shown = link(file.url, {}, h("img", { src: pageAddress(file.url), alt: words(file.name), loading: "lazy", onerror: () => shown.replaceWith(nameLink(file)) }));
  return shown;
}

/** For an image, if the page's policy allows no pictures of this server. */
const nameLink = ({ name, url }) => link(url, { class: "file" }, icon("article"), h("span", { dir: "auto" }, words(name)));
