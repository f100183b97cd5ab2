// Files for a message: chosen, dropped or pasted, uploaded at once, and sent with it.
import { sizeOf } from "./attachments.js";
import { h, icon } from "./dom.js";
import { fill, gettext } from "./i18n.js";
import * as storage from "./storage.js";

const MOST = 5;
const MOST_BYTES = 10 * 1024 * 1024;

export class Files {
  /** `tool` holds the button and the input, `list` shows the files, `say(words)` a sentence. `upload(file, key, onProgress)` stores
   * a file once per key. With `kept`, a name in the browser's storage, stored files outlast the page. `zone` takes dropped files. */
  constructor({ form, tool, list, say, upload, kept = "", zone = form }) {
    Object.assign(this, { list, say, store: upload, kept });
    this.files = this.read();
    this.uploads = [];
    const input = tool.querySelector("input");
    tool.querySelector("button").addEventListener("click", () => input.click());
    input.addEventListener("change", () => {
      this.add([...input.files]);
      input.value = "";
      // Whoever goes on typing writes the message, and presses no single keys.
      form.querySelector("textarea")?.focus();
    });
    form.addEventListener("paste", (event) => this.given(event, event.clipboardData));
    zone.addEventListener("dragover", (event) => event.dataTransfer.types.includes("Files") && form.checkVisibility() && event.preventDefault());
    zone.addEventListener("drop", (event) => form.checkVisibility() && this.given(event, event.dataTransfer));
    this.render();
  }

  get ids() {
    return this.files.map(({ id }) => id);
  }

  get names() {
    return this.files.map(({ name }) => name);
  }

  /** True, with a sentence, while a file is still on its way. */
  get isBusy() {
    if (this.uploads.length) this.say(gettext("Wait until the file is uploaded, or remove it."));
    return this.uploads.length > 0;
  }

  given(event, data) {
    if (!data.files.length) return;
    event.preventDefault();
    this.add([...data.files]);
  }

  async add(chosen) {
    this.say("");
    for (const file of chosen) {
      const refusal = this.refusal(file);
      if (refusal) this.say(refusal);
      else await this.upload({ file, key: newKey() });
    }
  }

  refusal({ name, size }) {
    if (this.files.length + this.uploads.length >= MOST) return fill(gettext("A message can have up to %(most)s files."), { most: MOST });
    if (size > MOST_BYTES) return fill(gettext("%(name)s is %(size)s. Attach a file of at most %(most)s."), { name, size: sizeOf(size), most: sizeOf(MOST_BYTES) });
    return size ? null : fill(gettext("%(name)s is empty."), { name });
  }

  /** Every try has the same key, so that a file is stored once. One that didn't get through stays, to be tried again. */
  async upload(item) {
    if (!this.uploads.includes(item)) this.uploads.push(item);
    item.isFailed = false;
    this.render();
    try {
      const stored = await this.store(item.file, item.key, (part) => item.bar && (item.bar.value = part));
      if (this.uploads.includes(item)) this.files.push(stored);
      this.forget(item);
    } catch (error) {
      this.say(error.message);
      item.isFailed = !error.status || error.status === 429 || error.status >= 500;
      if (!item.isFailed) this.forget(item);
    }
    this.write();
  }

  forget(item) {
    this.uploads = this.uploads.filter((other) => other !== item);
    this.write();
  }

  remove(id) {
    this.files = this.files.filter((file) => file.id !== id);
    this.write();
  }

  clear() {
    this.files = [];
    this.write();
  }

  /** Puts back the files of a message that wasn't sent. */
  restore(files) {
    this.files = [...files, ...this.files];
    this.write();
  }

  render() {
    const stored = this.files.map(({ id, name, size }) => row({ name, size, onRemove: () => this.remove(id) }));
    const uploading = this.uploads.map((item) => {
      item.bar = h("progress", { class: "mg-up", max: "1", "aria-label": fill(gettext("Uploading %(name)s"), { name: item.file.name }) });
      const again = h("button", { type: "button", class: "btn btn-bare btn-sm", onclick: () => this.upload(item) }, gettext("Try again"));
      return row({ ...sizeAndName(item.file), more: item.isFailed ? again : item.bar, onRemove: () => this.forget(item) });
    });
    const rows = [...stored, ...uploading];
    this.list.replaceChildren(...rows);
    this.list.hidden = !rows.length;
  }

  read() {
    return JSON.parse(storage.read("localStorage", this.kept)) ?? [];
  }

  write() {
    this.render();
    if (this.kept) storage.write("localStorage", this.kept, this.files.length ? JSON.stringify(this.files) : null);
  }
}

const sizeAndName = ({ name, size }) => ({ name, size });

const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

const row = ({ name, size, more, onRemove }) =>
  h(
    "li",
    { class: "mg-tag" },
    icon("paperclip"),
    h("span", { class: "ell", dir: "auto" }, name),
    h("small", { class: "t3 nw" }, sizeOf(size)),
    more,
    h("button", { type: "button", class: "btn btn-bare btn-icon btn-sm", "aria-label": fill(gettext("Remove %(name)s"), { name }), onclick: onRemove }, icon("x")),
  );
