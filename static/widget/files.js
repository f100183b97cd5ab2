// Files that a person attached to a message: images as pictures, everything else by name.
import { h, icon, link, pageAddress, words } from "./dom.js";

/** The files of a message; null if it has none. */
export function renderFiles(files) {
  const shown = (files ?? []).filter(({ url }) => pageAddress(url)).map((file) => h("li", {}, fileLink(file)));
  return shown.length ? h("ul", { class: "files" }, shown) : null;
}

function fileLink({ name, content_type, url }) {
  if (!words(content_type).startsWith("image/")) return link(url, { class: "file" }, icon("article"), h("span", {}, words(name)));
  return link(url, {}, h("img", { src: pageAddress(url), alt: words(name), loading: "lazy" }));
}
