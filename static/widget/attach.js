// Files for the next message: chosen, dropped or pasted, uploaded at once, and removable until the message is sent.
import { h, icon } from "./dom.js";
import { pause, randomKey } from "./timing.js";
import { phrase } from "./words.js";

const MOST_FILES = 5;
const MOST_MB = 10;
const LONGEST_NAME = 120;
const PICTURE_PX = 44;
const TRIES_MS = [1_000, 4_000];
const KINDS = "image/png,image/jpeg,image/gif,image/webp,.pdf,text/*,.md,.log,.json,.ics";
const TOO_LARGE = phrase("%(name)s is too large. A file can have up to %(most)s MB.");
const WRONG_KIND = phrase("%(name)s can’t be sent. Send pictures, PDFs or texts.");

export class Attach {
  /** `upload(file, { once, onProgress, signal })` stores a file; `refuse(sentence)` shows why one isn't taken. */
  constructor({ say, upload, refuse, changed }) {
    Object.assign(this, { say, upload, refuse, changed, items: [] });
    this.input = h("input", { type: "file", multiple: true, accept: KINDS, hidden: true, onchange: () => (this.add(this.input.files), (this.input.value = "")) });
    this.button = h("button", { type: "button", class: "bare", "aria-label": say("Attach files"), onclick: () => this.input.click() }, icon("clip"));
    this.list = h("ul", { class: "chips", hidden: true });
    addEventListener("online", () => this.items.filter((item) => item.failed).forEach((item) => this.send(item)));
  }

  get isReady() {
    return this.items.every((item) => item.stored);
  }

  /** The files that are to be sent, which then belong to the message. */
  take() {
    const files = this.items.map((item) => item.stored);
    this.items = [];
    this.render();
    return files;
  }

  /** Takes the files of a paste or a drop. */
  given(event, data) {
    if (!data?.files.length) return;
    event.preventDefault();
    this.add(data.files);
  }

  add(files) {
    this.refuse("");
    for (const file of files) {
      const refusal = this.refusalOf(file);
      if (refusal) this.refuse(refusal);
      else this.begin(file);
    }
  }

  refusalOf({ name, size }) {
    if (this.items.length >= MOST_FILES) return this.say("A message can have up to %(most)s files.", { most: MOST_FILES });
    if (size > MOST_MB * 1024 * 1024) return this.say(TOO_LARGE, { name, most: MOST_MB });
    return size ? "" : this.say("%(name)s is empty.", { name });
  }

  begin(file) {
    const item = { key: randomKey(), file, name: file.name.slice(-LONGEST_NAME), stop: new AbortController() };
    item.element = this.chip(item);
    this.items.push(item);
    this.render();
    this.list.scrollTop = this.list.scrollHeight;
    this.send(item);
  }

  chip(item) {
    const { say } = this;
    item.bar = h("progress", { max: "1", value: "0", "aria-label": item.name });
    item.again = h("button", { type: "button", class: "again", hidden: true, onclick: () => this.send(item) }, say("Try again"));
    const face = h("span", { class: "face" }, icon("article"));
    drawPicture(item.file).then((picture) => picture && face.replaceChildren(picture));
    const remove = h("button", { type: "button", class: "bare", "aria-label": say("Remove %(name)s", { name: item.name }), onclick: () => (this.remove(item), this.button.focus()) }, icon("close"));
    return h("li", {}, face, h("span", { class: "name", dir: "auto" }, item.name), item.again, item.bar, remove);
  }

  /** Every try has the same idempotency key, so that a file is stored once. */
  async send(item) {
    item.failed = false;
    item.again.hidden = true;
    item.bar.hidden = false;
    for (const wait of [...TRIES_MS, 0]) {
      if (item.stop.signal.aborted) return;
      try {
        item.stored = await this.upload(item.file, { once: item.key, signal: item.stop.signal, onProgress: (part) => (item.bar.value = part) });
        break;
      } catch (error) {
        if (item.stop.signal.aborted) return;
        if (isFinal(error)) return this.drop(item, error);
        if (wait) await pause(Math.max(wait, (error.seconds ?? 0) * 1000));
        else item.failed = true;
      }
    }
    item.bar.hidden = true;
    item.again.hidden = !item.failed;
    this.changed();
  }

  drop(item, error) {
    this.remove(item);
    // 422: something is wrong with the file itself.
    const sentence = error.status === 422 ? WRONG_KIND : error.status === 413 ? TOO_LARGE : phrase("No more files can be sent at the moment.");
    this.refuse(this.say(sentence, { name: item.name, most: MOST_MB }));
  }

  remove(item) {
    item.stop.abort();
    this.items = this.items.filter((other) => other !== item);
    this.render();
  }

  render() {
    const shown = this.items.map((item) => item.element);
    for (const old of [...this.list.children]) if (!shown.includes(old)) old.remove();
    for (const element of shown) if (!element.parentNode) this.list.append(element);
    this.list.hidden = !shown.length;
    this.changed();
  }
}

/** True for a refusal that the next try would get as well. */
const isFinal = ({ status, code }) => status && status !== 429 && status < 500 && code !== "request_in_progress";

/** A small picture of an image file, drawn on a canvas, which no policy of the page forbids; null for anything else. */
async function drawPicture(file) {
  if (!file.type.startsWith("image/")) return null;
  const bitmap = await createImageBitmap(file).catch(() => null);
  if (!bitmap) return null;
  const side = Math.min(bitmap.width, bitmap.height);
  const canvas = h("canvas", { width: 2 * PICTURE_PX, height: 2 * PICTURE_PX, "aria-hidden": "true" });
  canvas.getContext("2d").drawImage(bitmap, (bitmap.width - side) / 2, (bitmap.height - side) / 2, side, side, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return canvas;
}
