// Assign, tag, snooze and close: for the selected rows through the API, else for the opened conversation by its forms.
import { h } from "../dom.js";
import { momentOf, numbered } from "../format.js";
import { fill, gettext, ngettext } from "../i18n.js";

const DONE = {
  assign: (number) => ngettext("%(number)s conversation assigned.", "%(number)s conversations assigned.", number),
  tag: (number) => ngettext("%(number)s conversation tagged.", "%(number)s conversations tagged.", number),
  snooze: (number) => ngettext("%(number)s conversation snoozed.", "%(number)s conversations snoozed.", number),
  close: (number) => ngettext("%(number)s conversation closed.", "%(number)s conversations closed.", number),
  reopen: (number) => ngettext("%(number)s conversation reopened.", "%(number)s conversations reopened.", number),
};
const at = (id) => document.getElementById(id);

export class Menus {
  /** `isOpen`: a conversation is opened, and the forms of the page are about it. */
  constructor({ api, list, me, toast, isOpen }) {
    Object.assign(this, { api, list, me, toast, isOpen });
    for (const menu of document.querySelectorAll("[data-menu]")) {
      menu.addEventListener("submit", (event) => this.submitted(event));
      menu.addEventListener("toggle", ({ newState }) => newState === "open" && this.opened(menu));
      menu.addEventListener("keydown", (event) => moved(menu, event));
    }
    list.bulk.addEventListener("click", ({ target }) => this.pressed(target.closest("[data-bulk]")?.dataset.bulk));
  }

  get isBulk() {
    return this.list.picked.size > 0;
  }

  /** True if there is something to act on: without a selection or an opened conversation, the focused row is selected. */
  get isReady() {
    if (!this.isBulk && !this.isOpen) this.list.pickFocused();
    return this.isBulk || this.isOpen;
  }

  open(name) {
    if (!this.isReady) return;
    const place = this.isBulk ? "#bulk" : ".ib-do";
    const menu = at(`${name}-menu`);
    menu.showPopover({ source: document.querySelector(`${place} [popovertarget="${name}-menu"]`) });
    // The event comes later than the next key may.
    this.opened(menu);
  }

  opened(menu) {
    if (menu.contains(document.activeElement)) return;
    // What is chosen for many starts empty: it is added to what each has.
    if (this.isBulk) for (const box of menu.querySelectorAll("[type=checkbox]")) box.checked = false;
    (menu.querySelector("[aria-current], [type=checkbox], [name=new]") ?? menu.querySelector("button:not([hidden])")).focus();
  }

  assignToMe() {
    if (this.isReady && this.isBulk) this.apply({ action: "assign", assignee: this.me });
    else if (this.isOpen) at("assign-menu").querySelector(`[value="${CSS.escape(this.me)}"]`)?.click();
  }

  close() {
    if (this.isReady && this.isBulk) this.apply({ action: "close" });
    else document.querySelector("#close-form [value=close]")?.click();
  }

  /** Reopens those of the conversations that are open now. */
  offerReopening(conversations) {
    const open = conversations.filter((id) => this.list.part.querySelector(`[data-id="${id}"]:not([data-closed])`));
    return open.length ? reopenButton(() => this.apply({ action: "reopen" }, open)) : null;
  }

  pressed(what) {
    if (what === "me") this.assignToMe();
    else if (what === "close") this.close();
    else if (what === "clear") this.list.clear();
  }

  submitted(event) {
    if (!this.isBulk) return;
    event.preventDefault();
    const menu = event.target;
    menu.hidePopover();
    this[menu.dataset.menu](new FormData(menu, event.submitter), menu);
  }

  assign(form) {
    return this.apply({ action: "assign", assignee: form.get("assignee") || null });
  }

  snooze(form) {
    return this.apply({ action: "snooze", until: form.get("until") ?? momentOf(form.get("at")) });
  }

  async tag(form, menu) {
    const add = [...menu.querySelectorAll("[name=tag]:checked")].map((box) => box.dataset.name);
    const name = form.get("new").trim();
    if (name && !add.includes(name)) {
      // A tag of this name may exist already.
      await this.api.post("/tags", { name, color: form.get("color") }).catch(() => null);
      add.push(name);
    }
    if (add.length) return this.apply({ action: "tag", add });
  }

  async apply(change, conversations = [...this.list.picked]) {
    const undo = change.action === "close" ? this.offerReopening(conversations) : null;
    try {
      const { changed, unchanged, refused } = await this.api.post("/conversations/bulk", { conversations, ...change });
      const left = refused.length && fill(gettext("Not changed: %(number)s. %(why)s"), { number: refused.length, why: refused[0].message });
      const same = unchanged && fill(gettext("Unchanged: %(number)s."), { number: unchanged });
      const show = refused.length ? this.toast.error : this.toast;
      show([numbered(DONE[change.action](changed), changed), same, left].filter(Boolean).join(" "), { undo });
      this.list.clear();
    } catch (error) {
      this.toast.error(error.message);
    }
    this.list.refresh();
  }
}

/** A button that removes the notice it stands in. */
const reopenButton = (onclick) =>
  h("button", { type: "button", onclick: ({ target }) => (target.parentElement.remove(), onclick()) }, gettext("Reopen"));

/** Arrow keys move through a menu. */
function moved(menu, event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!by) return;
  const items = [...menu.querySelectorAll("button:not([hidden]), [type=checkbox], input:not([type=hidden])")];
  const next = items[items.indexOf(document.activeElement) + by];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
