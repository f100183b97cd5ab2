// “Marta is typing”: tells the other members that an answer is being written, and shows who else writes one.
import { fill, gettext } from "../i18n.js";
const TELL_MS = 3_000;
const LASTS_MS = 6_500;

export class Typing {
  /** `line` has a sentence for reading along and one for writing at the same time; `field` is the answer's, if there is one. */
  constructor({ api, conversation, me, line, field }) {
    Object.assign(this, { api, conversation, me, line, field });
    this.toldAt = -Infinity;
    field?.addEventListener("input", () => (this.tell(), this.show()));
  }

  tell() {
    if (!this.field.value.trim() || performance.now() - this.toldAt < TELL_MS) return;
    this.toldAt = performance.now();
    // A notice that is lost is followed by the next.
    this.api.post(`/conversations/${this.conversation}/typing`).catch(() => null);
  }

  heard({ conversation, email, name }) {
    if (conversation !== this.conversation || email === this.me) return;
    this.name = name;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.clear(), LASTS_MS);
    this.show();
  }

  /** A message arrived: whoever wrote it writes no more. */
  clear() {
    this.name = "";
    this.show();
  }

  show() {
    const { line, name } = this;
    const isBoth = Boolean(this.field?.value.trim());
    for (const part of line.children) part.hidden = part.hasAttribute("data-both") !== isBoth;
    const [reading, writing] = [gettext("%(name)s is typing…"), gettext("%(name)s is also writing a reply. Agree on who sends it.")];
    for (const part of line.children) part.textContent = fill(part.hasAttribute("data-both") ? writing : reading, { name: name ?? "" });
    line.hidden = !name;
  }
}
