// Files for an answer: chosen, dropped or pasted, uploaded at once, and sent with the next message.
import { h, icon } from "../dom.js";
import { sizeOf } from "../attachments.js";
import { fill, gettext } from "../i18n.js";

const PREFIX = "mg-files:";
const MOST = 5;
const MOST_BYTES = 10 * 1024 * 1024;
const UPLOAD_MS = 120_000;

export class Files {
  /** `tool` holds the button and the input; `list` shows the files; `say(words)` shows a sentence above the answer. */
  constructor({ api, conversation, form, tool, list, say }) {
    Object.assign(this, { api, conversation, list, say });
    this.files = this.read();
    this.uploads = 0;
    const input = tool.querySelector("input");
    tool.querySelector("button").addEventListener("click", () => input.click());
    input.addEventListener("change", () => {
      this.add([...input.files]);
      input.value = "";
    });
    form.addEventListener("paste", (event) => this.given(event, event.clipboardData));
    form.addEventListener("dragover", (event) => event.dataTransfer.types.includes("Files") && event.preventDefault());
    form.addEventListener("drop", (event) => this.given(event, event.dataTransfer));
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
    if (this.uploads) this.say(gettext("A file is still being uploaded. Send again in a moment."));
    return this.uploads > 0;
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
      else await this.upload(file);
    }
  }

  refusal({ name, size }) {
    if (this.files.length + this.uploads >= MOST) return fill(gettext("A reply can have up to %(most)s files. %(name)s wasn’t attached."), { most: MOST, name });
    if (size > MOST_BYTES) return fill(gettext("%(name)s is %(size)s. Attach a file of at most %(most)s."), { name, size: sizeOf(size), most: sizeOf(MOST_BYTES) });
    return size ? null : fill(gettext("%(name)s is empty."), { name });
  }

  async upload(file) {
    this.uploads += 1;
    this.render();
    try {
      const path = `/conversations/${this.conversation}/attachments?name=${encodeURIComponent(file.name)}`;
      const headers = { "Content-Type": "application/octet-stream" };
      this.files.push(await this.api.request("POST", path, { body: file, headers, timeout: UPLOAD_MS }));
    } catch (error) {
      this.say(error.message);
    }
    this.uploads -= 1;
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

  render() {
    const rows = this.files.map(({ id, name, size }) =>
      h(
        "li",
        { class: "mg-tag" },
        icon("paperclip"),
        h("span", { class: "ell" }, name),
        h("small", { class: "t3 nw" }, sizeOf(size)),
        h("button", { type: "button", class: "btn btn-bare btn-icon btn-sm", "aria-label": fill(gettext("Remove %(name)s"), { name }), onclick: () => this.remove(id) }, icon("x")),
      ),
    );
    if (this.uploads) rows.push(h("li", { class: "mg-tag", role: "status" }, icon("loader-2"), gettext("Uploading…")));
    this.list.replaceChildren(...rows);
    this.list.hidden = !rows.length;
  }

  read() {
    try {
      return JSON.parse(localStorage.getItem(PREFIX + this.conversation)) ?? [];
    } catch {
      return [];
    }
  }

  write() {
    this.render();
    try {
      if (this.files.length) localStorage.setItem(PREFIX + this.conversation, JSON.stringify(this.files));
      else localStorage.removeItem(PREFIX + this.conversation);
    } catch {
      // Without storage they last until the page is left.
    }
  }
}
