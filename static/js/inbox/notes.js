// Internal notes: the form with its mentions, and the switch between it and the answer.
import { Composer } from "../composer.js";
import { gettext } from "../i18n.js";
import { offerKeys } from "../keys.js";
import { Picker } from "./picker.js";
import { Unsent } from "./unsent.js";

const MENTION = /(?:^|[\s(])@([^@\n]{0,40})$/;
const DRAFTS = "mg-note:";

export class Notes {
  /** `onNotes(notes)` gets all notes of the conversation; `onWritten()` is called after one was added. */
  constructor({ api, conversation, form, modes, answer, refused, onNotes, onWritten }) {
    Object.assign(this, { api, conversation, form, modes, answer, refused, onNotes, onWritten });
    this.composer = new Composer({ form, onSend: (content) => this.send(content) });
    const { field } = this.composer;
    this.composer.isRefused = (content) => this.isEmpty(content);
    this.unsent = new Unsent(conversation, DRAFTS);
    field.value = [this.unsent.content, field.value].filter(Boolean).join("\n");
    field.addEventListener("input", () => this.unsent.type(field.value));
    const list = form.querySelector("[role=listbox]");
    this.members = [...list.children];
    new Picker({
      field,
      list,
      query: (before) => this.asked(MENTION.exec(before)?.[1]),
      options: (query) => this.members.filter((member) => matches(member, query)),
      onPick: (member) => this.mention(member.dataset.name),
    });
    modes.addEventListener("click", ({ target }) => this.pressed(target.closest("button")));
    // A note that wasn't added yet is shown.
    if (this.unsent.content) this.choose("note");
    offerKeys(["N", gettext("Write a note for the team"), { n: () => this.write("note") }]);
    this.load();
  }

  /** The beginning of a name; null if none is being typed. */
  asked(text) {
    const isWhole = text && this.members.some(({ dataset }) => text.startsWith(`${dataset.name} `));
    return text === undefined || isWhole ? null : text;
  }

  get path() {
    return `/conversations/${this.conversation}/notes`;
  }

  async load() {
    const notes = await this.api.list(this.path).catch(() => null);
    if (notes) this.onNotes(notes);
  }

  /** The pressed mode; pressing “Note” again hides the note. */
  pressed(button) {
    if (button?.ariaPressed === "true") this.choose("reply");
    else if (button) this.write(button.value);
  }

  write(mode) {
    this.choose(mode);
    (mode === "note" ? this.form : this.answer).querySelector("textarea").focus();
    this.composer.fit();
  }

  /** Shows the note or the answer. */
  choose(mode) {
    this.form.parentElement.dataset.write = mode;
    for (const button of this.modes.children) button.setAttribute("aria-pressed", String(button.value === mode));
  }

  mention(name) {
    const { field } = this.composer;
    const end = field.selectionStart;
    field.setRangeText(`@${name} `, field.value.lastIndexOf("@", end - 1), end, "end");
    field.dispatchEvent(new Event("input"));
  }

  /** Retries reuse the idempotency key, because only the response to an earlier attempt may have been lost. */
  async send(content) {
    const key = this.unsent.begin(content);
    const mentions = mentioned(content, this.members).map(({ dataset }) => dataset.email);
    this.refuse("");
    try {
      await this.api.post(this.path, { content, mentions }, { "Idempotency-Key": key });
    } catch (error) {
      this.refuse(error.message);
      return this.composer.restore(content);
    }
    this.unsent.done(this.composer.field.value);
    await this.load();
    this.onWritten();
  }

  /** True, with a sentence, for an “@” that names nobody. */
  isEmpty(content) {
    const isEmpty = !content.replace(/[@\s]/g, "");
    if (isEmpty) this.refuse(gettext("Choose who to mention, or write the note."));
    return isEmpty;
  }

  refuse(words) {
    this.refused.hidden = !words;
    this.refused.querySelector("span").textContent = words;
  }
}

/** The members whose names follow an “@”. A longer name is no mention of the shorter one that it begins with. */
function mentioned(content, members) {
  const names = [...new Set(members.map(({ dataset }) => dataset.name))].sort((a, b) => b.length - a.length);
  const found = new Set();
  let rest = content;
  for (const name of names) {
    const parts = rest.split(`@${name}`);
    if (parts.length > 1) found.add(name);
    rest = parts.join("\n");
  }
  return members.filter(({ dataset }) => found.has(dataset.name));
}

const matches = ({ dataset: { name, email } }, query) =>
  [name, email].some((text) => text.toLowerCase().includes(query.trimEnd().toLowerCase()));
