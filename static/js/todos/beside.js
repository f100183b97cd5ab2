// Todos of the conversation open in the playground.
import { h, refill, state } from "../dom.js";
import { fill, gettext } from "../i18n.js";
import { Live } from "./live.js";

const SHOWN = 3;
const STATES = {
  pending_review: ["warn", "hourglass", gettext("To review")],
  approved: ["act", "circle-check", gettext("Approved")],
  in_progress: ["act", "loader-2", gettext("In progress")],
  needs_attention: ["bad", "alert-circle", gettext("Needs attention")],
  failed: ["bad", "alert-triangle", gettext("Failed")],
  completed: ["ok", "circle-check", gettext("Completed")],
  rejected: ["mute", "circle-x", gettext("Rejected")],
  expired: ["mute", "clock-off", gettext("Expired")],
  cancelled: ["mute", "circle-minus", gettext("Canceled")],
};

export class Beside {
  /** `page` is the base URL of the todo pages; `show(id)` selects the conversation; `onNews()` is called after a change. */
  constructor(element, { api, page, onNews }) {
    Object.assign(this, { element, api, page, onNews, id: null, stamp: "" });
    new Live({
      address: () => this.id && `${page}/news?conversation=${this.id}`,
      stamp: () => this.stamp,
      refresh: (stamp) => this.refresh(stamp),
    });
  }

  show(id) {
    if (id === this.id) return;
    Object.assign(this, { id, stamp: "" });
    this.render([]);
  }

  async refresh(stamp) {
    const { id } = this;
    // A new conversation was started while the request was in flight.
    if (!id) return;
    const { results } = await this.api.get(`/todos?conversation=${id}`);
    if (id !== this.id) return;
    this.stamp = stamp;
    this.render(results);
    this.onNews();
  }

  render(todos) {
    this.element.hidden = !todos.length;
    refill(this.element, JSON.stringify(todos.map(({ id, status, title }) => [id, status, title])), () => [
      ...todos.slice(0, SHOWN).map((todo) => this.row(todo)),
      todos.length > SHOWN && h("a", { href: `${this.page}/${todos[SHOWN].id}` }, fill(gettext("and %(number)s more"), { number: todos.length - SHOWN })),
    ]);
  }

  row({ id, title, status }) {
    return h(
      "a",
      { href: `${this.page}/${id}`, class: "mg-flow" },
      state(...STATES[status]),
      h("span", { class: "ell", dir: "auto" }, title),
    );
  }
}
