// The transcript in the inbox: day separators, internal notes, and answers of people told apart from the agent's.
import { Chat } from "../chat.js";
import { h, icon, linked } from "../dom.js";
import * as format from "../format.js";
import { fill, gettext } from "../i18n.js";
import { translationRow } from "./translation.js";

export class Transcript extends Chat {
  /** The translation of a message; empty if there is none to show. */
  translationOf = () => "";
  /** Internal notes, oldest first. */
  internal = [];

  list(store) {
    let before = null;
    return this.withNotes(super.list(store), store).flatMap((row) => {
      const one = row.note ?? messageOf(row, store);
      const day = one ? format.day(one.created_at) : before;
      const isNew = day !== before;
      before = day;
      const translated = !row.note && one && this.translationOf(one);
      return [isNew && separator(day, one), row, translated && translationRow(one, translated)].filter(Boolean);
    });
  }

  /** Places each note before the first message that is newer. */
  withNotes(rows, store) {
    const notes = [...this.internal];
    const merged = rows.flatMap((row) => {
      const message = messageOf(row, store);
      const earlier = message ? notes.filter((note) => new Date(note.created_at) < new Date(message.created_at)) : [];
      return [...notes.splice(0, earlier.length).map(noteRow), row];
    });
    return [...merged, ...notes.map(noteRow)];
  }

  /** The page's head says when the conversation began. */
  opening() {
    return null;
  }

  fromAgent(message, details) {
    const element = super.fromAgent(message, details);
    if (message.role === "operator") element.classList.add("op");
    return element;
  }
}

const MESSAGE = "message:";
const messageOf = ({ key }, store) => (key.startsWith(MESSAGE) ? store.messages.get(key.slice(MESSAGE.length)) : undefined);

const noteRow = (note) => ({
  key: `internal:${note.id}`,
  signature: JSON.stringify(note),
  note,
  build: () =>
    h(
      "div",
      { class: "mg-msg ib-internal", "data-s": "warn", role: "note", "aria-label": fill(gettext("Note by %(author)s"), { author: note.author }) },
      h("p", { dir: "auto" }, withMentions(note)),
      h(
        "div",
        { class: "meta" },
        icon("note"),
        h("span", {}, note.author),
        h("time", { datetime: note.created_at, title: format.moment(note.created_at) }, format.said(note.created_at)),
      ),
    ),
});

/** The note's text, with the names of mentioned members marked. */
function withMentions({ content, mentions }) {
  const names = mentions.map(({ name }) => `@${name}`);
  const parts = names.reduce((texts, name) => texts.flatMap((text) => split(text, name, names)), [content]);
  return parts.flatMap((part) => (names.includes(part) ? h("b", { class: "ib-at" }, part) : linked(part)));
}

const split = (text, name, names) =>
  names.includes(text) ? [text] : text.split(name).flatMap((part, place) => (place ? [name, part] : [part]));

const separator = (day, one) => ({
  key: `day:${one.id}`,
  signature: day,
  build: () => h("div", { class: "mg-sys ib-day" }, h("span", {}, day)),
});
