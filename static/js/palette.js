// The command palette (⌘K): pages, settings, actions, people and conversations. A combobox whose list is filtered here for
// what is fixed, and searched on the server for what isn't.
import { h, icon } from "./dom.js";
import { fill, gettext, ngettext } from "./i18n.js";
import { offerKeys, openKeys } from "./keys.js";
import { Newest } from "./newest.js";
import { bestOf } from "./palette_rank.js";

const WAIT_MS = 120;
const MOST_FIXED = 8;
const ACTS = { theme: () => document.querySelector("[data-theme-toggle]").click(), keys: openKeys };

class Palette {
  constructor(address) {
    this.address = address;
    this.found = [];
    this.latest = new Newest();
  }

  /** The dialog, which a page has from the first opening on. */
  build() {
    this.input = h("input", {
      class: "form-control pal-in",
      type: "text",
      role: "combobox",
      "aria-label": gettext("Search"),
      "aria-expanded": "true",
      "aria-controls": "palette-list",
      "aria-autocomplete": "list",
      autocomplete: "off",
      spellcheck: "false",
      maxlength: "100",
      placeholder: gettext("Search people, conversations, pages and settings, or run a command"),
      oninput: () => this.typed(),
      onkeydown: (event) => this.pressed(event),
    });
    this.list = h("div", { id: "palette-list", role: "listbox", "aria-label": gettext("Results"), class: "pal-list" });
    this.said = h("p", { class: "visually-hidden", role: "status" });
    this.dialog = h(
      "dialog",
      { class: "sh-dialog pal", "aria-label": gettext("Search"), onclick: (event) => event.target === this.dialog && this.dialog.close() },
      h("div", { class: "pal-top" }, icon("search"), this.input, h("button", { type: "button", class: "btn btn-bare btn-icon btn-sm", "aria-label": gettext("Close"), onclick: () => this.dialog.close() }, icon("x"))),
      this.list,
      this.said,
    );
    this.dialog.addEventListener("close", () => this.opener?.focus());
    document.body.append(this.dialog);
  }

  open() {
    if (this.dialog?.open) return this.dialog.close();
    if (document.querySelector("dialog[open]")) return;
    for (const menu of document.querySelectorAll(":popover-open")) menu.hidePopover();
    if (!this.dialog) this.build();
    this.opener = document.activeElement;
    this.input.value = "";
    this.found = [];
    this.dialog.showModal();
    this.input.focus();
    this.fixed ??= this.read("").catch(() => []);
    this.drawn = this.draw();
  }

  async read(text) {
    const url = text ? `${this.address}?${new URLSearchParams({ q: text })}` : this.address;
    const response = await fetch(url, { credentials: "same-origin", headers: { Accept: "application/json" } });
    if (!response.ok || response.redirected) throw new Error(`${response.status}`);
    return (await response.json()).entries;
  }

