// Files of a message: images as pictures, audio and videos in a player, everything else by name.
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

const PLAYED = /^(audio|video)\//;
// The beginning of a line that stands for a voice message, audio or a video. What was said may follow.
const HEARD = /^\[(Voice message|Audio|Video)(, \d[^\]]*)?\] ?/;

/** The words of a message, without those that stand for files shown beside them: a customer's lines, or the names that an
 * operator's files are sent with. */
export function wordsOf({ content, attachments: files = [] }) {
  const names = files.map(({ name }) => name);
  if (content === names.join(", ")) return "";
  const shown = names.map((name) => `[File: ${name}]`);
  const isPlayed = files.some(({ content_type }) => PLAYED.test(content_type));
  const lines = content.split("\n").flatMap((line) => {
    if (shown.includes(line)) return [];
    const words = isPlayed ? line.replace(HEARD, "") : line;
    return words || !line ? [words] : [];
  });
  return lines.join("\n");
}

function shown({ name, content_type, size, url }) {
  const href = new URL(url).pathname;
  const [, player] = content_type.match(PLAYED) ?? [];
  if (player) return h(player, { src: href, controls: "", preload: "metadata", "aria-label": name });
  const isImage = content_type.startsWith("image/");
  const inside = isImage
    ? [h("img", { src: href, alt: name, loading: "lazy", width: "180", height: "120" })]
    : [icon("file-text"), h("span", { class: "ell" }, name), h("small", { class: "t3 nw" }, sizeOf(size))];
  return h("a", { href, target: "_blank", rel: "noopener", class: isImage ? "picture" : null, title: name }, inside);
}