  typed() {
    this.drawn = this.draw();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.search(), WAIT_MS);
  }

  async search() {
    const text = this.input.value.trim();
    this.isFailed = false;
    const answer = this.read(text).catch(() => ((this.isFailed = true), []));
    const found = text ? await this.latest.of(answer) : [];
    if (found === null) return;
    this.found = found;
    this.draw();
  }

  async draw() {
    const text = this.input.value.trim();
    const fixed = bestOf(await this.fixed, text).slice(0, text ? MOST_FIXED : undefined);
    if (text !== this.input.value.trim()) return;
    const results = [...fixed, ...(text ? this.found : [])];
    const entries = text ? [...results, this.inInbox(text)] : results;
    const groups = Map.groupBy ? Map.groupBy(entries, ({ group }) => group) : grouped(entries);
    let number = 0;
    this.list.replaceChildren(
      ...[...groups].map(([group, some]) =>
        h(
          "div",
          { role: "group", "aria-label": group },
          h("p", { class: "pal-group", "aria-hidden": "true" }, group),
          some.map((entry) => this.option(entry, number++)),
        ),
      ),
    );
    if (results.length === 0) this.list.prepend(h("p", { class: "pal-none" }, this.isFailed ? gettext("Search isn’t responding. Try again.") : fill(gettext("Nothing found for “%(text)s”."), { text })));
    this.said.textContent = fill(ngettext("%(number)s result", "%(number)s results", results.length), { number: results.length });
    this.select(0);
  }

  /** The inbox's search, which also finds words in archived conversations. */
  inInbox(text) {
    const url = `${this.address.replace(/palette$/, "inbox")}?${new URLSearchParams({ q: text })}`;
    return { group: gettext("Inbox"), icon: "inbox", title: fill(gettext("Search the inbox for “%(text)s”"), { text }), url };
  }

  option(entry, number) {
    const option = h(
      "div",
      { role: "option", id: `palette-${number}`, class: "pal-option", "aria-selected": "false", onclick: (event) => this.choose(entry, event), onpointermove: () => this.select(number) },
      icon(entry.icon),
      h("span", { class: "ell" }, entry.title),
      entry.hint && h("small", { class: "ell" }, entry.hint),
    );
    option.entry = entry;
    return option;
  }

  get options() {
    return [...this.list.querySelectorAll("[role=option]")];
  }

  select(at) {
    const options = this.options;
    this.at = options.length ? (at + options.length) % options.length : 0;
    for (const [number, option] of options.entries()) option.setAttribute("aria-selected", number === this.at);
    const chosen = options[this.at];
    if (chosen) this.input.setAttribute("aria-activedescendant", chosen.id);
    else this.input.removeAttribute("aria-activedescendant");
    chosen?.scrollIntoView({ block: "nearest" });
  }

  pressed(event) {
    if (event.isComposing) return;
    const moves = { ArrowDown: this.at + 1, ArrowUp: this.at - 1, PageDown: Math.min(this.at + 8, this.options.length - 1), PageUp: Math.max(this.at - 8, 0) };
    if (event.key in moves) this.select(moves[event.key]);
    else if (event.key === "Enter") this.enter(event);
    else return;
    event.preventDefault();
  }

  /** Chooses what is selected, once the results of what was typed are there. */
  async enter({ ctrlKey, metaKey }) {
    await this.drawn;
    const option = this.options[this.at];
    if (this.dialog.open && option) this.choose(option.entry, { ctrlKey, metaKey });
  }

  choose(entry, event) {
    this.dialog.close();
    if (entry.act) ACTS[entry.act]();
    else if (event.ctrlKey || event.metaKey) window.open(entry.url, "_blank", "noopener");
    else location.assign(entry.url);
  }
}

function grouped(entries) {
  const groups = new Map();
  for (const entry of entries) groups.set(entry.group, [...(groups.get(entry.group) ?? []), entry]);
  return groups;
}

const palette = new Palette(document.querySelector("meta[name=palette]").content);
offerKeys(["⌘ K", gettext("Search")]);
document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== "k") return;
  event.preventDefault();
  palette.open();
});
for (const opener of document.querySelectorAll("[data-palette-open]")) opener.addEventListener("click", () => palette.open());
// On a phone the sidebar is closed, so the top bar has a button of its own. Elsewhere its icon isn't fetched.
const phone = matchMedia("(max-width: 767px)");
function addButton() {
  const button = h("button", { type: "button", class: "btn btn-bare btn-icon mg-phone sh-find", "aria-label": gettext("Search"), onclick: () => palette.open() }, icon("search"));
  document.querySelector(".mg-top > .mg-phone")?.after(button);
}
if (phone.matches) addButton();
else phone.addEventListener("change", addButton, { once: true });
// The sidebar scrolls on its own; the page that is open is in view.
requestAnimationFrame(() => document.querySelector(".mg-nav [aria-current]")?.scrollIntoView({ block: "nearest" }));
